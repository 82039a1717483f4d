"""Rollouts of the versions that marked no turns, and of the first ones, which had no envelopes."""

from __future__ import annotations

import io
from typing import Any

import pytest

from sidechat_mcp.clients.codex.transcript import read
from sidechat_mcp.core.content import Text
from sidechat_mcp.core.events import ContextCompacted, ToolResult, UserMessage
from sidechat_mcp.errors import UnknownFormat
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour
from tests.clients.rollouts import Rollout, line
from tests.clients.telling import counts, reasons, short
from tests.clients.test_codex_turns import nowhere, of


def old() -> Rollout:
    rollout = Rollout("old", ordinal=None)
    rollout.opens(cli_version="0.53.0")
    rollout.shown("<environment_context>here</environment_context>", "user")
    return rollout


def bare(*records: dict[str, Any]) -> Transcript:
    first = {"id": "first", "timestamp": "2025-06-01T10:00:00.000Z", "instructions": None}
    text = b"".join(line(one) for one in (first, {"record_type": "state"}, *records))
    found = read(io.BytesIO(text), "file", nowhere)
    check_turns([draft.body for draft in found.drafts])
    return found


def message(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}


@behaviour("codex:old-formats")
def test_turns_that_nothing_marks_are_told_by_a_persons_words() -> None:
    rollout = old()
    rollout.asked("one")
    (call,) = rollout.calls(("shell", {"command": ["ls"]}))
    rollout.result(call, '{"output":"a","metadata":{"exit_code":0}}')
    rollout.says("first")
    rollout.asked("two")
    rollout.calls(("shell", {"command": ["rm"]}))
    rollout.event("turn_aborted", reason="interrupted")
    rollout.asked("three")
    rollout.says("third")
    found = of(rollout)
    assert short(found) == [
        "(turn 1",
        "context: user",
        "user: one",
        "answer:  +shell",
        "usage",
        "result",
        "answer: first",
        "usage",
        "completed)",
        "(turn 2",
        "user: two",
        "answer:  +shell",
        "usage",
        "result! OUTCOME_UNKNOWN",
        "aborted)",
        "(turn 3",
        "user: three",
        "answer: third",
        "usage",
        "completed)",
    ]
    assert found.drafts[0].id.startswith("l3:"), "a record without an id is named by its line"


@behaviour("codex:old-formats")
def test_an_answer_that_was_not_counted_yet_may_still_grow() -> None:
    rollout = old()
    rollout.asked("one")
    rollout.says("I look.", counted=False)
    assert counts(of(rollout)) == (1, 4, 0, 0)
    (call,) = rollout.calls(("shell", {}))
    assert counts(of(rollout)) == (1, 5, 1, 0)
    rollout.result(call, "a")
    rollout.says("There.")
    assert reasons(of(rollout)) == ["completed"]


def test_an_old_file_that_grows_only_adds_drafts() -> None:
    rollout = old()
    for n in range(3):
        rollout.asked(f"question {n}")
        rollout.says("I look.", counted=False)
        (call,) = rollout.calls(("shell", {}))
        rollout.result(call, "a")
        rollout.says(f"answer {n}")
    records, whole = rollout.records, of(rollout).drafts
    assert reasons(of(rollout)) == ["completed"] * 3
    for stop in range(1, len(records)):
        rollout.records = records[:stop]
        drafts = of(rollout).drafts
        assert list(whole[: len(drafts)]) == list(drafts), stop


@behaviour("codex:old-formats", "codex:compaction")
def test_an_old_compaction_carries_over_what_a_person_typed() -> None:
    rollout = old()
    for said in ("x" * 100_000, "one", "two"):
        rollout.asked(said)
        rollout.says(f"an answer to {said[:3]}")
    rollout.put("compacted", {"message": "In short: two things."})
    rollout.asked("three")
    rollout.says("third")
    found = of(rollout)
    place = next(n for n, one in enumerate(found.drafts) if isinstance(one.body, ContextCompacted))
    begun = found.drafts[place].body
    assert begun == ContextCompacted((Text("In short: two things."),), 3)
    after = [d.body for d in found.drafts[place:] if isinstance(d.body, UserMessage)]
    assert [one.content for one in after] == [(Text("one"),), (Text("two"),), (Text("three"),)]


@behaviour("codex:old-formats")
def test_a_file_of_the_first_versions_is_read() -> None:
    found = bare(
        message("user", "<environment_context>here</environment_context>"),
        message("user", "List them."),
        {"type": "local_shell_call", "call_id": "c1", "action": {"command": ["ls"]}},
        {"type": "function_call_output", "call_id": "c1", "output": {"content": "a", "success": 1}},
        {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
        message("assistant", "There is one."),
    )
    assert (found.ref, found.version) == ("first", None)
    assert short(found) == [
        "(turn 1",
        "context: user",
        "user: List them.",
        "answer:  +local_shell",
        "result",
        "answer:  +apply_patch",
        "result",
        "answer: There is one.",
        "completed)",
    ]
    results = [d.body.content for d in found.drafts if isinstance(d.body, ToolResult)]
    assert results == [(Text("a"),), (Text("done"),)]


@behaviour("codex:several-metas")
def test_only_the_first_record_of_itself_says_which_thread_it_is() -> None:
    rollout = Rollout("fork-of-old", "/mine", ordinal=None)
    rollout.opens(cli_version="0.60.0")
    rollout.put("session_meta", {"id": "old", "cwd": "/theirs", "cli_version": "0.53.0"})
    rollout.asked("one")
    rollout.says("first")
    found = of(rollout)
    assert (found.ref, found.cwd, found.version) == ("fork-of-old", "/mine", "0.60.0")


@behaviour("codex:unknown-format")
def test_records_of_other_kinds_are_counted_by_their_names() -> None:
    rollout = old()
    rollout.asked("one")
    rollout.put("telemetry", {"a": 1})
    rollout.put("response_item", {"type": "hologram", "id": "h"})
    rollout.says("first")
    text = rollout.text() + b"[1]\n\xff\xfe\n" + b'{"timestamp":"2026'
    found = read(io.BytesIO(text), "file", nowhere)
    assert reasons(found) == ["completed"]
    assert found.skipped.ignored == {
        "unknown record 'telemetry'": 1,
        "item 'hologram'": 1,
        "unfinished last line": 1,
    }
    assert found.skipped.unreadable == {"not an object": 1, "not JSON": 1}


@behaviour("codex:unknown-format")
def test_a_torn_record_and_the_one_glued_to_it() -> None:
    rollout = old()
    rollout.asked("one")
    rollout.says("first")
    rollout.asked("two")
    rollout.says("second")
    lines = rollout.text().splitlines(keepends=True)
    lines[5] = lines[5][:30]  # A count of tokens, torn; the next record follows on its line.
    found = read(io.BytesIO(b"".join(lines)), "file", nowhere)
    assert [n for n in short(found) if n.startswith("user")] == ["user: one", "user: two"]
    assert found.skipped.unreadable == {"torn record": 1}


@behaviour("codex:unknown-format")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"type":"k1"}\n{"type":"k2"}\n{"a":1}', "of 3 lines 0 were understood, unknown"),
        (b'{"type":"world_state","payload":{}}', "of 1 lines 1 were understood."),
    ],
)
def test_a_file_of_another_kind_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(UnknownFormat, match=said):
        read(io.BytesIO(text), "file", nowhere)
