from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.core import content
from sidechat_mcp.core.balance import Cut, closing, cut
from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextCompacted,
    Event,
    MirrorSeen,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.core.session import fold
from tests.behaviours import behaviour
from tests.core import logs
from tests.core.logs import (
    HEAD,
    NATIVE,
    answer,
    asked_and_answered,
    call,
    condensed,
    end,
    injected,
    place,
    result,
    start,
    user,
)

FIRST = [HEAD, *asked_and_answered("t1", 1, "q", "a")]
SUMMARY = ContextCompacted(content.text("summary"), 1)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ([], Cut(0, 0, 0, 0)),
        ([HEAD], Cut(0, 0, 1, 0)),
        ([HEAD, *injected("i", "n")], Cut(0, 1, 4, 0)),
        ([HEAD, start("t1", 1), user("t1", "q")], Cut(0, 1, 3, 0)),
        ([HEAD, start("t1", 1), end("t1", "aborted")], Cut(0, 1, 3, 0)),
        (FIRST, Cut(6, 0, 0, 1)),
        ([*FIRST, *injected("i", "n"), *injected("j", "m")], Cut(12, 0, 0, 1)),
        ([*FIRST, start("t2", 2), user("t2", "q")], Cut(6, 1, 2, 1)),
        ([*FIRST, start("t2", 2), end("t2", "error"), start("t3", 3)], Cut(6, 2, 3, 1)),
        ([*FIRST, start("t2", 2), end("t2", "aborted"), *injected("i", "n")], Cut(6, 2, 5, 1)),
        ([*FIRST, *injected("i", "n"), start("t2", 2)], Cut(9, 1, 1, 1)),
        ([*FIRST, start("i", of="injection")], Cut(6, 1, 1, 1)),
        ([*FIRST, start("i", of="injection"), *injected("j", "n")], Cut(6, 2, 4, 1)),
        ([*FIRST, *condensed("c", "note")], Cut(6, 1, 5, 1)),
        ([*FIRST, *condensed("c", "note"), *injected("i", "n")], Cut(6, 2, 8, 1)),
        ([*FIRST, *condensed("c", "n"), *asked_and_answered("t2", 2, "q", "a")], Cut(16, 0, 0, 2)),
        ([*FIRST, start("t2", 2), end("t2", "max_tokens")], Cut(8, 0, 0, 2)),
        ([*FIRST, MirrorSeen("n", "e"), *injected("i", "n")], Cut(10, 0, 0, 1)),
        ([*FIRST, MirrorSeen("n", "e")], Cut(6, 0, 1, 1)),
        ([*FIRST, SUMMARY], Cut(7, 0, 0, 1)),
        ([*FIRST, SUMMARY, *injected("i", "n"), start("t2", 2)], Cut(10, 1, 1, 1)),
        ([*FIRST, start("t2", 2), SUMMARY, end("t2", "error")], Cut(6, 1, 3, 1)),
        ([*FIRST, start("i", of="injection"), SUMMARY], Cut(6, 1, 2, 1)),
    ],
)
@behaviour("core:balanced-prefix")
def test_a_cut_keeps_what_is_completed_and_what_was_injected_behind_it(
    told: Sequence[Body], kept: Cut
) -> None:
    assert cut(place(told)) == kept


@given(logs.logs())
def test_what_a_cut_keeps_is_balanced(events: list[Event]) -> None:
    found = cut(events)
    assert found is not None
    kept, dropped = events[: found.length], events[found.length :]
    state = fold(NATIVE, kept)

    assert state.numbered == found.number
    assert all(turn.stop is not None for turn in state.turns)
    assert open_calls(kept) == []
    assert found.events == len(dropped)
    assert found.turns == sum(isinstance(event.body, TurnStart) for event in dropped)
    completed = {"completed", "max_tokens"}
    assert not any(
        turn.of == "turn" and turn.reason in completed and turn.start >= found.length
        for turn in fold(NATIVE, events).turns
    )


def open_calls(events: Sequence[Event]) -> list[str]:
    """Ids of calls without a result, counted as they come."""
    waiting: list[str] = []
    for event in events:
        if isinstance(event.body, AssistantMessage):
            waiting += [block.id for block in event.body.content if isinstance(block, ToolUse)]
        if isinstance(event.body, ToolResult):
            waiting.remove(event.body.call)
    return waiting


@behaviour("core:cut-from-tail")
@given(logs.logs(), st.data())
def test_a_tail_gives_the_same_cut_or_asks_for_more(
    events: list[Event], data: st.DataObject
) -> None:
    whole = cut(events)
    tail = events[data.draw(st.integers(0, max(0, len(events) - 1))) :]
    starts = [
        turn.start
        for turn in fold(NATIVE, events).turns
        if turn.of == "turn" and turn.reason in ("completed", "max_tokens")
    ]
    enough = not tail or tail[0].seq == 0 or (starts and tail[0].seq <= starts[-1])

    assert cut(tail) == (whole if enough else None)


def test_a_tail_that_begins_inside_the_last_completed_turn_asks_for_more() -> None:
    events = place(FIRST)

    assert cut(events[1:]) == Cut(6, 0, 0, 1)
    assert cut(events[2:]) is None


@behaviour("core:closing")
def test_an_open_turn_is_closed_with_a_result_for_every_open_call() -> None:
    told: list[Body] = [
        start("t1", 1),
        user("t1", "q"),
        answer("t1", "", "c1", "c2", "c3"),
        call("t1", "c2"),
        call("t1", "c1"),
        result("t1", "c1"),
    ]
    turn = fold(NATIVE, place(told)).open
    assert turn is not None
    closed = closing(turn, "interrupted", "the process went away")

    assert [
        (body.call, body.synthetic, body.is_error)
        for body in closed
        if isinstance(body, ToolResult)
    ] == [("c2", "OUTCOME_UNKNOWN", True), ("c3", "NOT_STARTED", True)]
    assert closed[-1] == TurnEnd(TurnId("t1"), "interrupted", "the process went away")
    after = fold(NATIVE, place([*told, *closed]))
    assert after.open is None
    assert (after.turns[0].started, after.turns[0].asked) == ((), ())


def test_closing_says_in_words_what_is_known_of_a_call() -> None:
    [turn] = fold(NATIVE, place([start("t1", 1), answer("t1", "", "c1")])).turns
    [told, _] = closing(turn, "aborted")

    assert isinstance(told, ToolResult)
    assert content.plain(told.content).startswith("NOT_STARTED: ")


@given(logs.logs(), st.data())
def test_any_turn_cut_anywhere_can_be_closed(events: list[Event], data: st.DataObject) -> None:
    events = events[: data.draw(st.integers(0, len(events)))]
    turn = fold(NATIVE, events).open
    if turn is not None:
        events = [*events, *place(closing(turn, "interrupted"), start=len(events))]

    assert fold(NATIVE, events).open is None
    assert open_calls(events) == []
