"""Where conversations are found."""

from __future__ import annotations

import os
import shutil
import unicodedata
from pathlib import Path

import pytest

from sidechat_mcp.clients.claude_code import places
from sidechat_mcp.clients.claude_code.places import key
from sidechat_mcp.errors import ParentNotFound
from tests.behaviours import behaviour
from tests.clients.houses import Home, talk
from tests.clients.scribe import Scribe


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


async def refs(home: Home, cwd: str | None, limit: int = 9) -> list[str]:
    return [one.ref for one in await home.client().newest(cwd, limit)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/ana/work/ferry.line_2", "-home-ana-work-ferry-line-2"),
        ("/home/ada/proj/claude", "-home-ada-proj-claude"),
        ("C:\\Users\\ana", "C--Users-ana"),
        ("/a/😀é", "-a----"),
    ],
)
def test_a_project_is_named_by_its_path(path: str, expected: str) -> None:
    assert key(path) == expected


@behaviour("clients:any-spelling-of-the-folder")
async def test_any_spelling_of_a_folder_lists_the_same(home: Home, tmp_path: Path) -> None:
    name = unicodedata.normalize("NFC", "dépôt. _x")
    cwd = home.folder(f"real/{name}")
    home.put(cwd, "one", talk("one", cwd).text())
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    for spelled in (cwd, f"{cwd}/", f"{cwd}/../{name}", f"{link}/{name}", f"{link}/{name}/"):
        assert await refs(home, spelled) == ["one"], spelled
    decomposed = unicodedata.normalize("NFD", cwd)
    assert await refs(home, decomposed) == ["one"]


@behaviour("clients:any-spelling-of-the-folder")
async def test_a_key_of_another_rule_is_found_by_the_folder_recorded_inside(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    file = home.put(cwd, "one", talk("one", cwd).text())
    file.parent.rename(file.parent.parent / "named-by-a-newer-version")
    assert await refs(home, cwd) == ["one"]
    assert await refs(home, home.folder("work/other")) == []


@behaviour("clients:any-spelling-of-the-folder")
async def test_two_folders_that_share_a_key_do_not_share_conversations(home: Home) -> None:
    dotted, dashed = home.folder("a.b"), home.folder("a-b")
    home.put(dotted, "dotted", talk("dotted", dotted).text())
    home.put(dashed, "dashed", talk("dashed", dashed).text())
    assert await refs(home, dotted) == ["dotted"]
    assert await refs(home, dashed) == ["dashed"]
    shutil.rmtree(dotted)
    assert await refs(home, dashed) == ["dashed", "dotted"], "a folder that was moved keeps its own"


async def test_a_long_path_is_found_by_the_part_before_the_hash(home: Home) -> None:
    cwd = home.folder("/".join(["long" * 10] * 6))
    home.put(cwd, "one", talk("one", "/gone/elsewhere").text())
    assert await refs(home, cwd) == ["one"]


async def test_a_named_project_folder_is_looked_into(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    file = home.put(cwd, "one", talk("one", "/gone/elsewhere").text())
    file.parent.rename(file.parent.with_name("chosen"))
    assert await refs(home, cwd) == []
    client = home.client(CLAUDE_CODE_PROJECT_DIR_NAME="chosen")
    assert [one.ref for one in await client.newest(cwd, 9)] == ["one"]


async def test_the_title_is_what_the_person_said_first(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    scribe = Scribe("typed", cwd)
    scribe.note("summary", summary="Not this")
    scribe.local("model", "Set model")
    scribe.prompt(
        [
            {"type": "text", "text": "<system-reminder>\nNor this\n</system-reminder>"},
            {"type": "text", "text": "  Why is\n the limiter  " + "so " * 100},
        ]
    )
    home.put(cwd, "typed", scribe.text())
    scribe = Scribe("command", cwd)
    scribe.user("<command-message>init</command-message>\n<command-name>/init</command-name>")
    scribe.says("I look at the code.")
    scribe.prompt("Later words.")
    home.put(cwd, "command", scribe.text())
    titles = {one.ref: one.title for one in await home.client().newest(cwd, 9)}
    assert titles == {
        "typed": ("Why is the limiter " + "so " * 100)[: places.TITLE].rstrip(),
        "command": "/init",
    }


async def test_what_holds_no_conversation_of_a_person_is_not_listed(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    agent = Scribe("s", cwd)
    agent.user("Do it.", isSidechain=True)
    only = Scribe("only", cwd)
    only.note("summary", summary="A title and nothing else")
    home.put(cwd, "agent-a1b2", talk("s", cwd).text())
    home.put(cwd, "helper", agent.text())
    home.put(cwd, "only", only.text())
    home.put(cwd, "empty", b"")
    home.put(cwd, "kept", talk("kept", cwd).text())
    (home.config / "projects" / key(cwd) / "notes.txt").write_text("no conversation")
    assert await refs(home, cwd) == ["kept"]


async def test_without_a_folder_all_folders_count(home: Home) -> None:
    for name in ("one", "two", "three"):
        cwd = home.folder(name)
        home.put(cwd, name, talk(name, cwd).text())
    assert await refs(home, None, 2) == ["three", "two"]
    assert await refs(Home(home.root / "nobody"), None) == []


async def test_only_the_heads_of_the_newest_are_read(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd = home.folder("work/ferryline")
    text = talk("s", cwd).text()
    for n in range(300):
        home.put(cwd, f"s{n}", text)
    looked: list[Path] = []
    look = places.look

    def counted(path: Path, active: int) -> object:
        looked.append(path)
        return look(path, active)

    monkeypatch.setattr(places, "look", counted)
    assert await refs(home, cwd, 5) == ["s299", "s298", "s297", "s296", "s295"]
    assert len(looked) == 5


async def test_the_folder_one_stands_in_wins_over_a_newer_copy(home: Home) -> None:
    here, there = home.folder("here"), home.folder("there")
    home.put(here, "twice", talk("twice", here).text())
    home.put(there, "twice", talk("twice", there).text())
    client = home.client()
    for cwd in (here, there):
        found = await client.find("twice", cwd)
        assert found is not None
        assert found.cwd == cwd
    newest = await client.find("twice", None)
    assert newest is not None
    assert newest.cwd == there


@behaviour("clients:never-written")
async def test_a_folder_that_may_not_be_written_is_read(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    file = home.put(cwd, "one", talk("one", cwd).text())
    before = (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_size)
    file.chmod(0o400)
    file.parent.chmod(0o500)
    client = home.client()
    try:
        found = await client.find("one", cwd)
        assert found is not None
        assert (await client.read(found)).drafts
        assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_size) == before
        assert os.listdir(file.parent) == ["one.jsonl"]
    finally:
        file.parent.chmod(0o700)


async def test_a_file_named_by_the_person_may_be_missing_or_a_folder(home: Home) -> None:
    for path in (home.root / "nowhere.jsonl", home.root):
        with pytest.raises(ParentNotFound, match="cannot be read"):
            await home.client().read_file(path)
