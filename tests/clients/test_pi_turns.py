"""What becomes of pi's entries: turns, context, heads, compactions."""

from __future__ import annotations

import io
import json

import pytest

from sidechat_mcp.clients.pi.transcript import read
from sidechat_mcp.core import handback
from sidechat_mcp.core.assemble import assemble
from sidechat_mcp.core.content import Media, plain
from sidechat_mcp.core.events import (
    AssistantMessage,
    ContextCompacted,
    ContextMessage,
    Event,
    RequestHeader,
    TurnEnd,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.ports.client import Transcript
from tests.behaviours import behaviour
from tests.clients.pi_writing import TOOL, Session, talk
from tests.clients.telling import counts, short


def of(session: Session) -> Transcript:
    return read(io.BytesIO(session.bytes), "2026_file")


def seen(session: Session) -> list[str]:
    """What a model is shown of a session, a line a message."""
    events = [
        Event(SessionId("s"), seq, draft.id, draft.at, draft.body)
        for seq, draft in enumerate(of(session).drafts)
    ]
    return [f"{one.role}: {plain(one.content)}" for one in assemble(events).messages]


@behaviour("pi:only-closed-turns")
def test_a_session_is_its_closed_turns() -> None:
    session = talk()
    session.user("And now?")
    read = of(session)
    assert short(read) == [
        "request/header", "(turn 1", "user: Where is the ferry?", "answer: I look. +read", "usage",
        "result", "answer: In the port.", "usage", "completed)",
        "(turn 2", "user: When does it leave?", "answer: At 14:00 UTC.", "usage", "completed)",
    ]  # fmt: skip
    assert counts(read) == (1, 2, 0, 0)
    assert (read.ref, read.cwd, read.version) == ("s-1", "/srv/ferry", "3")


@behaviour("pi:only-closed-turns")
def test_a_turn_whose_call_waits_is_open() -> None:
    session = talk()
    session.working("Fork this.", "mcp__sidechat__fork")
    assert counts(of(session)) == (1, 4, 1, 0)


def test_an_answer_at_its_limit_completes_a_turn_as_such() -> None:
    session = Session()
    session.user("Tell me all.")
    session.answer("All", "length")
    assert short(of(session))[-1] == "max_tokens)"


@pytest.mark.parametrize("stop", ["deferred", "toolUse"])
def test_an_answer_that_says_that_more_comes_completes_nothing(stop: str) -> None:
    session = Session()
    session.user("Well?")
    session.answer("Wait", stop)
    assert counts(of(session))[0] == 1


@behaviour("pi:lost-answers")
@pytest.mark.parametrize(("stop", "reason"), [("aborted", "aborted)"), ("error", "error)")])
def test_a_lost_answer_is_not_shown_and_its_turn_ends_with_the_next_message(
    stop: str, reason: str
) -> None:
    session = talk()
    session.user("Sink it.")
    lost = session.answer("I si", stop, session.call(), errorMessage="overloaded")
    before = of(session)
    assert counts(before)[0] == 1
    session.turn("Do not.")
    after = of(session)
    assert list(after.drafts[: len(before.drafts)]) == list(before.drafts)
    assert short(after)[14:18] == ["(turn 3", "user: Sink it.", "usage", reason]
    assert [draft.id.partition(":")[0] for draft in after.drafts][17] == lost
    assert sum(after.skipped.ignored.values()) == 1
    assert "assistant: I si" not in seen(session)


@behaviour("pi:lost-answers")
def test_an_answer_that_was_tried_again_stays_in_its_turn() -> None:
    session = Session()
    session.user("Well?")
    session.answer("", "error", errorMessage="529 overloaded", usage={"input": 0, "output": 0})
    session.answer("Yes.")
    assert short(of(session)) == [
        "request/header", "(turn 1", "user: Well?", "answer: Yes.", "usage", "completed)"
    ]  # fmt: skip


def test_who_steers_is_heard_in_the_same_turn() -> None:
    session = Session()
    session.result(session.working("Look."))
    session.user("Faster!")
    session.answer("Done.")
    assert short(of(session))[-4:] == ["user: Faster!", "answer: Done.", "usage", "completed)"]
    assert short(of(session)).count("(turn 1") == 1


def test_a_call_without_a_result_is_mended_when_its_turn_is_left() -> None:
    session = Session()
    session.working("Look.")
    session.turn("Never mind.")
    read = of(session)
    assert short(read)[4:8] == ["usage", "result! OUTCOME_UNKNOWN", "interrupted)", "(turn 2"]
    assert read.repaired == 1


def test_a_result_that_nobody_waits_for_is_counted() -> None:
    session = talk()
    session.result(session.call())
    assert of(session).skipped.ignored == {"late or repeated result": 1}


def test_an_answer_behind_a_closed_turn_is_a_turn_of_its_own() -> None:
    session = talk()
    session.answer("One thing more.")
    assert short(of(session))[-4:] == [
        "(turn 3", "answer: One thing more.", "usage", "completed)"
    ]  # fmt: skip


@behaviour("pi:shown-context")
def test_what_a_model_is_shown_besides_stands_in_its_place_in_the_words_of_pi() -> None:
    session = talk()
    session.message("bashExecution", command="ls", output="a.txt", exitCode=2)
    session.message("bashExecution", command="secret", output="x", excludeFromContext=True)
    session.entry("custom_message", customType="memo", content="A memo.", display=False)
    session.entry("custom", customType="memo", data={"not": "shown"})
    session.entry("branch_summary", fromId="x", summary="It sank.")
    session.turn("Go on.")
    read = of(session)
    assert short(read)[14:19] == [
        "(turn 3", "context: bashExecution", "context: memo", "context: branch_summary",
        "user: Go on.",
    ]  # fmt: skip
    assert seen(session)[6:9] == [
        "context: Ran `ls`\n```\na.txt\n```\n\nCommand exited with code 2",
        "context: A memo.",
        "context: The following is a summary of a branch that this conversation came back from:"
        "\n\n<summary>\nIt sank.</summary>",
    ]


@behaviour("pi:head")
def test_the_head_is_what_the_system_messages_add_up_to() -> None:
    session = talk()
    write = {**TOOL, "name": "write"}
    session.system(
        content="Be brief.",
        sections={"preamble": None, "cwd": "<cwd>\n/srv\n</cwd>"},
        toolsAdded=[write],
        toolsRemoved=[{"name": "read"}],
    )
    session.turn("And?")
    heads = [one.body for one in of(session).drafts if isinstance(one.body, RequestHeader)]
    assert [(one.model, one.system.text, one.tools.text) for one in heads] == [
        ("m-1", "You are pi.", _tools("read")),
        ("m-1", "Be brief.\n\n<cwd>\n/srv\n</cwd>", _tools("write")),
    ]


@behaviour("pi:head")
def test_without_a_system_message_nothing_is_known_of_the_head_but_its_model() -> None:
    session = Session(version=None)
    session.turn("Hello.")
    assert of(session).drafts[0].body == RequestHeader(model="m-1")


def test_what_was_spent_counts_the_whole_prompt_and_no_cache_that_nobody_reported() -> None:
    session = Session()
    session.turn("One?")
    session.user("Two?")
    session.answer("Yes.", usage={"input": 7, "output": 1, "cacheRead": 0, "cacheWrite": 0})
    spent = [one.body for one in of(session).drafts if isinstance(one.body, Usage)]
    assert [(one.input, one.output, one.cache_read, one.cache_write) for one in spent] == [
        (14, 5, 4, 0),
        (7, 1, None, None),
    ]


def test_an_image_is_kept_by_what_identifies_it() -> None:
    session = Session()
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    session.message("user", content=[image])
    session.answer("A picture.")
    said = next(one.body for one in of(session).drafts if isinstance(one.body, UserMessage))
    assert said.content == (
        Media(
            "image",
            "image/png",
            "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
            2,
        ),
    )


@behaviour("pi:path")
def test_what_was_rewound_away_appears_nowhere() -> None:
    session = talk()
    fork = session.tip
    session.turn("A dead end.", "Which leads nowhere.")
    session.tip = fork
    session.turn("Another way.")
    read = of(session)
    assert not any("dead" in line or "nowhere" in line for line in short(read))
    assert short(read)[-4:-1] == ["user: Another way.", "answer: Fine.", "usage"]
    assert read.skipped.ignored == {"on another branch": 2}


@behaviour("pi:path")
def test_a_path_that_begins_in_the_air_is_reported() -> None:
    session = Session()
    session.tip = "gone"
    session.turn("Hello.")
    assert of(session).skipped.unreadable == {"parent entry missing": 1}


@behaviour("pi:compaction")
def test_context_begins_anew_at_a_compaction_and_shows_what_it_kept() -> None:
    session = talk()
    kept = session.user("Keep this.")
    session.answer("Kept.")
    head = {"role": "system", "content": "Anew.", "toolsAdded": [TOOL]}
    session.entry("compaction", summary="A ferry.", firstKeptEntryId=kept, systemMessage=head)
    session.turn("Go on.", "Gladly.")
    assert short(of(session))[19:26] == [
        "(injection", "compacted 3", "user: Keep this.", "answer: Kept.", "injection)",
        "request/header", "(turn 4",
    ]  # fmt: skip
    assert seen(session) == [
        "context: The conversation history before this point was compacted into the following"
        " summary:\n\n<summary>\nA ferry.\n</summary>",
        "user: Keep this.", "assistant: Kept.", "user: Go on.", "assistant: Gladly.",
    ]  # fmt: skip


@behaviour("pi:compaction")
def test_a_compaction_in_mid_turn_shows_that_turn_again_as_far_as_it_was_kept() -> None:
    session = talk()
    asked = session.user("Read it all.")
    call = session.call()
    session.answer("", "toolUse", call)
    session.result(call, "long")
    head = {"role": "system", "content": "You are pi.", "toolsAdded": [TOOL]}
    session.entry("compaction", summary="A ferry.", firstKeptEntryId=asked, systemMessage=head)
    session.answer("Read.")
    read = of(session)
    assert short(read)[14:] == [
        "(turn 3", "user: Read it all.", "answer:  +read", "usage", "result", "compacted 2",
        "user: Read it all.", "answer:  +read", "result",
        "answer: Read.", "usage", "completed)",
    ]  # fmt: skip
    assert seen(session)[1:] == [
        "user: Read it all.", "assistant: ", "tool: long", "assistant: Read."
    ]  # fmt: skip
    assert read.repaired == 0


@behaviour("pi:compaction")
def test_of_a_compaction_that_kept_nothing_only_the_summary_is_left() -> None:
    session = talk()
    session.entry("compaction", id="c0ffee00", summary="A ferry.", firstKeptEntryId="c0ffee00")
    session.turn("Go on.")
    assert len(seen(session)) == 3
    compacted = [one.body for one in of(session).drafts if isinstance(one.body, ContextCompacted)]
    assert [one.covers for one in compacted] == [2]


@behaviour("pi:context-edit")
def test_an_edited_entry_is_shown_as_edited_and_one_that_was_taken_out_not_at_all() -> None:
    session = talk()
    first, other = session.user("My key is 1234."), session.answer("I see 1234.")
    session.entry("context_edit", targetId=first, replacement={"content": "My key is hidden."})
    session.entry("context_edit", targetId=other, replacement=None)
    session.turn("Go on.")
    assert seen(session)[6:] == ["user: My key is hidden.", "user: Go on.", "assistant: Fine."]


@behaviour("pi:versions")
def test_a_session_without_ids_is_a_line_of_entries() -> None:
    session = Session(version=None)
    session.turn("One?", "First.")
    session.entry("compaction", summary="One.", firstKeptEntryIndex=2)
    session.turn("Two?", "Second.")
    read = of(session)
    assert read.version == "1"
    assert [one.id.partition(":")[0] for one in read.drafts][:2] == ["line-3", "line-2"]
    assert seen(session)[1:] == ["assistant: First.", "user: Two?", "assistant: Second."]


@behaviour("pi:versions")
def test_the_second_version_called_messages_of_extensions_otherwise() -> None:
    session = Session(version=2)
    session.message("hookMessage", customType="memo", content="A memo.", display=True)
    session.turn("Go on.")
    shown = [one.body for one in of(session).drafts if isinstance(one.body, ContextMessage)]
    assert [plain(one.content) for one in shown] == ["A memo."]


@behaviour("pi:delivered")
def test_a_note_that_the_session_shows_is_reported_with_the_entry_that_shows_it() -> None:
    note = handback.Handback(
        "n1", SessionId("c"), SessionId("p"), "Hi.", 3, (4, 9), 1, None, 2000, 1, "client"
    )
    session = talk()
    session.result(session.working("Merge.", "mcp__sidechat__merge"), handback.wrap(note))
    shown = session.tip
    session.answer("Noted.")
    assert of(session).delivered == {"n1": shown}


def test_how_a_turn_ended_says_why() -> None:
    session = Session()
    session.user("Well?")
    session.answer("", "error", errorMessage="529 overloaded")
    session.turn("Again.")
    ends = [one.body for one in of(session).drafts if isinstance(one.body, TurnEnd)]
    assert [(one.reason, one.detail) for one in ends] == [
        ("error", "529 overloaded"),
        ("completed", None),
    ]


def test_an_answer_names_its_model_and_how_it_stopped() -> None:
    answers = [one.body for one in of(talk()).drafts if isinstance(one.body, AssistantMessage)]
    assert [(one.model, one.stop) for one in answers][:2] == [("m-1", "toolUse"), ("m-1", "stop")]


def _tools(name: str) -> str:
    told = {"name": name, "description": "Read a file.", "input_schema": {"type": "object"}}
    return json.dumps([told], separators=(",", ":"))


@behaviour("pi:prefix-stable")
def test_another_head_under_the_same_answers_is_another_event() -> None:
    session = talk()
    changed = io.BytesIO(session.bytes.replace(b"You are pi.", b"You are Pi."))
    one, *same = of(session).drafts
    other, *others = read(changed, "2026_file").drafts
    assert isinstance(one.body, RequestHeader)
    assert one.body != other.body
    assert one.id != other.id
    assert same == others
