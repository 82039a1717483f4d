"""Claude Code's reading tools in a side session that our own loop answers."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sidechat_mcp.clients.claude_code.bindings import BINDINGS, plain
from sidechat_mcp.core import schemas
from sidechat_mcp.core.events import Part, RequestHeader
from sidechat_mcp.providers.scripted import Line
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, shelved
from tests.tools.house import House, calling, housed, told

NAMES = ("Read", "Grep", "Glob", "LS")


@asynccontextmanager
async def adopted(
    home: Path, *lines: Line, client: str = "claude-code", tools: str | None = None
) -> AsyncGenerator[tuple[House, str]]:
    """A child of that client's conversation about `home/project`, and its id. `tools` is what
    the conversation's head is known to list."""
    told = replace(shelved(("What?", "This.")), client=client, cwd=str(home / "project"))
    if tools is not None:
        head = replace(told.drafts[0], body=RequestHeader(tools=Part(text=tools)))
        told = replace(told, drafts=[head, *told.drafts[1:]])
    shelf = Shelf({"r1": told}, name=client)
    async with housed(home, "", *lines, clients={client: shelf}) as house:
        report = await house.sidechat.fork(house.caller, parent=f"{client}:r1")
        yield house, report.session


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("one\ntwo\nx = f(a)\n")
    (folder / "src" / "deep" / "b.ts").write_text("two\n")
    (folder / "notes.md").write_text("two\n")
    (tmp_path / "outside.txt").write_text("two\n")
    return folder


@behaviour("tools:bound")
async def test_a_clients_reading_tools_look_into_the_sessions_folder(
    tmp_path: Path, project: Path
) -> None:
    found = "src/app.py:2: two"
    expected: list[tuple[str, Mapping[str, object], str]] = [
        ("Read", {"file_path": f"{project}/src/app.py", "offset": 2, "limit": 1}, "2\ttwo\n"),
        ("Read", {"file_path": "notes.md", "offset": 0}, "1\ttwo\n2\t"),
        ("Grep", {"pattern": "two", "path": str(project / "src"), "glob": "*.py"}, found),
        ("Grep", {"pattern": r"f\(a\)", "-n": True}, "src/app.py:3: x = f(a)"),
        ("Glob", {"pattern": "**/*.{py,ts}"}, "src/app.py\nsrc/deep/b.ts"),
        ("Glob", {"pattern": "*.ts", "path": f"{project}/src/deep"}, "src/deep/b.ts"),
        ("Glob", {"pattern": f"{project}/src/*.py"}, "src/app.py"),
        ("LS", {"path": f"{project}/src"}, "app.py\t17\ndeep/"),
    ]
    calls = calling(*((name, given) for name, given, _ in expected))
    async with adopted(tmp_path, calls, "Done.") as (house, child):
        results = told(await house.asked(child))
    for (error, words), (name, given, wanted) in zip(results, expected, strict=True):
        assert (error, words[: len(wanted)]) == (False, wanted), (name, given)


@behaviour("tools:bound")
async def test_no_bound_tool_leads_out_of_the_sessions_folder(
    tmp_path: Path, project: Path
) -> None:
    (project / "leak").symlink_to(tmp_path)
    outside = [str(tmp_path / "outside.txt"), "../outside.txt", "leak/outside.txt"]
    calls = calling(
        *(("Read", {"file_path": path}) for path in outside),
        *(("Grep", {"pattern": "two", "path": path}) for path in outside),
        ("Glob", {"pattern": f"{tmp_path}/*"}),
        ("LS", {"path": str(tmp_path)}),
    )
    async with adopted(tmp_path, calls, "Done.") as (house, child):
        assert [error for error, _ in told(await house.asked(child))] == [True] * 8


@behaviour("tools:unbound")
async def test_a_tool_that_is_not_bound_is_denied_with_a_result_that_says_so(
    tmp_path: Path, project: Path
) -> None:
    calls = calling("Bash", "mcp__x__look", "read_file", "READ", "Read ")
    async with adopted(tmp_path, calls, "Done.") as (house, child):
        results = told(await house.asked(child))
    for error, words in results:
        assert error
        assert words.endswith("Of claude-code's tools only these are here: Glob, Grep, LS, Read.")


@behaviour("tools:unbound")
async def test_names_are_bound_only_below_sessions_of_their_client(
    tmp_path: Path, project: Path
) -> None:
    calls = calling(*NAMES)
    async with adopted(tmp_path, calls, "Done.", client="shelf") as (house, child):
        assert all(
            words.endswith("Of shelf's tools none is here.")
            for _, words in told(await house.asked(child))
        )
    async with housed(tmp_path, "", calls, "Done.", calls, "Done.") as house:
        native = (await house.sidechat.native(house.caller, tools=True)).id
        mine = told(await house.asked(native))
        child = (await house.sidechat.fork(house.caller, parent=native)).session
        childs = told(await house.asked(child))
    assert mine == [(True, f"There is no tool '{name}' here.") for name in NAMES]
    assert all(error and "read-only" in words for error, words in childs)


@behaviour("tools:bound")
async def test_a_head_that_is_not_known_lists_what_is_bound_and_a_known_one_stays(
    tmp_path: Path, project: Path
) -> None:
    async with adopted(tmp_path, "Yes.") as (house, child):
        await house.asked(child)
        listed = house.speaker.seen[-1].header.tools.text
    assert listed == schemas.dump((one.name, one.description, one.schema) for one in BINDINGS)
    known = json.dumps([{"name": "Grep"}, {"name": "Bash"}])
    calls = calling(("Grep", {"pattern": "two"}), "Read", "Bash")
    async with adopted(tmp_path, calls, "Done.", tools=known) as (house, child):
        results = told(await house.asked(child))
        assert house.speaker.seen[-1].header.tools.text == known
    assert [error for error, _ in results] == [False, True, True]
    assert results[1][1] == "There is no tool 'Read' here."


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("Read", {}, "Give `file_path` as text."),
        ("Read", {"file_path": "notes.md", "offset": "two"}, "`from_line` is a whole number"),
        ("Grep", {"pattern": 7}, "Give `pattern` as text."),
        ("Grep", {"pattern": r"t\w+"}, "is a regular expression"),
        ("Grep", {"pattern": "two", "glob": 3}, "Give `glob` as text."),
        ("Glob", {}, "Give `pattern` as text."),
        ("LS", {"path": ["src"]}, "Give `path` as text."),
    ],
)
async def test_what_cannot_be_done_is_said(
    tmp_path: Path, project: Path, name: str, given: dict[str, object], words: str
) -> None:
    async with adopted(tmp_path, calling((name, given)), "Done.") as (house, child):
        ((error, told_of),) = told(await house.asked(child))
    assert error
    assert words in told_of


@behaviour("tools:plain-grep")
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("plain words", "plain words"),
        (r"obj\.method\(\)", "obj.method()"),
        (r"a\\b", r"a\b"),
        ("größe", "größe"),
        (r"C\+\+ \[x\]", "C++ [x]"),
    ],
)
def test_a_pattern_that_is_one_text_is_searched_as_it(pattern: str, text: str) -> None:
    assert plain(pattern) == text


@behaviour("tools:plain-grep")
@pytest.mark.parametrize(
    "pattern",
    ["a.b", "a|b", "^a", "a$", "a*", "[ab]", r"\d", r"\bword", "(a)", "a{2}", "a\\", "\n"],
)
def test_a_real_regular_expression_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="Grep finds"):
        plain(pattern)
