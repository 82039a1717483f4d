"""Logs to test with: a hand for writing them, and whole valid ones out of hypothesis.

A valid log is what the harness writes: turns one after the other, a request sent before each
answer, every call answered before the next request, notes arriving at any moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from sidechat_mcp.core import content
from sidechat_mcp.core.content import Text, ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextCompacted,
    ContextMessage,
    Event,
    Header,
    MirrorSeen,
    Part,
    Reason,
    RequestHeader,
    RequestSent,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnKind,
    TurnStart,
    Unknown,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, SessionId, TurnId

PARENT = SessionId("parent")
CHILD = SessionId("child")
NATIVE = Header(PARENT, 0, "native", "local", "scripted")
HEAD = RequestHeader(Part("You are a model."), Part("[]"), "model-1", {"temperature": 0.5})


def child_of(parent: Sequence[Event], seed_length: int) -> Header:
    owner = parent[seed_length - 1].session
    return Header(CHILD, 1, "sidechat", "local", "scripted", owner, seed_length)


def place(bodies: Sequence[Body], session: SessionId = PARENT, start: int = 0) -> list[Event]:
    """`bodies` as a store gives them back."""
    return [
        Event(session, seq, EventId(f"{session}-{seq}"), 1000 + seq, body)
        for seq, body in enumerate(bodies, start)
    ]


def start(turn: str, number: int | None = None, of: TurnKind = "turn") -> TurnStart:
    return TurnStart(TurnId(turn), of, number)


def end(turn: str, reason: Reason = "completed", detail: str | None = None) -> TurnEnd:
    return TurnEnd(TurnId(turn), reason, detail)


def user(turn: str, words: str) -> UserMessage:
    return UserMessage(TurnId(turn), content.text(words))


def answer(turn: str, words: str = "", *calls: str, model: str | None = None) -> AssistantMessage:
    said = (Text(words),) if words else ()
    asked = tuple(ToolUse(call, "read", '{"path":"a"}') for call in calls)
    return AssistantMessage(TurnId(turn), (*said, *asked), model)


def call(turn: str, call: str) -> ToolCall:
    return ToolCall(TurnId(turn), call, "read", '{"path":"a"}')


def result(turn: str, call: str, words: str = "result") -> ToolResult:
    return ToolResult(TurnId(turn), call, content.text(words))


def note(turn: str, words: str) -> ContextMessage:
    return ContextMessage(TurnId(turn), content.text(words), {"kind": "plugin", "plugin": "x"})


def sent(turn: str) -> RequestSent:
    return RequestSent(TurnId(turn), "head", "prefix", "messages", 1)


def asked_and_answered(turn: str, number: int, question: str, words: str) -> list[Body]:
    return [
        start(turn, number),
        user(turn, question),
        sent(turn),
        answer(turn, words),
        end(turn),
    ]


def injected(turn: str, words: str) -> list[Body]:
    return [start(turn, of="injection"), note(turn, words), end(turn, "injection")]


def condensed(turn: str, *drafts: str, reason: Reason = "completed") -> list[Body]:
    told: list[Body] = []
    for words in drafts:
        told += [note(turn, "condense"), sent(turn), answer(turn, words)]
    return [start(turn, of="condense"), *told, end(turn, reason)]


@st.composite
def notes_at(draw: st.DrawFn, turn: str) -> list[Body]:
    """What may be appended by others at any moment inside an open turn."""
    bystanders: list[Body] = [
        note(turn, "a note"),
        MirrorSeen("note", "evidence"),
        Unknown("later/kind", {"kind": "later/kind", "ignorable": True}, True),
    ]
    return draw(st.lists(st.sampled_from(bystanders), max_size=2))


@st.composite
def batches(draw: st.DrawFn, turn: str, calls: Sequence[str]) -> list[Body]:
    """Calls begun and answered in any order, with notes in between; or closed by repair."""
    found: list[Body] = []
    for each in draw(st.permutations(calls)):
        begun = draw(st.booleans())
        if begun:
            found.append(call(turn, each))
        found += draw(notes_at(turn))
        told = result(turn, each, f"result of {each}")
        found.append(told if begun else replace(told, is_error=True, synthetic="NOT_STARTED"))
    return found


@st.composite
def exchanges(draw: st.DrawFn, turn: str) -> list[Body]:
    """One request of a turn: sent, perhaps lost and sent again, answered with calls or without."""
    found: list[Body] = [sent(turn), *draw(notes_at(turn))]
    if draw(st.booleans()):
        found += [sent(turn), *draw(notes_at(turn))]
    # Some models number their calls from 0 in every answer.
    calls = [f"call_{n}" for n in range(draw(st.integers(0, 3)))]
    found.append(answer(turn, draw(st.sampled_from(["", "words"])), *calls))
    found.append(Usage(TurnId(turn), 10, None))
    return found + draw(batches(turn, calls)) + draw(notes_at(turn))


@st.composite
def turns(draw: st.DrawFn, turn: str, number: int | None, of: TurnKind = "turn") -> list[Body]:
    """A whole turn, ended in any way, its calls all answered."""
    found: list[Body] = [start(turn, number, of), user(turn, f"question of {turn}")]
    found += draw(notes_at(turn))
    for _ in range(draw(st.integers(0, 3))):
        found += draw(exchanges(turn))
        if draw(st.integers(0, 9)) == 0:
            found.append(ContextCompacted(content.text("summary"), max(0, (number or 1) - 1)))
    if draw(st.booleans()):
        found += [sent(turn), *draw(notes_at(turn))]
    reasons: list[Reason] = ["completed", "max_tokens", "aborted", "error", "interrupted"]
    return [*found, end(turn, draw(st.sampled_from(reasons)))]


@st.composite
def logs(draw: st.DrawFn, session: SessionId = PARENT) -> list[Event]:
    """A valid log of a session without a parent."""
    found: list[Body] = [HEAD]
    number = 0
    for n in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["turn", "turn", "turn", "injection", "condense", "compacted"]))
        if kind == "turn":
            number += 1
            found += draw(turns(f"t{n}", number))
        elif kind == "condense":
            found += draw(turns(f"t{n}", None, "condense"))
        elif kind == "injection":
            found += injected(f"t{n}", f"injected {n}")
        else:
            found.append(ContextCompacted(content.text("summary"), number))
    return place(found, session)
