"""Messages of opencode as turns."""

from __future__ import annotations

import pytest

from sidechat_mcp.core.events import (
    TurnEnd,
    TurnStart,
)
from sidechat_mcp.core.handback import Handback, wrap
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour
from tests.clients.cabin import ABORTED, Talk, of, tool
from tests.clients.telling import counts, reasons, short

NOTE = wrap(
    Handback(
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
)


def told(talk: Talk) -> list[str]:
    found = of(talk)
    check_turns([draft.body for draft in found.drafts])
    return short(found)


@behaviour("opencode:turns")
def test_a_turn_is_a_message_and_every_answer_to_it() -> None:
    talk = Talk("s")
    talk.says("Look at it.")
    talk.answers("I look.", tool("c1"), tool("c2"), finish="tool-calls")
    talk.answers("There is a file.")
    assert told(talk) == [
        "request/header",
        "(turn 1",
        "user: Look at it.",
        "answer: I look. +bash +bash",
        "result",
        "result",
        "usage",
        "answer: There is a file.",
        "usage",
        "completed)",
    ]
    found = of(talk)
    assert (found.ref, found.cwd, found.version) == ("s", "/srv/ferryline", "1.18.33")
    assert {draft.id.partition(":")[0] for draft in found.drafts} == {
        row["id"] for row, _ in talk.rows
    }
    turn = next(one.body for one in found.drafts if isinstance(one.body, TurnStart))
    assert turn.turn == talk.rows[0][0]["id"], "the client's own name of the turn"


@behaviour("opencode:turns")
@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "completed"), ("length", "max_tokens"), ("other", "completed")],
)
def test_how_an_answer_finished_is_how_its_turn_ended(finish: str, reason: str) -> None:
    talk = Talk("s")
    talk.says("Say something.")
    talk.answers("Something.", finish=finish)
    assert reasons(of(talk)) == [reason]


@behaviour("opencode:turns")
def test_an_answer_that_goes_on_is_not_over() -> None:
    for finish, calls in (("tool-calls", []), ("unknown", []), ("stop", [tool("c")]), (None, [])):
        talk = Talk("s")
        talk.says("Say something.")
        talk.answers("Let me", *calls, finish=finish)
        assert (reasons(of(talk)), of(talk).open_turns) == ([], 1), finish


def test_an_old_answer_without_finish_is_over_when_it_was_completed() -> None:
    talk = Talk("s")
    talk.says("Say something.")
    talk.answers("Step one.", tool("c1"), {"type": "step-start"}, "Step two.")
    del talk.rows[-1][0]["finish"]
    assert told(talk)[2:] == [
        "user: Say something.",
        "answer: Step one. +bash",
        "result",
        "answer: Step two.",
        "usage",
        "completed)",
    ]


@behaviour("opencode:interrupted")
def test_what_an_interrupted_answer_said_stays_and_its_calls_are_closed() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    talk.says("two")
    stopped = tool("c1", status="error", error="Tool execution aborted")
    calls = (stopped, tool("c2", status="running"), tool("c3", status="pending"))
    talk.answers("Half", *calls, finish=None, error=ABORTED)
    talk.says("three")
    talk.answers(finish=None, error=ABORTED)
    assert told(talk)[6:] == [
        "(turn 2",
        "user: two",
        "answer: Half +bash +bash +bash",
        "result!",
        "usage",
        "result! OUTCOME_UNKNOWN",
        "result! NOT_STARTED",
        "aborted)",
        "(turn 3",
        "user: three",
        "usage",
        "aborted)",
    ]
    assert counts(of(talk)) == (0, 0, 0, 2)


@behaviour("opencode:interrupted")
def test_what_an_answer_with_an_error_said_is_not_shown_and_so_not_read() -> None:
    talk = Talk("s")
    talk.says("one")
    error = {"name": "APIError", "data": {"message": "529 overloaded", "statusCode": 529}}
    talk.answers("Half an ans", finish=None, error=error)
    talk.says("two")
    blocked = {"name": "ContentFilterError", "data": {"message": "no"}}
    talk.answers("Bad words", finish="content-filter", error=blocked)
    assert [one for one in told(talk) if "answer" in one] == []
    ends = [one.body for one in of(talk).drafts if isinstance(one.body, TurnEnd)]
    assert [(one.reason, one.detail) for one in ends] == [
        ("error", "APIError: 529 overloaded"),
        ("blocked", "ContentFilterError: no"),
    ]
    assert of(talk).skipped.ignored["answer that the model is not shown"] == 2


@behaviour("opencode:shown-context")
def test_a_note_nobody_answered_belongs_to_the_turn_whose_answer_comes_next() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    talk.says("A note", synthetic=True)
    assert counts(of(talk)) == (0, 1, 0, 0)
    talk.says("two")
    assert counts(of(talk)) == (1, 2, 0, 0)
    talk.answers("Another answer")
    assert told(talk)[6:10] == [
        "(turn 2",
        "context: synthetic",
        "user: two",
        "answer: Another answer",
    ]


@behaviour("opencode:shown-context")
def test_a_message_the_person_sent_meanwhile_opens_a_turn_of_its_own() -> None:
    talk = Talk("s")
    first = talk.says("one")
    talk.answers("I look.", tool("c1"), finish="tool-calls")
    talk.says("No, the other one.")
    talk.answers("Late", parentID=first, finish="tool-calls")
    talk.answers("That one, then.")
    assert told(talk)[1:] == [
        "(turn 1",
        "user: one",
        "answer: I look. +bash",
        "result",
        "usage",
        "answer: Late",
        "usage",
        "interrupted)",
        "(turn 2",
        "user: No, the other one.",
        "answer: That one, then.",
        "usage",
        "completed)",
    ]


@behaviour("opencode:shown-context")
def test_a_command_the_person_ran_is_context_and_no_turn() -> None:
    talk = Talk("s")
    talk.says("The following tool was executed by the user", synthetic=True)
    talk.answers(tool("c1"), finish="x", tokens={})
    del talk.rows[-1][0]["finish"]
    talk.rows[-1][1].pop(0)
    assert counts(of(talk)) == (0, 3, 0, 0)
    talk.turn("What was that?", "A listing.")
    assert told(talk)[1:] == [
        "(turn 1",
        "context: synthetic",
        "answer:  +bash",
        "result",
        "user: What was that?",
        "answer: A listing.",
        "usage",
        "completed)",
    ]


@behaviour("opencode:compaction")
def test_context_begins_anew_at_a_compaction_with_what_it_kept_word_for_word() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    kept = talk.says("two")
    talk.answers("I look.", tool("c1"), finish="tool-calls")
    talk.answers("Another answer")
    talk.compacts(tail=kept)
    talk.turn("three", "A third")
    start = told(talk).index("(injection")
    assert told(talk)[start:] == [
        "(injection",
        "compacted 2",
        "usage",
        "user: two",
        "answer: I look. +bash",
        "result",
        "answer: Another answer",
        "injection)",
        "(turn 3",
        "user: three",
        "answer: A third",
        "usage",
        "completed)",
    ]


@behaviour("opencode:compaction")
def test_a_compaction_on_the_way_stays_in_the_turn_that_goes_on() -> None:
    talk = Talk("s")
    talk.says("A long task.")
    talk.answers(tool("c1"), finish="tool-calls")
    talk.compacts(auto=True)
    talk.says("Continue if you have next steps.", synthetic=True)
    talk.answers("The long task is done.")
    assert told(talk)[1:] == [
        "(turn 1",
        "user: A long task.",
        "answer:  +bash",
        "result",
        "usage",
        "compacted 0",
        "usage",
        "context: synthetic",
        "answer: The long task is done.",
        "usage",
        "completed)",
    ]


@behaviour("opencode:compaction")
def test_a_prompt_that_was_too_long_is_answered_after_its_compaction_in_one_turn() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    talk.says("two, and much more of it")
    talk.compacts(auto=True)
    talk.says("Continue if you have next steps.", synthetic=True)
    talk.answers("Done.")
    assert told(talk)[6:] == [
        "(turn 2",
        "user: two, and much more of it",
        "compacted 1",
        "usage",
        "context: synthetic",
        "answer: Done.",
        "usage",
        "completed)",
    ]


@behaviour("opencode:compaction")
def test_a_compaction_that_failed_leaves_the_context_and_stands_in_it() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    talk.compacts(finish=None, error=ABORTED)
    assert reasons(of(talk)) == ["completed"]
    talk.turn("two", "Another answer")
    assert told(talk)[6:11] == [
        "(turn 2",
        "context: compaction",
        "answer: A summary of it all.",
        "user: two",
        "answer: Another answer",
    ]


@behaviour("opencode:revert")
def test_what_the_person_took_back_is_not_there() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    undone = talk.says("two")
    talk.answers("Another answer")
    talk.revert = {"messageID": undone, "snapshot": "x"}
    assert reasons(of(talk)) == ["completed"]
    assert of(talk).skipped.ignored["taken back by the person"] == 2
    talk.revert = {"messageID": "msg_s_0001", "partID": "prt_s_0001_0001"}
    assert told(talk) == ["(turn 1", "user: one", "usage", "completed)"]


@behaviour("opencode:subagents")
def test_the_session_of_a_tasks_agent_is_no_conversation() -> None:
    talk = Talk("s", parent="ses_of_the_person")
    talk.turn("Find it.", "Found.")
    with pytest.raises(Exception, match=r"opencode:ses_of_the_person\.$") as refused:
        of(talk)
    assert type(refused.value).__name__ == "ParentNotFound"


@behaviour("opencode:delivered")
def test_a_note_of_ours_is_reported_with_the_message_that_shows_it() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    told = talk.says(NOTE, synthetic=True)
    assert of(talk).delivered == {"n0te": told}
    by_tool = Talk("s")
    by_tool.says("Merge.")
    shown = by_tool.answers(tool("c1", output=NOTE), finish="tool-calls")
    assert of(by_tool).delivered == {"n0te": shown}
    said = Talk("s")
    said.turn("one", NOTE)
    assert of(said).delivered == {}, "what a model says shows it nothing"
