"""A line of records → closed turns."""

from __future__ import annotations

import json

import pytest

from sidechat_mcp.core.content import Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.core.events import (
    AssistantMessage,
    RequestHeader,
    ToolResult,
    TurnEnd,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.handback import Handback, wrap
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour
from tests.clients.houses import talk
from tests.clients.scribe import Scribe, think
from tests.clients.telling import counts, fixture, of, reasons, short


@behaviour("clients:only-closed-turns", "clients:shown-context")
def test_a_talk_comes_out_as_its_closed_turns_and_a_count_of_the_rest() -> None:
    found = fixture("talk")
    assert short(found)[:20] == [
        "request/header",
        "(turn 1",
        "user: The timetable API of ferryline",
        "context: environment",
        "context: model",
        "context: instructions",
        "answer: I will look for the limiter an +Grep +Read",
        "usage",
        "result",
        "result",
        "answer: The limiter allows 120 request",
        "usage",
        "completed)",
        "(turn 2",
        "user: How should we count instead?",
        "context: hook_additional_context",
        "answer: Count per device: every displa",
        "usage",
        "completed)",
        "(turn 3",
    ]
    assert reasons(found) == ["completed"] * 6
    assert counts(found) == (1, 4, 1, 0)
    assert (found.ref, found.cwd, found.version) == (
        "0b9f6d1e-5a3c-4c55-9e53-2a7d1f0c9b21",
        "/home/ana/work/ferryline",
        "2.1.332",
    )
    check_turns([draft.body for draft in found.drafts])


@behaviour("clients:large-files")
def test_blocks_are_kept_as_what_they_are() -> None:
    bodies = [draft.body for draft in fixture("talk").drafts]
    image = next(
        block
        for one in bodies
        if isinstance(one, UserMessage)
        for block in one.content
        if isinstance(block, Media)
    )
    assert (image.kind, image.media_type, image.size, image.data) == (
        "image",
        "image/png",
        70,
        None,
    )
    assert len(image.digest) == 64
    thought = next(
        block
        for one in bodies
        if isinstance(one, AssistantMessage)
        for block in one.content
        if isinstance(block, Thinking)
    )
    assert thought.wire == "anthropic"
    assert json.loads(thought.verbatim or "") == think(thought.text)
    call = next(
        block
        for one in bodies
        if isinstance(one, AssistantMessage)
        for block in one.content
        if isinstance(block, ToolUse)
    )
    assert call.input == '{"pattern":"429|rate_limit","path":"src"}'
    failed = next(one for one in bodies if isinstance(one, ToolResult) and one.is_error)
    assert failed.content == (Text("41 passed, 1 failed: test_burst"),)


def test_a_block_of_an_unknown_kind_is_carried_as_it_is() -> None:
    scribe = Scribe()
    scribe.prompt([{"type": "hologram", "frames": [1, 2]}, {"type": "text", "text": "See?"}])
    scribe.says("I see.")
    message = next(one.body for one in of(scribe).drafts if isinstance(one.body, UserMessage))
    assert message.content == (
        Verbatim("anthropic", '{"type":"hologram","frames":[1,2]}'),
        Text("See?"),
    )


@behaviour("clients:compaction")
def test_context_begins_anew_at_a_compaction() -> None:
    found = fixture("compacted")
    start = short(found).index("(injection")
    assert reasons(found)[:4] == ["completed"] * 4
    assert short(found)[start:] == [
        "(injection",
        "compacted 4",
        "answer: Every display now waits a fixe",
        "injection)",
        "(turn 5",
        "context: caveat",
        "context: command",
        "context: command output",
        "context: environment",
        "user: Write the changelog entry.",
        "answer:  +Write",
        "usage",
        "result",
        "answer: The changelog has one line abo",
        "usage",
        "completed)",
    ]
    check_turns([draft.body for draft in found.drafts])


@behaviour("clients:compaction")
def test_a_compaction_in_mid_turn_stays_in_that_turn() -> None:
    scribe = talk("s", "/w", "one")
    scribe.prompt("A long task.")
    (call,) = scribe.calls(("Bash", {"command": "make"}))
    scribe.result(call, "made")
    logical, scribe.tip = scribe.tip, None
    scribe.chain("system", subtype="compact_boundary", logicalParentUuid=logical)
    scribe.user("Summary of it all.", isCompactSummary=True)
    scribe.shows("environment", "# Environment")
    scribe.says("The long task is done.")
    scribe.over()
    assert short(of(scribe))[6:] == [
        "(turn 2",
        "user: A long task.",
        "answer:  +Bash",
        "usage",
        "result",
        "compacted 1",
        "context: environment",
        "answer: The long task is done.",
        "usage",
        "completed)",
    ]


@behaviour("clients:repaired-calls")
def test_a_turn_that_was_left_is_closed_with_results_that_say_so() -> None:
    found = fixture("interrupted")
    assert reasons(found) == ["completed"] * 4 + ["aborted", "interrupted", "completed", "aborted"]
    start = short(found).index("(turn 5")
    assert short(found)[start:] == [
        "(turn 5",
        "user: Explain the limiter in detail.",
        "answer: The limiter keeps a bucket",
        "usage",
        "context: interrupt",
        "aborted)",
        "(turn 6",
        "user: Shorter, please, and run the t",
        "answer:  +Bash +Bash",
        "usage",
        "result",
        "result! OUTCOME_UNKNOWN",
        "interrupted)",
        "(turn 7",
        "user: Never mind the linter, what di",
        "answer: All 42 tests pass.",
        "usage",
        "completed)",
        "(turn 8",
        "user: Then stop here.",
        "answer: Stopping now",
        "usage",
        "context: interrupt",
        "aborted)",
    ]
    assert counts(found) == (0, 0, 0, 1)
    check_turns([draft.body for draft in found.drafts])


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "completed"),
        ("stop_sequence", "completed"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "blocked"),
    ],
)
def test_how_an_answer_stopped_is_how_its_turn_ended(stop: str, reason: str) -> None:
    scribe = Scribe()
    scribe.prompt("Say something.")
    scribe.says("Something.", stop=stop)
    assert reasons(of(scribe)) == [reason]


@pytest.mark.parametrize(
    ("version", "closed"),
    [("1.0.98", 1), ("2.0.69", 1), ("2.1.80", 1), ("2.1.81", 0), ("2.1.332", 0), ("3", 0), ("", 0)],
)
def test_no_stop_reason_is_an_end_only_in_versions_that_wrote_none(
    version: str, closed: int
) -> None:
    scribe = Scribe(version=version)
    scribe.prompt("Say something.")
    scribe.says("Something.", stop=None)
    assert len(reasons(of(scribe))) == closed
    scribe.over()
    assert reasons(of(scribe)) == ["completed"], "the client says itself that it is over"


def test_an_answer_whose_blocks_are_not_all_there_is_not_over() -> None:
    scribe = Scribe()
    scribe.prompt("Think.")
    scribe.answers(think("Hm."), {"type": "text", "text": "Thought."})
    whole = scribe.records
    scribe.records = whole[:-1]
    assert short(of(scribe)) == []
    scribe.records = whole
    assert reasons(of(scribe)) == ["completed"]


def test_an_error_report_of_the_client_ends_the_turn_and_is_no_answer() -> None:
    scribe = talk("s", "/w", "one")
    scribe.prompt("two")
    scribe.says("API Error: 529 overloaded", isApiErrorMessage=True)
    scribe.records[-1]["message"]["model"] = "<synthetic>"
    scribe.prompt("three")
    scribe.says("An answer to: three")
    found = of(scribe)
    assert reasons(found) == ["completed", "error", "completed"]
    ends = [one.body.detail for one in found.drafts if isinstance(one.body, TurnEnd)]
    assert ends == [None, "API Error: 529 overloaded", None]
    assert not any("529" in one for one in short(found))


@behaviour("clients:shown-context")
def test_a_command_opens_a_turn_only_if_the_model_answers_it() -> None:
    found = fixture("rewound")
    start = short(found).index("(turn 4")
    assert short(found)[start:] == [
        "(turn 4",
        "user: <command-message>mcp__probe__n",
        "context: meta",
        "answer: Noted: the displays are replac",
        "usage",
        "completed)",
    ]
    assert counts(found) == (0, 3, 0, 0), "a command of the client's own waits for the next turn"


def test_a_change_of_the_model_is_a_new_header() -> None:
    scribe = talk("s", "/w", "one", "two", "three")
    for record in scribe.records[4:]:
        if record["type"] == "assistant":
            record["message"]["model"] = "claude-haiku-5"
    bodies = [draft.body for draft in of(scribe).drafts]
    headers = [(n, one.model) for n, one in enumerate(bodies) if isinstance(one, RequestHeader)]
    assert headers == [(0, "claude-opus-5-5"), (6, "claude-haiku-5")]


def test_usage_counts_the_whole_prompt_and_never_invents_a_zero() -> None:
    scribe = talk("s", "/w", "one", "two")
    scribe.records[5]["message"]["usage"] = {"output_tokens": 3, "input_tokens": -1}
    usage = [one.body for one in of(scribe).drafts if isinstance(one.body, Usage)]
    known = [(one.input, one.output, one.cache_read, one.cache_write) for one in usage]
    assert known == [(15_622, 120, 15_200, 410), (None, 3, None, None)]


NOTE = Handback(
    note="n0te",
    child=SessionId("ch1ld"),
    parent=SessionId("par3nt"),
    text="Ten a minute are enough.",
    fork_seq=9,
    covers=(10, 20),
    turns=1,
    model=None,
    cap=2000,
    revision=1,
    carrier="client",
)


@behaviour("clients:delivered")
def test_a_note_of_ours_is_reported_with_the_record_that_shows_it() -> None:
    scribe = talk("s", "/w", "one")
    scribe.prompt("two")
    where = scribe.shows("hook_additional_context", wrap(NOTE))
    scribe.says("I take note.")
    assert of(scribe).delivered == {"n0te": where}


@behaviour("clients:delivered")
def test_a_note_on_a_branch_that_was_left_is_not_before_the_model() -> None:
    scribe = talk("s", "/w", wrap(NOTE))
    assert list(of(scribe).delivered) == ["n0te"]
    scribe.tip = None
    scribe.prompt("Another beginning.")
    assert of(scribe).delivered == {}


def test_events_keep_the_times_of_their_records() -> None:
    assert [one.at for one in of(talk("s", "/w", "one")).drafts][:3] == [1793697124731] * 3
