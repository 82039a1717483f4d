"""log → what the model sees. Pure and deterministic: the same events give the same context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sidechat_mcp.core.content import Content, ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    ContextCompacted,
    ContextMessage,
    Event,
    RequestHeader,
    RequestSent,
    Source,
    ToolResult,
    TurnEnd,
    TurnStart,
    Unknown,
    Usage,
    UserMessage,
)

Role = Literal["user", "context", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request, in a provider's neutral words.

    `context` messages go out as user messages. A `tool` message answers the call `call`. `turn`
    is the number of the turn it belongs to (None in injection and condense turns), `seq` the
    place of its event, `model` who wrote an answer where that is known. None of `turn`, `seq`,
    `source` and `model` is sent to a model or digested."""

    role: Role
    content: Content
    call: str | None = None
    is_error: bool = False
    turn: int | None = None
    seq: int = -1
    source: Source | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """A whole request: the head in force and the messages. `inherited` is how many of the
    messages come from before `fork_at` (0 without a fork); `session` is the asking session.
    `last_response` is the provider's id of the last response under this head, a parent's
    included: a provider that can compare prefixes compares with that one. What answered under
    another head may be another provider's, and is nothing to compare with."""

    header: RequestHeader
    messages: Sequence[Message]
    inherited: int = 0
    session: str = ""
    last_response: str | None = None


def assemble(events: Sequence[Event], *, seed_length: int = 0, session: str = "") -> Context:
    """The context that `events` (a whole lineage, from seq 0) add up to.

    - The last `request/header` counts. Context begins at the last `context/compacted`, shown as
      a context message of source `{"kind": "compaction"}`.
    - A `context/message` that arrived while a request was in flight, or between a call and its
      result, comes after that whole answer and its batch of results (law 7).
    - Results stand in the order of the calls of their message, right behind it. A result whose
      call is not in the context, or was answered before, is left out.
    - An open call (no result yet) and everything of its batch is still shown as it is; repair
      is not done here.
    - A handback with `carrier: "client"` in its source is in no context, nor is a message
      without content.
    - `usage`, `mirror/seen`, `request/sent` and ignorable unknown events are no context; an
      unknown event that is not ignorable raises ValueError."""
    growing = _Growing()
    for event in events:
        growing.take(event)
    messages = growing.shown()
    inherited = sum(message.seq < seed_length for message in messages)
    return Context(growing.header, messages, inherited, session, growing.last_response)


_COMPACTION: Source = {"kind": "compaction"}


@dataclass(slots=True)
class _Batch:
    """An answer and its results, or any other message alone. It grows only from inside, so a
    result that comes late still stands behind its call."""

    first: Message
    calls: Sequence[str] = ()
    results: list[Message | None] = field(default_factory=list[Message | None])

    def fill(self, result: Message) -> None:
        """Put `result` where its open call is; without one it goes nowhere."""
        for place, call in enumerate(self.calls):
            if call == result.call and self.results[place] is None:
                self.results[place] = result
                return


@dataclass(slots=True)
class _Growing:
    """A context while events come in. `waiting` are messages that arrived while a request was
    in flight: they go behind its answer. Without an answer they stay at the end, and the next
    request has them there for good."""

    header: RequestHeader = field(default_factory=RequestHeader)
    batches: list[_Batch] = field(default_factory=list[_Batch])
    waiting: list[_Batch] = field(default_factory=list[_Batch])
    by_call: dict[str, _Batch] = field(default_factory=dict[str, _Batch])
    in_flight: bool = False
    number: int | None = None
    last_response: str | None = None

    def take(self, event: Event) -> None:
        body = event.body
        match body:
            case UserMessage():
                self.arrive(Message("user", body.content, turn=self.number, seq=event.seq))
            case ContextMessage() if not _carried_elsewhere(body.source):
                self.arrive(
                    Message(
                        "context", body.content, None, False, self.number, event.seq, body.source
                    )
                )
            case AssistantMessage():
                self.answer(body, event.seq)
            case ToolResult():
                self.result(body, event.seq)
            case Usage():
                self.last_response = body.ids.get("response", self.last_response)
            case RequestHeader():
                self.header, self.last_response = body, None
            case ContextCompacted():
                self.compact(body.summary, event.seq)
            case RequestSent():
                self.settle()
                self.in_flight = True
            case TurnStart():
                self.settle()
                self.number = body.number
            case TurnEnd():
                self.number = None
            case Unknown(ignorable=False):
                raise ValueError(
                    f"Event {event.seq} is a {body.name!r}, which only a newer version can read."
                )
            case _:
                pass

    def arrive(self, message: Message) -> None:
        if message.content:
            (self.waiting if self.in_flight else self.batches).append(_Batch(message))

    def answer(self, body: AssistantMessage, seq: int) -> None:
        content = body.content
        if content:
            calls = [block.id for block in content if isinstance(block, ToolUse)]
            message = Message("assistant", content, None, False, self.number, seq, None, body.model)
            batch = _Batch(message, calls, [None] * len(calls))
            self.batches.append(batch)
            self.by_call |= dict.fromkeys(calls, batch)
        self.settle()

    def result(self, body: ToolResult, seq: int) -> None:
        batch = self.by_call.get(body.call)
        if batch is not None:
            batch.fill(Message("tool", body.content, body.call, body.is_error, self.number, seq))

    def compact(self, summary: Content, seq: int) -> None:
        # What waits was in no request yet, so the summary does not stand for it. A result that
        # is still to come goes to its batch, which is shown no more.
        self.batches = [_Batch(Message("context", summary, seq=seq, source=_COMPACTION))]

    def settle(self) -> None:
        """Nothing is waited for any more: what arrived meanwhile gets its place."""
        self.batches += self.waiting
        self.waiting = []
        self.in_flight = False

    def shown(self) -> Sequence[Message]:
        return [
            message
            for batch in (*self.batches, *self.waiting)
            for message in (batch.first, *batch.results)
            if message is not None
        ]


def _carried_elsewhere(source: Source) -> bool:
    """A mirror's handback: the client's own record carries it, where its model saw it."""
    return source.get("role") == "handback" and source.get("carrier") == "client"
