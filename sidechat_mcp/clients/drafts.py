"""A turn while it is put together, and what it becomes: drafts with ids that never change.

An id is the client's own id of the record and a digest of what the draft says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

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
    Source,
    ToolResult,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, TurnId

SHORT = 256
"""Bytes of a spelling that is kept with its draft."""
_WORD = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True)
class Item:
    """A body, and the id and time of the record that it comes from."""

    id: str
    at: int
    body: Body


@dataclass(slots=True)
class Log:
    """The drafts of all closed turns. Of the head only the model is known: a `request/header`
    stands before the turn, or the answer, with which that changes."""

    drafts: list[Draft] = field(default_factory=list[Draft])
    model: str | None = None
    _taken: dict[str, int] = field(default_factory=dict[str, int])
    _turns: dict[str, int] = field(default_factory=dict[str, int])

    def write(self, turn: Turn) -> None:
        """Append a closed turn."""
        for item in self._with_heads(turn.items):
            written = codec.dump(item.body)
            digest = hashlib.sha256(written).hexdigest()[:8]
            id = EventId(_unused(f"{named(item.id)}:{digest}", self._taken))
            self.drafts.append(draft(id, item.at, item.body, written))

    def turn(self, record: str) -> TurnId:
        """A name for a turn that begins with `record`; a record may begin only one of a name."""
        return TurnId(_unused(named(record), self._turns))

    def _with_heads(self, items: list[Item]) -> Iterator[Item]:
        """The model of a turn's first answer was chosen when the turn began."""
        answers = [item for item in items if _model(item) is not None]
        for place, item in enumerate(items):
            asked = answers[0] if place == 0 and answers else item
            model = _model(asked)
            if model is not None and model != self.model:
                self.model = model
                yield Item(asked.id, item.at, RequestHeader(model=model))
            yield item


@dataclass(slots=True)
class Turn:
    """`latest` is the id and time of the newest record here, `calls` have no result yet (each
    with the record that asked for it). `tail` is `done` after an answer that calls nothing."""

    id: TurnId
    of: Literal["turn", "injection"]
    number: int | None
    items: list[Item]
    latest: tuple[str, int]
    calls: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    tail: Literal["asking", "done"] = "asking"
    cancelled: bool = False

    def said(self, record: str, at: int, content: Content) -> None:
        self._add(record, at, UserMessage(self.id, content))
        self.tail = "asking"

    def context(self, record: str, at: int, content: Content, source: Source) -> None:
        self._add(record, at, ContextMessage(self.id, content, source))

    def answer(self, record: str, at: int, content: Content, model: str | None) -> None:
        self._add(record, at, AssistantMessage(self.id, content, model))
        asked = [block.id for block in content if isinstance(block, ToolUse)]
        self.calls |= dict.fromkeys(asked, (record, at))
        self.tail = "asking" if asked else "done"

    def result(self, record: str, at: int, call: str, content: Content, is_error: bool) -> None:
        del self.calls[call]
        self._add(record, at, ToolResult(self.id, call, content, is_error))

    def spent(
        self,
        record: str,
        at: int,
        counts: tuple[int | None, int | None, int | None, int | None],
        ids: Mapping[str, str],
    ) -> None:
        self._add(record, at, Usage(self.id, *counts, ids))

    def anew(self, record: str, at: int, summary: Content, covers: int) -> None:
        self._add(record, at, ContextCompacted(summary, covers))

    def repair(self) -> int:
        """Close every open call with a result that says so; how many there were."""
        calls, self.calls, latest = self.calls, {}, self.latest
        turn = session.Turn(self.id, self.of, self.number, 0, started=tuple(calls))
        for (record, at), body in zip(calls.values(), balance.closing(turn, "error"), strict=False):
            self._add(record, at, body)
        self.latest = latest
        return len(calls)

    def end(self, reason: Reason, detail: str | None = None) -> None:
        self._add(*self.latest, TurnEnd(self.id, reason, detail))

    def _add(self, record: str, at: int, body: Body) -> None:
        self.latest = (record, at)
        self.items.append(Item(record, at, body))


def opened(
    log: Log, record: str, at: int, of: Literal["turn", "injection"], number: int | None
) -> Turn:
    """A turn that begins with `record`."""
    id = log.turn(record)
    return Turn(id, of, number, [Item(record, at, TurnStart(id, of, number))], (record, at))


def draft(id: EventId, at: int, body: Body, written: bytes) -> Draft:
    """A draft that brings a short spelling along. To write a long one again takes little time
    beside reading it, and to hold it takes as much memory as the whole conversation."""
    return Draft(id, at, body, written if len(written) <= SHORT else None)


def named(id: str) -> str:
    """A record's id as one word; most clients' own ones are."""
    if _WORD.fullmatch(id):
        return id
    return "x" + hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _model(item: Item) -> str | None:
    return item.body.model if isinstance(item.body, AssistantMessage) else None


def _unused(wanted: str, taken: dict[str, int]) -> str:
    """`wanted`, or with the number of times that it was; `taken` counts these."""
    name = wanted
    while name in taken:
        taken[wanted] += 1
        name = f"{wanted}-{taken[wanted]}"
    taken[name] = 1
    return name
