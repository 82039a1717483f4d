"""What becomes a turn of a rollout, and what a turn holds."""

from __future__ import annotations

import io
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO

from sidechat_mcp.clients.codex.transcript import read
from sidechat_mcp.core.content import Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.core.events import (
    AssistantMessage,
    ContextCompacted,
    ContextMessage,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour
from tests.clients.rollouts import Rollout, long_talk, talk, turn
from tests.clients.telling import counts, reasons, short

PNG = "iVBORw0KGgpub3QgYSBwaWN0dXJl"


@contextmanager
def nowhere(thread: str) -> Generator[IO[bytes] | None]:
    yield None


def of(rollout: Rollout) -> Transcript:
    found = read(io.BytesIO(rollout.text()), "file", nowhere)
    check_turns([draft.body for draft in found.drafts])
    return found


@behaviour("codex:turns", "codex:between-turns", "codex:compaction")
def test_a_whole_life_in_turns() -> None:
    found = of(long_talk())
    assert short(found) == [
        "(turn 1",
        "request/header",
        "context: harness.note",
        "context: env.context",
        "user: Which harbours do we serve?",
        "answer: I look it up. +exec_command +mcp__maps__find",
        "usage",
        "result",
        "result",
        "answer: Aarhus and Odense.",
        "usage",
        "completed)",
        "(injection",
        "context: developer",
        "injection)",
        "(turn 2",
        "user: Take the night boat too.",
        "answer:  +exec_command",
        "usage",
        "context: generic.turn_aborted",
        "result! OUTCOME_UNKNOWN",
        "aborted)",
        "(turn 3",
        "user: Is Odense on?",
        "answer: Yes, from March.",
        "usage",
        "completed)",
        "(injection",
        "compacted 3",
        "user: Which harbours do we serve?",
        "user: Is Odense on?",
        "injection)",
        "(turn 4",
        "request/header",
        "user: And the fare?",
        "user: In euros, please.",
        "answer: Nineteen euros.",
        "usage",
        "completed)",
    ]
    assert counts(found) == (0, 0, 0, 1)
    assert found.skipped.ignored == {"answer of the compactor": 1}


@behaviour("codex:one-answer")
def test_the_items_of_one_response_are_one_answer_and_kept_for_their_own_wire() -> None:
    answer = next(d.body for d in of(long_talk()).drafts if isinstance(d.body, AssistantMessage))
    assert answer.content == (
        Thinking(
            "",
            "openai",
            '{"id":"rs_t-long-5","type":"reasoning","summary":[],"encrypted_content":"gAAA"}',
        ),
        Text("I look it up."),
        ToolUse("call_t-long-7", "exec_command", '{"cmd": "ls"}'),
        ToolUse("call_t-long-9", "mcp__maps__find", '{"q": "x"}'),
    )
    assert answer.model == "gpt-x"


@behaviour("codex:one-answer")
def test_two_responses_without_a_result_between_them_are_two_answers() -> None:
    rollout = Rollout("t")
    rollout.opens()
    rollout.began()
    rollout.asked("Look on the web.")
    rollout.item({"type": "web_search_call", "status": "completed"}, "ws")
    rollout.counted()
    rollout.says("Found.")
    rollout.over()
    answers = [d.body for d in of(rollout).drafts if isinstance(d.body, AssistantMessage)]
    assert [type(one.content[0]) for one in answers] == [Verbatim, Text]
    assert counts(of(rollout)) == (0, 0, 0, 0)


def test_tokens_are_counted_once_however_often_they_are_told() -> None:
    rollout = Rollout("t")
    rollout.opens()
    rollout.began()
    rollout.asked("One.")
    rollout.says("Two.")
    rollout.event("token_count", info=None, rate_limits={"primary": None})
    rollout.over()
    counted = [d.body for d in of(rollout).drafts if isinstance(d.body, Usage)]
    assert [(one.input, one.output, one.cache_read, one.cache_write) for one in counted] == [
        (100, 9, 40, None)
    ]
    assert counted[0].ids == {"response": "resp_t-4"}


@behaviour("codex:turns")
def test_what_follows_the_last_closed_turn_is_counted_and_is_no_draft() -> None:
    rollout = talk("t", "/w", "one")
    whole = of(rollout).drafts
    rollout.began()
    rollout.asked("Fork this.")
    rollout.calls(("mcp__sidechat::fork", {}), counted=False)
    found = of(rollout)
    assert list(found.drafts) == list(whole)
    assert counts(found) == (1, 3, 1, 0)


@behaviour("codex:turns")
def test_a_turn_that_the_next_one_cuts_short_was_interrupted() -> None:
    rollout = Rollout("t")
    rollout.opens()
    rollout.began()
    rollout.asked("one")
    rollout.calls(("exec_command", {}))
    turn(rollout, "two", "second answer")
    found = of(rollout)
    assert reasons(found) == ["interrupted", "completed"]
    assert found.repaired == 1


@behaviour("codex:turns")
def test_a_turn_that_failed_says_so_and_one_without_a_word_is_none() -> None:
    rollout = Rollout("t")
    rollout.opens()
    rollout.began()
    rollout.asked("one")
    rollout.over(error={"message": "the model is away", "codex_error_info": "other"})
    rollout.began()
    rollout.over()
    rollout.began()
    rollout.asked("two")
    rollout.over(last_agent_message=None)
    found = of(rollout)
    ends = [d.body for d in found.drafts if isinstance(d.body, TurnEnd)]
    assert [(end.reason, end.detail) for end in ends] == [
        ("error", "the model is away"),
        ("error", "no answer was recorded"),
    ]
    assert found.skipped.ignored == {"turn in which nothing was said": 1}


@behaviour("codex:between-turns")
def test_what_is_put_in_between_turns_names_the_turn_it_follows() -> None:
    rollout = talk("t", "/w", "one")
    rollout.message("developer", "a note")
    rollout.message("user", "words of another program")
    found = of(rollout)
    starts = [d.body for d in found.drafts if isinstance(d.body, TurnStart)]
    assert [(one.of, one.turn) for one in starts[1:]] == [
        ("injection", "turn_t-1--msg_t-5"),
        ("injection", "turn_t-1--msg_t-6"),
    ]
    shown = [d.body for d in found.drafts if isinstance(d.body, ContextMessage)]
    assert [one.source["role"] for one in shown] == ["developer", "user"]


@behaviour("codex:compaction")
def test_context_begins_anew_inside_a_turn_too() -> None:
    rollout = talk("t", "/w", "one")
    rollout.began()
    rollout.asked("two")
    (call,) = rollout.calls(("exec_command", {}))
    rollout.result(call, "much")
    rollout.compacted("it was much", ["one", "two"])
    rollout.says("So it was.")
    rollout.over()
    found = of(rollout)
    assert short(found)[6:] == [
        "(turn 2",
        "user: two",
        "answer:  +exec_command",
        "usage",
        "result",
        "compacted 1",
        "user: one",
        "user: two",
        "answer: So it was.",
        "usage",
        "completed)",
    ]


@behaviour("codex:compaction")
def test_a_summary_that_only_its_provider_can_read_is_kept_as_it_is() -> None:
    rollout = talk("t", "/w", "one")
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]},
        {"type": "compaction", "encrypted_content": "gAAA"},
    ]
    rollout.compacted("", replacement_history=history, message="")
    turn(rollout, "two", "second")
    found = of(rollout)
    (begun,) = [d.body for d in found.drafts if isinstance(d.body, ContextCompacted)]
    assert begun.summary == (
        Verbatim("openai", '{"type":"compaction","encrypted_content":"gAAA"}'),
    )
    assert short(found)[6:10] == ["(injection", "compacted 1", "user: one", "injection)"]


@behaviour("codex:rollback")
def test_turns_that_were_taken_back_are_gone_with_all_that_follows_them() -> None:
    rollout = talk("t", "/w", "one", "two")
    rollout.shown("put in after two")
    turn(rollout, "three", "third")
    before = len(rollout.records)
    rollout.event("thread_rolled_back", num_turns=2)
    turn(rollout, "four", "fourth")
    found = of(rollout)
    said = [d.body for d in found.drafts if isinstance(d.body, UserMessage)]
    assert [one.content for one in said] == [(Text("one"),), (Text("four"),)]
    numbers = [d.body.number for d in found.drafts if isinstance(d.body, TurnStart)]
    assert numbers == [1, 2]
    rollout.records[before]["payload"]["num_turns"] = 99
    assert [n for n in short(of(rollout)) if n.startswith("user")] == ["user: four"]


@behaviour("codex:delivered")
def test_a_note_is_delivered_where_the_model_was_shown_it() -> None:
    opening = '<sidechat-note id="{}" session="sidechat://sessions/s" turns="1">\nWords.'
    rollout = talk("t", "/w", "one")
    rollout.shown(opening.format("n1"))
    rollout.began()
    rollout.asked("two")
    (call,) = rollout.calls(("mcp__sidechat::merge", {}))
    rollout.result(call, f"Merged.\n{opening.format('n2')}")
    rollout.says("Taken note.")
    rollout.over()
    found = of(rollout)
    assert found.delivered == {"n1": "msg_t-5", "n2": "fco_t-11"}
    rollout.event("thread_rolled_back", num_turns=1)
    assert of(rollout).delivered == {"n1": "msg_t-5"}


def test_pictures_are_kept_by_what_identifies_them() -> None:
    rollout = Rollout("t")
    rollout.opens()
    rollout.began()
    parts = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        {"type": "input_image", "image_url": "https://pictures.example/1.png"},
    ]
    rollout.item({"type": "message", "role": "user", "content": parts})
    rollout.says("A dot.")
    rollout.over()
    (said,) = [d.body for d in of(rollout).drafts if isinstance(d.body, UserMessage)]
    text, picture, link = said.content
    assert text == Text("What is this?")
    assert isinstance(picture, Media)
    assert (picture.kind, picture.media_type, picture.size, picture.data) == (
        "image",
        "image/png",
        21,
        None,
    )
    assert isinstance(link, Verbatim)
