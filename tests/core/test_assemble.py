from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.core import content
from sidechat_mcp.core.assemble import Context, Message, assemble
from sidechat_mcp.core.content import ToolUse, plain
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextCompacted,
    ContextMessage,
    Event,
    Part,
    RequestHeader,
    RequestSent,
    Unknown,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import TurnId
from tests.behaviours import behaviour
from tests.core import logs
from tests.core.logs import (
    HEAD,
    answer,
    asked_and_answered,
    call,
    end,
    injected,
    note,
    place,
    result,
    sent,
    start,
    user,
)

SUMMARY = ContextCompacted(content.text("summary"), 1)


def shown(*told: Body) -> list[str]:
    """The messages of a log as `role: words` (a call's id for an answer without words)."""
    messages = assemble(place(told)).messages
    return [f"{m.role}: {plain(m.content) or '-'}" for m in messages]


def test_the_last_response_is_the_one_under_the_present_head() -> None:
    spent = Usage(TurnId("t1"), 1, 1, ids={"response": "r1"})
    told: list[Body] = [HEAD, start("t1", 1), user("t1", "q"), sent("t1"), spent]
    assert assemble(place(told)).last_response == "r1"
    assert assemble(place([*told, Usage(TurnId("t1"), 1, 1)])).last_response == "r1"
    assert assemble(place([*told, RequestHeader(model="another")])).last_response is None


def test_a_log_becomes_a_head_and_its_messages() -> None:
    source = {"kind": "plugin", "plugin": "x"}
    asked = AssistantMessage(TurnId("t1"), (ToolUse("c1", "read", "{}"),))
    told: list[Body] = [
        HEAD,
        start("t1", 1),
        user("t1", "q"),
        sent("t1"),
        asked,
        call("t1", "c1"),
        result("t1", "c1", "r"),
        sent("t1"),
        answer("t1", "a"),
        end("t1"),
        *injected("i", "n"),
        start("t2", 2),
        user("t2", "q2"),
    ]

    assert assemble(place(told), session="parent") == Context(
        HEAD,
        [
            Message("user", content.text("q"), turn=1, seq=2),
            Message("assistant", asked.content, turn=1, seq=4),
            Message("tool", content.text("r"), call="c1", turn=1, seq=6),
            Message("assistant", content.text("a"), turn=1, seq=8),
            Message("context", content.text("n"), seq=11, source=source),
            Message("user", content.text("q2"), turn=2, seq=14),
        ],
        inherited=0,
        session="parent",
    )


def test_an_empty_log_asks_nothing() -> None:
    assert assemble([]) == Context(RequestHeader(), [])


@pytest.mark.parametrize(
    ("told", "messages"),
    [
        # In flight: after the answer, also when it never comes or the request is sent again.
        ([sent("t"), note("t", "n"), answer("t", "a")], ["assistant: a", "context: n"]),
        ([sent("t"), note("t", "n"), end("t", "error")], ["context: n"]),
        (
            [sent("t"), note("t", "n"), end("t", "error"), start("u", 2), user("u", "q")],
            ["context: n", "user: q"],
        ),
        (
            [sent("t"), note("t", "n"), sent("t"), note("t", "m"), answer("t", "a")],
            ["context: n", "assistant: a", "context: m"],
        ),
        ([sent("t"), note("t", "n"), answer("t")], ["context: n"]),
        # Between a call and its result: after the whole batch.
        (
            [
                sent("t"),
                note("t", "n"),
                answer("t", "a", "1", "2"),
                note("t", "m"),
                result("t", "2", "r2"),
                note("t", "o"),
                result("t", "1", "r1"),
                note("t", "p"),
            ],
            [
                "assistant: a",
                "tool: r1",
                "tool: r2",
                "context: n",
                "context: m",
                "context: o",
                "context: p",
            ],
        ),
        # Nothing is waited for: at once.
        ([note("t", "n"), sent("t"), answer("t", "a")], ["context: n", "assistant: a"]),
        (
            [answer("t", "a"), note("t", "n"), answer("t", "b")],
            ["assistant: a", "context: n", "assistant: b"],
        ),
        # While a batch is open it is shown as it is, and what waits behind it.
        (
            [answer("t", "a", "1", "2"), result("t", "2", "r2"), note("t", "n")],
            ["assistant: a", "tool: r2", "context: n"],
        ),
        # A batch that a turn left open does not hold up what comes in the next one.
        (
            [
                answer("t", "a", "1"),
                note("t", "n"),
                end("t", "error"),
                *injected("i", "m"),
                start("u", 2),
                user("u", "q"),
                answer("u", "b"),
            ],
            ["assistant: a", "context: n", "context: m", "user: q", "assistant: b"],
        ),
        (
            [answer("t", "a", "1"), note("t", "n"), answer("t", "b"), result("t", "1", "late")],
            ["assistant: a", "tool: late", "context: n", "assistant: b"],
        ),
        # A person who speaks meanwhile splits nothing either.
        (
            [answer("t", "a", "1"), user("t", "wait"), result("t", "1", "r"), answer("t", "b")],
            ["assistant: a", "tool: r", "user: wait", "assistant: b"],
        ),
    ],
)
@behaviour("core:note-splits-nothing")
def test_a_note_comes_after_the_answer_and_the_batch_it_arrived_in(
    told: Sequence[Body], messages: Sequence[str]
) -> None:
    assert shown(start("t", 1), *told) == messages


@behaviour("core:results-by-call")
def test_results_stand_behind_their_answer_in_the_order_of_its_calls() -> None:
    told = [
        start("t", 1),
        answer("t", "a", "x", "y", "x"),
        result("t", "x", "first x"),
        result("t", "x", "second x"),
        result("t", "y", "y"),
        answer("t", "b", "x"),
        result("t", "x", "third x"),
    ]

    assert shown(*told) == [
        "assistant: a",
        "tool: first x",
        "tool: y",
        "tool: second x",
        "assistant: b",
        "tool: third x",
    ]


@behaviour("core:results-by-call")
def test_a_result_without_its_call_and_a_second_result_are_left_out() -> None:
    told = [
        start("t", 1),
        result("t", "1", "before its call"),
        answer("t", "a", "1"),
        result("t", "1", "r"),
        result("t", "1", "again"),
        result("t", "2", "of nothing"),
    ]

    assert shown(*told) == ["assistant: a", "tool: r"]


@behaviour("core:compaction")
def test_context_begins_at_the_last_compaction() -> None:
    told: list[Body] = [
        HEAD,
        SUMMARY,
        *asked_and_answered("t1", 1, "q", "a"),
        ContextCompacted(content.text("second summary"), 1),
        start("t2", 2),
        user("t2", "q2"),
    ]

    assert assemble(place(told), seed_length=8).messages == [
        Message("context", content.text("second summary"), seq=7, source={"kind": "compaction"}),
        Message("user", content.text("q2"), turn=2, seq=9),
    ]
    assert [assemble(place(told), seed_length=n).inherited for n in (7, 8)] == [0, 1]


def test_a_compaction_between_a_call_and_its_result_leaves_no_result_without_a_call() -> None:
    told = [start("t", 1), answer("t", "a", "1"), SUMMARY, result("t", "1"), answer("t", "b")]

    assert shown(*told) == ["context: summary", "assistant: b"]


def test_a_note_that_no_request_had_yet_outlives_a_compaction() -> None:
    told = [start("t", 1), sent("t"), note("t", "n"), SUMMARY, answer("t", "a")]

    assert shown(*told) == ["context: summary", "assistant: a", "context: n"]


def test_the_last_head_counts() -> None:
    newer = RequestHeader(Part("newer"))

    assert assemble(place([HEAD, newer])).header == newer


def test_a_handback_that_the_clients_own_record_carries_is_in_no_context() -> None:
    source = {"kind": "plugin", "plugin": "sidechat", "role": "handback"}
    carried, ours = (
        ContextMessage(TurnId("i"), content.text(words), {**source, "carrier": words})
        for words in ("client", "log")
    )

    assert shown(start("i", of="injection"), carried, ours) == ["context: log"]


def test_what_has_no_content_is_no_message_but_a_result_is() -> None:
    empty = UserMessage(TurnId("t"), ())
    told = [start("t", 1), empty, AssistantMessage(TurnId("t"), ()), answer("t", "", "1")]
    told += [result("t", "1", "")]

    assert shown(*told) == ["assistant: -", "tool: -"]


@behaviour("core:unknown-refused")
def test_an_event_that_may_not_be_ignored_refuses_the_whole_log() -> None:
    unknown = Unknown("turn/paused", {"kind": "turn/paused"}, ignorable=False)

    with pytest.raises(ValueError, match="Event 1 is a 'turn/paused'"):
        assemble(place([HEAD, unknown, SUMMARY]))


def requests(events: Sequence[Event]) -> list[tuple[int, Sequence[Message]]]:
    """Every request of a log, rebuilt from what was there before it."""
    return [
        (event.seq, assemble(events[: event.seq]).messages)
        for event in events
        if isinstance(event.body, RequestSent)
    ]


@behaviour("core:assemble-pure", "core:note-splits-nothing")
@given(logs.logs())
def test_each_request_continues_the_one_before_it_live_and_on_replay(events: list[Event]) -> None:
    asked = [*requests(events), (len(events), assemble(events).messages)]
    for (before, earlier), (now, later) in itertools.pairwise(asked):
        between = events[before:now]
        if not any(isinstance(event.body, ContextCompacted) for event in between):
            assert list(later[: len(earlier)]) == list(earlier)


@given(logs.logs())
def test_every_result_stands_right_behind_its_call_and_nothing_is_lost(
    events: list[Event],
) -> None:
    messages = assemble(events).messages
    place = 0
    while place < len(messages):
        first = messages[place]
        calls = [block.id for block in first.content if isinstance(block, ToolUse)]
        batch = messages[place + 1 : place + 1 + len(calls)]
        assert [message.call for message in batch] == calls
        assert first.role != "tool"
        place += 1 + len(calls)


@given(logs.logs())
def test_everything_said_since_the_last_compaction_is_shown_once(events: list[Event]) -> None:
    kinds = (UserMessage, ContextMessage)
    begin = max((e.seq for e in events if isinstance(e.body, ContextCompacted)), default=-1)
    said = [e.seq for e in events if isinstance(e.body, kinds) and e.seq > begin]
    seqs = [message.seq for message in assemble(events).messages]

    assert len(seqs) == len(set(seqs))
    assert set(said) <= set(seqs)
    in_order = [seq for seq in seqs if seq in set(said)]
    assert in_order == said


@behaviour("core:inherited-bytes")
@given(logs.logs(), st.data())
def test_what_a_child_inherits_comes_first_and_as_its_parent_had_it(
    events: list[Event], data: st.DataObject
) -> None:
    ends = [0, *(n for n, e in enumerate(events, 1) if e.body.kind == "turn/end")]
    seed = data.draw(st.sampled_from(ends))
    parent = assemble(events[:seed])
    own = place(
        [*injected("i", "framing"), *asked_and_answered("t", 9, "q", "a")], logs.CHILD, seed
    )
    child = assemble([*events[:seed], *own], seed_length=seed, session="child")

    assert child.inherited == len(parent.messages)
    assert list(child.messages[: child.inherited]) == list(parent.messages)
    assert [plain(m.content) for m in child.messages[child.inherited :]] == ["framing", "q", "a"]
    assert child.header == parent.header


@behaviour("core:assemble-pure")
@given(logs.logs())
def test_assembling_twice_gives_the_same_and_changes_nothing(events: list[Event]) -> None:
    kept = list(events)

    assert assemble(events) == assemble(tuple(events))
    assert events == kept
