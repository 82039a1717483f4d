from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.core.content import Media
from sidechat_mcp.core.events import AssistantMessage, Body, Event, Usage, UserMessage
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.core.session import Session, Turn, fold
from tests.behaviours import behaviour
from tests.core import logs
from tests.core.logs import (
    HEAD,
    NATIVE,
    answer,
    asked_and_answered,
    call,
    child_of,
    condensed,
    end,
    injected,
    note,
    place,
    result,
    sent,
    start,
    user,
)


def test_a_log_adds_up_to_its_turns() -> None:
    events = place(
        [
            HEAD,
            start("t1", 1),
            user("t1", "How?"),
            sent("t1"),
            answer("t1", "Let me look.", "c1"),
            call("t1", "c1"),
            result("t1", "c1"),
            Usage(TurnId("t1"), 10, None),
            answer("t1", "So."),
            end("t1"),
            *injected("i1", "a note"),
            start("t2", 2),
            user("t2", "And?"),
            answer("t2", "", "c2", "c3"),
            call("t2", "c3"),
        ]
    )

    assert fold(NATIVE, events) == Session(
        NATIVE,
        head=17,
        turns=(
            Turn(
                TurnId("t1"),
                "turn",
                number=1,
                start=1,
                stop=10,
                reason="completed",
                said="How?",
                answer="Let me look.\n\nSo.",
                usage=(Usage(TurnId("t1"), 10, None),),
            ),
            Turn(TurnId("i1"), "injection", None, start=10, stop=13, reason="injection"),
            Turn(TurnId("t2"), "turn", 2, 13, said="And?", started=("c3",), asked=("c2",)),
        ),
    )


def test_an_empty_log_is_where_its_seed_ends() -> None:
    parent = place(asked_and_answered("t1", 1, "q", "a"))
    state = fold(child_of(parent, 5), [])

    assert (state.head, state.open, state.numbered, state.title) == (5, None, 0, "New side session")


@behaviour("core:fold-suffix")
@given(logs.logs(), st.data())
def test_a_suffix_adds_up_to_the_turns_that_begin_in_it(
    events: list[Event], data: st.DataObject
) -> None:
    whole = fold(NATIVE, events)
    cut = data.draw(st.integers(0, len(events)))
    suffix = fold(NATIVE, events[cut:], head=len(events))

    assert suffix.turns == tuple(turn for turn in whole.turns if turn.start >= cut)
    assert suffix.head == whole.head == len(events)


@given(logs.logs(), st.data())
def test_a_prefix_adds_up_to_the_same_turns_but_the_one_it_cuts(
    events: list[Event], data: st.DataObject
) -> None:
    whole = fold(NATIVE, events)
    cut = data.draw(st.integers(0, len(events)))
    prefix = fold(NATIVE, events[:cut])
    closed = [turn for turn in prefix.turns if turn.stop is not None]

    assert [replace(turn, usage=()) for turn in closed] == [
        replace(turn, usage=()) for turn in whole.turns[: len(closed)]
    ]
    assert len(prefix.turns) - len(closed) == (prefix.open is not None)


@behaviour("core:own-open-turn")
def test_an_ancestors_open_turn_is_not_waited_for() -> None:
    parent = place([*asked_and_answered("t1", 1, "q", "a"), start("t2", 2), user("t2", "open")])
    header = child_of(parent, len(parent))
    inherited = fold(header, parent)

    assert inherited.open is None
    assert [turn.own for turn in inherited.turns] == [False, False]
    assert fold(NATIVE, parent).open == replace(inherited.turns[1], own=True)

    own = place([start("t2", 2), user("t2", "mine")], header.id, len(parent))
    state = fold(header, [*parent, *own])
    assert state.open is not None
    assert (state.open.said, state.open.start) == ("mine", len(parent))


def test_turns_with_one_id_in_parent_and_child_stay_apart() -> None:
    parent = place(asked_and_answered("t1", 1, "theirs", "a"))
    header = child_of(parent, 5)
    own = place(asked_and_answered("t1", 2, "mine", "b"), header.id, 5)
    state = fold(header, [*parent, *own])

    assert [(turn.said, turn.answer, turn.own) for turn in state.turns] == [
        ("theirs", "a", False),
        ("mine", "b", True),
    ]
    assert [turn.number for turn in state.own_turns] == [2]
    assert state.numbered == 2


@behaviour("core:usage-own")
def test_what_an_ancestor_spent_is_not_counted_again() -> None:
    spent = Usage(TurnId("t1"), 100, 5)
    parent = place([start("t1", 1), spent, end("t1")])
    header = child_of(parent, 3)
    own = place([start("t2", 2), replace(spent, turn=TurnId("t2")), end("t2")], header.id, 3)

    assert [turn.usage for turn in fold(header, [*parent, *own]).turns] == [
        (),
        (Usage(TurnId("t2"), 100, 5),),
    ]


def test_a_condense_turn_says_only_its_last_draft() -> None:
    [turn] = fold(NATIVE, place(condensed("c", "too long", "shorter"))).turns

    assert (turn.answer, turn.number) == ("shorter", None)


def test_a_call_id_used_again_in_the_same_turn_is_a_new_call() -> None:
    told: list[Body] = [
        start("t1", 1),
        answer("t1", "", "c0"),
        call("t1", "c0"),
        result("t1", "c0"),
        answer("t1", "", "c0"),
    ]
    state = fold(NATIVE, place(told))

    assert state.open is not None
    assert (state.open.started, state.open.asked) == ((), ("c0",))


def test_a_verdict_is_the_one_of_the_last_answer_that_has_one() -> None:
    told = [start("t1", 1), AssistantMessage(TurnId("t1"), (), verdict="weak"), end("t1")]

    assert [turn.verdict for turn in fold(NATIVE, place(told)).turns] == ["weak"]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("What is  a\n\nlog?", "What is a log?"),
        ("x" * 60, "x" * 60),
        ("word " * 20, "word " * 11 + "word…"),
        ("\x1b[2Jred\u202e \U000e0041text", "red text"),
        ("use gh" + "p_" + "a1B2" * 9 + " here", "use [redacted: GitHub token] here"),
        (" \x00 ", "New side session"),
    ],
)
def test_a_title_is_one_harmless_line_of_the_first_question(said: str, title: str) -> None:
    told = [*asked_and_answered("t1", 1, said, "a"), *injected("i", "a note")]

    assert fold(NATIVE, place(told)).title == title
    assert len(title) <= 60


def test_a_title_is_the_own_first_question_and_until_then_the_last_inherited_one() -> None:
    parent = place(
        [*asked_and_answered("t1", 1, "old", "a"), *asked_and_answered("t2", 2, "new", "b")]
    )
    header = child_of(parent, 10)
    framing = place(injected("i", "framing"), header.id, 10)
    own = place(
        [*asked_and_answered("t3", 3, "mine", "c"), *asked_and_answered("t4", 4, "x", "d")],
        header.id,
        13,
    )

    assert fold(header, [*parent, *framing]).title == "new"
    assert fold(header, [*parent, *framing, *own]).title == "mine"


def test_a_question_without_words_gives_no_title() -> None:
    image: Body = UserMessage(TurnId("t1"), (Media("image", "image/png", "d", 3),))
    told = [start("t1", 1), image, end("t1"), *asked_and_answered("t2", 2, "words", "a")]

    assert fold(NATIVE, place(told)).title == "words"


def test_what_is_not_of_the_open_turn_changes_nothing() -> None:
    told = [
        start("t1", 1),
        user("t0", "stray"),
        end("t0"),
        note("t1", "n"),
        end("t1", "error", "why"),
    ]
    told += [user("t1", "late")]

    [turn] = fold(NATIVE, place(told)).turns
    assert (turn.said, turn.reason, turn.detail, turn.stop) == ("late", "error", "why", 5)
