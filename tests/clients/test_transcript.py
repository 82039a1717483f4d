"""Whole files: recognised, refused, shipped."""

from __future__ import annotations

import io
import json
from importlib.resources import files
from typing import Any

import pytest

from sidechat_mcp.clients.claude_code.transcript import read
from sidechat_mcp.core.content import ToolUse, plain
from sidechat_mcp.core.events import AssistantMessage, TurnEnd
from sidechat_mcp.errors import UnknownFormat
from sidechat_mcp.ports.client import Skipped
from tests.behaviours import behaviour
from tests.clients.houses import FIXTURES, talk
from tests.clients.scribe import line


def renamed(text: bytes, types: dict[str, str]) -> bytes:
    records: list[dict[str, Any]] = [json.loads(one) for one in text.splitlines()]
    for record in records:
        record["type"] = types.get(record["type"], record["type"])
    return b"".join(line(record) for record in records)


NEW = {"user": "person", "assistant": "model", "system": "host", "attachment": "context"}


@behaviour("clients:format-drift")
def test_a_file_whose_kinds_were_all_renamed_is_refused_by_name() -> None:
    text = talk("s", "/w", "one", "two", "three").text()
    with pytest.raises(UnknownFormat) as refused:
        read(io.BytesIO(renamed(text, NEW)), "file")
    assert str(refused.value) == (
        "This file is no Claude Code transcript that this version can read: of 12 lines 0 were"
        " understood, unknown records 'host', 'person', 'model', written by Claude Code 2.1.332."
        " Upgrade sidechat-mcp, or name another conversation."
    )


@behaviour("clients:format-drift")
def test_a_few_known_records_among_many_unknown_ones_are_no_conversation() -> None:
    text = talk("s", "/w", "one").text()
    for known, refused in ((9, True), (10, False)):
        alien = b"".join(line({"type": "alien"}) for _ in range(100 - known))
        sound = b"".join((text + text + text).splitlines(keepends=True)[:known])
        if refused:
            with pytest.raises(UnknownFormat, match="of 100 lines 9 were"):
                read(io.BytesIO(alien + sound), "file")
        else:
            assert read(io.BytesIO(alien + sound), "file").drafts


@behaviour("clients:format-drift", "clients:skipped-is-shown")
def test_a_new_kind_of_record_among_known_ones_is_counted() -> None:
    text = line({"type": "hologram", "sessionId": "s"}) + talk("s", "/w", "one").text()
    assert read(io.BytesIO(text), "file").skipped == Skipped(
        ignored={"unknown record 'hologram'": 1}
    )


@pytest.mark.parametrize("text", [b"", b"\n\n", b'{"type":"us'])
def test_a_file_that_has_only_just_begun_is_an_empty_conversation(text: bytes) -> None:
    found = read(io.BytesIO(text), "its-name")
    assert (found.ref, list(found.drafts), found.open_turns) == ("its-name", [], 0)


def test_a_file_of_another_program_is_refused() -> None:
    with pytest.raises(UnknownFormat):
        read(io.BytesIO(b"Dear diary,\ntoday I forked nothing.\n"), "diary")


@pytest.mark.parametrize("name", ["talk", "compacted", "interrupted", "rewound", "old"])
def test_the_fixtures_are_read_without_a_finding(name: str) -> None:
    found = read((FIXTURES / f"{name}.jsonl").open("rb"), name)
    assert found.skipped.unreadable == {}
    assert "on another branch" not in found.skipped.ignored or name == "rewound"


def test_the_shipped_talk_ends_in_an_open_turn_that_calls_fork() -> None:
    text = files("sidechat_mcp.surfaces.cli").joinpath("demo.jsonl").read_bytes()
    found = read(io.BytesIO(text), "demo")
    bodies = [draft.body for draft in found.drafts]
    assert [one.reason for one in bodies if isinstance(one, TurnEnd)] == ["completed"] * 9
    assert (found.open_turns, found.open_calls, found.repaired) == (1, 1, 0)
    assert found.skipped.unreadable == {}
    answers = [one for one in bodies if isinstance(one, AssistantMessage)]
    assert sum(isinstance(block, ToolUse) for one in answers for block in one.content) == 2
    assert any("Hamming distance" in plain(one.content) for one in answers)
    last = json.loads(text.splitlines()[-1])
    assert last["message"]["content"][0]["name"] == "mcp__sidechat__fork"
