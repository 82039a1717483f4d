"""The workspace tools over a real folder."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from sidechat_mcp.core.content import plain
from sidechat_mcp.core.events import Header
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.ports.tool import Outcome
from sidechat_mcp.tools import workspace
from sidechat_mcp.tools.workspace import MOST_ENTRIES, WORKSPACE
from tests.behaviours import behaviour

TOOLS = {tool.name: tool for tool in WORKSPACE}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.txt").write_text("outside secret")
    inside = tmp_path / "project"
    (inside / "src").mkdir(parents=True)
    (inside / "src" / "app.py").write_text("import os\n\n\ndef main():\n    return 'Needle'\n")
    (inside / "notes.md").write_text("one\ntwo\nthree\n")
    (inside / "image.bin").write_bytes(b"\x89PNG\0\0\0")
    (inside / ".env").write_text("TOKEN=abc")
    (inside / "leak").symlink_to(outside)
    (inside / "leak.txt").symlink_to(outside / "private.txt")
    os.mkfifo(inside / "pipe")
    return inside


async def call(root: Path, name: str, **given: object) -> Outcome:
    session = Header(SessionId("s"), 0, "sidechat", "local", "quoting", cwd=str(root))
    return await TOOLS[name].run(json.dumps(given), session)


async def said(root: Path, name: str, **given: object) -> str:
    outcome = await call(root, name, **given)
    assert not outcome.is_error, plain(outcome.content)
    return plain(outcome.content)


async def test_a_file_is_read_with_its_line_numbers(root: Path) -> None:
    assert await said(root, "read_file", path="notes.md") == "1\tone\n2\ttwo\n3\tthree\n4\t"
    assert (await said(root, "read_file", path="notes.md", from_line=2, lines=1)).startswith(
        "2\ttwo"
    )


async def test_folders_are_listed_and_files_found_and_searched(root: Path) -> None:
    assert await said(root, "list_folder", path="src") == "app.py\t44"
    assert await said(root, "find_files", pattern="*.py") == "src/app.py"
    assert await said(root, "find_files", pattern="**/*.md") == "notes.md"
    found = "src/app.py:5: return 'Needle'"
    assert await said(root, "search_text", text="needle", path="src") == found
    assert await said(root, "search_text", text="needle", path="src/app.py") == found


@behaviour("tools:confined")
@pytest.mark.parametrize(
    "path",
    [
        "../outside/private.txt",
        "src/../../outside/private.txt",
        "/etc/passwd",
        "leak/private.txt",
        "leak.txt",
        "./leak/../leak.txt",
        "src/\0app.py",
        "//etc/passwd",
        "pipe",
        ".",
    ],
)
async def test_no_path_leads_outside(root: Path, path: str) -> None:
    outcome = await call(root, "read_file", path=path)
    assert outcome.is_error
    assert "outside secret" not in plain(outcome.content)


@behaviour("tools:confined")
async def test_walks_do_not_follow_links(root: Path) -> None:
    assert await said(root, "search_text", text="outside secret", pattern="[!.]*") == (
        "'outside secret' was not found."
    )
    assert "private" not in await said(root, "find_files", pattern="*")


@behaviour("tools:confined")
async def test_a_folder_swapped_for_a_link_while_reading_leads_nowhere(root: Path) -> None:
    swapped, stop = root / "swapped", threading.Event()
    outside = root.parent / "outside"

    def swap() -> None:
        while not stop.is_set():
            swapped.mkdir()
            swapped.rmdir()
            swapped.symlink_to(outside)
            swapped.unlink()

    racing = threading.Thread(target=swap)
    racing.start()
    try:
        for _ in range(300):
            outcome = await call(root, "read_file", path="swapped/private.txt")
            assert "outside secret" not in plain(outcome.content)
    finally:
        stop.set()
        racing.join()


@behaviour("tools:secrets")
async def test_credentials_and_binary_files_are_refused_with_the_reason(root: Path) -> None:
    secret = await call(root, "read_file", path=".env")
    assert (secret.is_error, plain(secret.content)) == (
        True,
        ".env usually holds credentials; it is not read.",
    )
    assert "TOKEN" not in await said(root, "search_text", text="token")
    binary = await call(root, "read_file", path="image.bin")
    assert "binary file" in plain(binary.content)


@behaviour("tools:confined")
@pytest.mark.parametrize("path", ["../outside", "/etc", "leak", "leak.txt", "pipe", "gone", "a\0b"])
@pytest.mark.parametrize("name", ["list_folder", "search_text", "find_files"])
async def test_no_walk_begins_outside_at_a_link_or_nowhere(
    root: Path, name: str, path: str
) -> None:
    outcome = await call(root, name, path=path, pattern="*", text="outside secret")
    assert outcome.is_error
    assert "outside secret" not in plain(outcome.content)


async def test_names_that_are_no_text_are_spelled_out_and_asked_for_as_an_error(root: Path) -> None:
    half = await call(root, "read_file", path="\ud800.txt")
    assert (half.is_error, plain(half.content)) == (True, "A path has no half characters.")
    try:
        (root / "src" / os.fsdecode(b"caf\xe9.txt")).write_text("found it")
    except OSError:
        return  # This file system has text for names only.
    assert "caf\\udce9.txt" in await said(root, "list_folder", path="src")
    assert "caf\\udce9.txt:1: found it" in await said(root, "search_text", text="found it")


async def test_files_are_found_below_a_folder_as_from_there(root: Path) -> None:
    assert await said(root, "find_files", path="src", pattern="./*.py") == "src/app.py"
    assert await said(root, "find_files", pattern=f"{root}/src/*") == "src/app.py"
    assert (await call(root, "find_files", pattern=f"{root.parent}/*")).is_error
    assert (await call(root, "find_files", path="notes.md", pattern="*")).is_error


@behaviour("tools:bounded")
async def test_a_search_that_did_not_see_everything_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out = "\n[files left out as too long or usually holding credentials: 1]"
    assert await said(root, "search_text", text="gone") == f"'gone' was not found.{left_out}"
    monkeypatch.setattr(workspace, "MOST_WALKED", 2)
    for name, given in (("search_text", {"text": "gone"}), ("find_files", {"pattern": "gone"})):
        assert (await said(root, name, **given)).endswith(
            "[not everything was looked at: name a folder or a narrower pattern]"
        )


@behaviour("tools:bounded")
async def test_long_answers_are_cut_and_say_so(root: Path) -> None:
    for n in range(MOST_ENTRIES + 5):
        (root / "src" / f"{n:04}.txt").touch()
    assert (await said(root, "list_folder", path="src")).endswith(
        f"[cut after {MOST_ENTRIES} of {MOST_ENTRIES + 6}]"
    )
    (root / "long.txt").write_text("x" * 400_000)
    assert (await said(root, "read_file", path="long.txt")).endswith(
        "[cut here; the file has 400000 bytes]"
    )


@behaviour("tools:read-only")
async def test_whatever_is_called_the_folder_stays_as_it_is(root: Path) -> None:
    def state() -> list[tuple[str, int, int]]:
        found = sorted(root.rglob("*"))
        return [(str(p), p.lstat().st_mtime_ns, p.lstat().st_size) for p in found]

    before = state()
    for name in TOOLS:
        for given in ({}, {"path": "src/app.py"}, {"pattern": "*"}, {"text": "x"}, {"path": 3}):
            await call(root, name, **given)
    assert state() == before


@pytest.mark.parametrize("given", ["", "[]", "{", '"x"', "[" * 100_000])
async def test_arguments_that_are_no_object_are_an_error_outcome(root: Path, given: str) -> None:
    session = Header(SessionId("s"), 0, "sidechat", "local", "quoting", cwd=str(root))
    outcome = await TOOLS["read_file"].run(given, session)
    assert outcome.is_error
