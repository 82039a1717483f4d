"""A turn while it is put together, and what it becomes: drafts with ids that never change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from sidechat_mcp.clients.pi.says import Answer, Record, Result, Tokens
from sidechat_mcp.core import balance, codec, session
from sidechat_mcp.core.content import Content, ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextCompacted,
    ContextMessage,
    Draft,
    Reason,
    RequestHeader,
    ToolResult,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, TurnId

NAME = "pi"
_WORD = re.compile(r"[A-Za-z0-9_-]{1,80}")
_GOES_ON = ("toolUse", "deferred", "pending")


@dataclass(frozen=True, slots=True)
class Item:
    """A body and the entry it comes from; an answer comes with the head it was asked under."""

    entry: Record
    body: Body
    head: RequestHeader | None = None


@dataclass(slots=True)
class Log:
    """The drafts of all closed turns; a `request/header` stands where the head changes."""

    drafts: list[Draft] = field(default_factory=list[Draft])
    taken: dict[str, None] = field(default_factory=dict[str, None])
    head: RequestHeader | None = None

    def write(self, turn: Turn) -> None:
        """Append a closed turn."""
        for item in self._with_heads(turn.items):
            self.drafts.append(Draft(self._id(item), item.entry.at, item.body))

    def _with_heads(self, items: list[Item]) -> Iterator[Item]:
        """The head of a turn's first answer was there when the turn began."""
        first = next((item for item in items if item.head is not None), None)
        for place, item in enumerate(items):
            asked = first if place == 0 else item
            if asked is not None and asked.head is not None and asked.head != self.head:
                self.head = asked.head
                yield Item(replace(asked.entry, at=item.entry.at), asked.head)
            yield item

    def _id(self, item: Item) -> EventId:
        said = hashlib.sha256(item.entry.mark)
        said.update(_kind(item.body).encode("utf-8", "surrogatepass"))
        wanted = name = f"{named(item.entry.id)}:{said.hexdigest()[:8]}"
        times = 1
        while name in self.taken:
            times += 1
            name = f"{wanted}-{times}"
        self.taken[name] = None
        return EventId(name)


@dataclass(slots=True)
class Turn:
    """`latest` is the newest entry that anything here comes from. `calls` have no result yet.
    `tail` says how far the turn has come: `asking` waits for an answer (after a message or a
    whole batch of results), `lost` had an answer that did not come to its end."""

    id: TurnId
    of: Literal["turn", "injection"]
    number: int | None
    items: list[Item]
    latest: Record
    calls: dict[str, Record] = field(default_factory=dict[str, Record])
    tail: Literal["asking", "lost", "done"] = "asking"
    lost: Answer | None = None
    stop: str | None = None

    def said(self, record: Record, content: Content) -> None:
        self._add(record, UserMessage(self.id, content))

    def context(self, record: Record, content: Content, what: str) -> None:
        source = {"kind": "client", "client": NAME, "what": what, "role": "user"}
        self._add(record, ContextMessage(self.id, content, source))

    def answer(self, record: Record, says: Answer, head: RequestHeader | None) -> None:
        self._add(record, AssistantMessage(self.id, says.content, says.model, says.stop), head)
        for block in says.content:
            if isinstance(block, ToolUse):
                self.calls[block.id] = record
        self.tail = "asking" if self.calls or says.stop in _GOES_ON else "done"
        self.stop = says.stop

    def result(self, record: Record, says: Result) -> None:
        del self.calls[says.call]
        self._add(record, ToolResult(self.id, says.call, says.content, says.is_error))

    def spent(self, record: Record, tokens: Tokens | None, response: str | None) -> None:
        if tokens is not None:
            ids = {"response": response} if response is not None else {}
            counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
            self._add(record, Usage(self.id, *counts, ids))

    def drop(self, record: Record, says: Answer) -> None:
        """An answer that pi shows no more: what it cost, and why it ended, is what is left."""
        self.spent(record, says.tokens, says.response)
        self.latest, self.tail, self.lost = record, "lost", says

    def anew(self, record: Record, summary: Content, covers: int) -> None:
        self._add(record, ContextCompacted(summary, covers))

    def repair(self) -> int:
        """Close every open call with a result that says so; how many there were."""
        if not self.calls:
            return 0
        calls, self.calls = self.calls, {}
        turn = session.Turn(self.id, self.of, self.number, 0, started=tuple(calls))
        latest = self.latest
        for record, body in zip(calls.values(), balance.closing(turn, "error"), strict=False):
            self._add(record, body)
        self.latest = latest
        return len(calls)

    def end(self, reason: Reason, detail: str | None = None) -> None:
        self._add(self.latest, TurnEnd(self.id, reason, detail))

    def _add(self, record: Record, body: Body, head: RequestHeader | None = None) -> None:
        self.latest = record
        self.items.append(Item(record, body, head))


def opened(record: Record, of: Literal["turn", "injection"], number: int | None) -> Turn:
    """A turn that begins with `record`."""
    turn = TurnId(named(record.id))
    first = Item(record, TurnStart(turn, of, number))
    return Turn(turn, of, number, [first], record)


def _kind(body: Body) -> str:
    """What one entry says several times over is told apart by what it is said as."""
    match body:
        case TurnStart(of=of, number=number):
            return f"{of} {number}"
        case TurnEnd(reason=reason):
            return reason
        case ToolResult(call=call):
            return f"result {call}"
        case RequestHeader():  # What it says stands in entries before its own.
            return codec.dump(body).decode("utf-8", "surrogatepass")
        case _:
            return body.kind


def named(id: str) -> str:
    """An entry's id as one word; the client's own ones are."""
    if _WORD.fullmatch(id):
        return id
    return "x" + hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
