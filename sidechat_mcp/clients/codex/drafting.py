"""A turn while it is put together, and what it becomes: drafts with ids that never change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sidechat_mcp.clients.codex.records import Record, Said, Tokens
from sidechat_mcp.clients.drafts import draft
from sidechat_mcp.core import balance, codec, session
from sidechat_mcp.core.content import Block, Content, ToolUse
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
    TurnKind,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, TurnId

NAME = "codex"


@dataclass(frozen=True, slots=True)
class Item:
    """A body and the record it comes from."""

    name: str
    at: int
    body: Body


class Behind(Exception):
    """What is told reaches behind the place where the reading began."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A closed turn as it was written. `asked` says that a person asked something in it; `model`
    is the one in force before it, `number` the last number given before it."""

    drafts: Sequence[Draft]
    asked: bool
    model: str | None
    number: int
    delivered: Mapping[str, str]


@dataclass(slots=True)
class Log:
    """All closed turns, or (with `further`) those after some that are not here. A
    `request/header` opens each stretch of one model. `taken` are the names given, in order."""

    segments: list[Segment] = field(default_factory=list[Segment])
    taken: dict[str, None] = field(default_factory=dict[str, None])
    model: str | None = None
    number: int = 0
    further: bool = False

    def write(self, turn: Turn, reason: Reason, detail: str | None) -> None:
        """Append a turn that is over; one in which nothing was said is none."""
        of = turn.of
        if of is None:
            return
        before = (self.model, self.number)
        if of == "turn":
            self.number += 1
        number = self.number if of == "turn" else None
        end: Reason = reason if of == "turn" else "injection"
        first, last = turn.first, turn.latest
        items = [
            Item(first.name, first.at, TurnStart(turn.id, of, number)),
            *self._with_headers(turn),
            Item(last.name, last.at, TurnEnd(turn.id, end, detail if of == "turn" else None)),
        ]
        drafts = [self._draft(one) for one in items]
        self.segments.append(Segment(drafts, turn.asked, *before, dict(turn.delivered)))

    def drop(self, turns: int) -> None:
        """Take back the last `turns` turns that a person asked for, and all that follows them."""
        left = turns
        while left > 0 and self.segments:
            gone = self.segments.pop()
            self.model, self.number = gone.model, gone.number
            left -= gone.asked
        if left > 0 and self.further:
            raise Behind

    def drafts(self) -> list[Draft]:
        return [draft for segment in self.segments for draft in segment.drafts]

    def turn(self, name: str) -> TurnId:
        """`name`, or what is like it and not taken."""
        return TurnId(self._free(name))

    def _with_headers(self, turn: Turn) -> Iterator[Item]:
        for item in turn.items:
            if isinstance(item.body, RequestHeader):
                if turn.of != "turn" or item.body.model == self.model:
                    continue
                self.model = item.body.model
            yield item

    def _draft(self, item: Item) -> Draft:
        written = codec.dump(item.body)
        digest = hashlib.sha256(written).hexdigest()[:8]
        id = EventId(self._free(f"{item.name}:{digest}"))
        return draft(id, item.at, item.body, written)

    def _free(self, wanted: str) -> str:
        name, times = wanted, 1
        while name in self.taken:
            times += 1
            name = f"{wanted}-{times}"
        self.taken[name] = None
        return name


@dataclass(slots=True)
class Turn:
    """`first` and `latest` are the records it comes from. `calls` have no result yet. `growing`
    is the place of the answer whose parts still come in. `tail` says how far the last answer
    has come: `text` reads like an end, `done` was counted after that. `implied` turns are told
    by nothing but a person's words."""

    id: TurnId
    first: Record
    latest: Record
    implied: bool = False
    items: list[Item] = field(default_factory=list[Item])
    calls: dict[str, Record] = field(default_factory=dict[str, Record])
    growing: int | None = None
    asked: bool = False
    answered: bool = False
    tail: str = "prompt"
    delivered: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def of(self) -> TurnKind | None:
        """What kind of turn it is, by what it holds; None with nothing that a model was shown."""
        if self.asked or self.answered:
            return "turn"
        kinds = ContextMessage | ContextCompacted | AssistantMessage
        return "injection" if any(isinstance(one.body, kinds) for one in self.items) else None

    @property
    def done(self) -> bool:
        return self.tail == "done" and not self.calls

    def chose(self, record: Record, model: str) -> None:
        self._add(record, RequestHeader(model=model))

    def said(self, record: Record, says: Said, *, typed: bool) -> None:
        self.growing = None
        if not says.content:
            return
        if typed:
            self.asked = True
            self._add(record, UserMessage(self.id, says.content))
            self.tail = "prompt"
        else:
            self._add(record, ContextMessage(self.id, says.content, _source(says)))

    def answer(self, record: Record, content: Content, model: str | None) -> None:
        """Add a part of an answer to the one that is growing, or begin the next."""
        if not content:
            return
        if self.growing is None:
            self.growing = len(self.items)
            self._add(record, AssistantMessage(self.id, content, model))
        else:
            item = self.items[self.growing]
            assert isinstance(item.body, AssistantMessage)
            body = replace(item.body, content=item.body.content + content)
            self.items[self.growing] = replace(item, body=body)
            self.latest = record
        self.answered = True
        for block in content:
            if isinstance(block, ToolUse):
                self.calls[block.id] = record
        self.tail = "text" if _readable(content[-1]) else "part"

    def result(self, record: Record, call: str, content: Content) -> None:
        self.growing = None
        del self.calls[call]
        self._add(record, ToolResult(self.id, call, content))
        self.tail = "part"

    def spent(self, record: Record, tokens: Tokens, ids: Mapping[str, str]) -> None:
        """A whole response was counted: what comes now belongs to another one."""
        self.growing = None
        self._add(
            record,
            Usage(
                self.id,
                tokens.input,
                tokens.output,
                tokens.cache_read,
                tokens.cache_write,
                dict(ids),
            ),
        )
        if self.tail == "text":
            self.tail = "done"

    def anew(self, record: Record, summary: Content, covers: int) -> None:
        """Context begins anew here. Without a question before it, what was answered so far is
        the compactor's own and stands for no turn."""
        self.growing = None
        self.repair()
        if not self.asked:
            self.items = [one for one in self.items if isinstance(one.body, Usage)]
            self.answered = False
        self._add(record, ContextCompacted(summary, covers))

    def repair(self) -> None:
        """Close every open call with a result that says so."""
        calls, self.calls = self.calls, {}
        turn = session.Turn(self.id, "turn", None, 0, started=tuple(calls))
        latest = self.latest
        for record, body in zip(calls.values(), balance.closing(turn, "error"), strict=False):
            self._add(record, body)
        self.latest = latest

    def _add(self, record: Record, body: Body) -> None:
        self.latest = record
        self.items.append(Item(record.name, record.at, body))


def _source(says: Said) -> Source:
    return {"kind": "client", "client": NAME, "what": says.what, "role": says.role}


def _readable(block: Block) -> bool:
    return not isinstance(block, ToolUse) and block.type == "text"
