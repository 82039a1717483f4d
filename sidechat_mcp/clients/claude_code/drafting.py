"""A turn while it is put together, and what it becomes: drafts with ids that never change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sidechat_mcp.clients.claude_code.blocks import Outcome
from sidechat_mcp.clients.claude_code.records import (
    Answer,
    Record,
    Results,
    Said,
    Shown,
    Tokens,
)
from sidechat_mcp.clients.drafts import draft
from sidechat_mcp.core import balance, codec, session
from sidechat_mcp.core.content import Block, Content, Text, Thinking, ToolUse
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

NAME = "claude-code"

_WORD = re.compile(r"[A-Za-z0-9_-]{1,80}")
_PARTS = ("tool_use", "pause_turn")
_SHOWN_AS = {"output": "command output"}


@dataclass(frozen=True, slots=True)
class Item:
    """A body and the record it comes from."""

    uuid: str
    at: int
    body: Body


@dataclass(slots=True)
class Log:
    """The drafts of all closed turns. A `request/header` opens each stretch of one model."""

    drafts: list[Draft] = field(default_factory=list[Draft])
    taken: set[str] = field(default_factory=set[str])
    model: str | None = None

    def write(self, turn: Turn) -> None:
        """Append a closed turn."""
        items = turn.items
        if turn.of == "turn":
            items = list(self._with_headers(items))
        for item in items:
            written = codec.dump(item.body)
            self.drafts.append(draft(self._id(item, written), item.at, item.body, written))

    def _with_headers(self, items: list[Item]) -> Iterator[Item]:
        first = next((one for one in items if _model(one) is not None), None)
        for place, item in enumerate(items):
            header = first if place == 0 else item
            model = _model(header) if header is not None else None
            if header is not None and model is not None and model != self.model:
                self.model = model
                yield Item(header.uuid, item.at, RequestHeader(model=model))
            yield item

    def _id(self, item: Item, written: bytes) -> EventId:
        digest = hashlib.sha256(written).hexdigest()[:8]
        wanted = name = f"{_name(item.uuid)}:{digest}"
        times = 1
        while name in self.taken:
            times += 1
            name = f"{wanted}-{times}"
        self.taken.add(name)
        return EventId(name)


@dataclass(slots=True)
class Turn:
    """`latest` is the newest record that anything here comes from. `calls` have no result yet.
    `tail` says how far the answer has come: `done` came to its end, `unsure` looks whole but its
    record does not say so. `waiting` is context that came after such an answer. `places` are the
    messages that may still grow."""

    id: TurnId
    of: Literal["turn", "injection"]
    number: int | None
    items: list[Item]
    latest: Record
    calls: dict[str, Record] = field(default_factory=dict[str, Record])
    waiting: list[Record] = field(default_factory=list[Record])
    places: dict[str, int] = field(default_factory=dict[str, int])
    counted: dict[str, int] = field(default_factory=dict[str, int])
    tail: Literal["prompt", "part", "unsure", "done"] = "prompt"
    stop: str | None = None
    cut: bool = False
    last: Block | None = None
    version: str | None = None

    @property
    def done(self) -> bool:
        return self.tail == "done" and not self.calls

    @property
    def thinking(self) -> bool:
        """Whether more of the same answer must follow, whatever its records say."""
        return isinstance(self.last, Thinking)

    def whole(self, null_is_done: bool) -> bool:
        """Whether nothing is missing from the answer."""
        unsure = self.tail == "unsure" and null_is_done and not self.calls and not self.cut
        return self.done or unsure

    def said(self, record: Record) -> None:
        self._add(record, UserMessage(self.id, _words(record)))

    def context(self, record: Record) -> None:
        self._add(record, ContextMessage(self.id, _words(record), _source(record)))

    def flush(self) -> None:
        """What waited belongs to this turn: it goes on."""
        waiting, self.waiting = self.waiting, []
        for record in waiting:
            self.context(record)

    def result(self, record: Record, outcome: Outcome) -> None:
        del self.calls[outcome.call]
        body = ToolResult(self.id, outcome.call, outcome.content, outcome.is_error)
        self._add(record, body)
        self.tail = "part"

    def answer(self, record: Record, says: Answer, *, counted: bool = True) -> None:
        """Add a block, or more, of a message that may have begun before."""
        self.latest = record
        place = self.places.get(says.message)
        before: Content = ()
        if place is None:
            self.places[says.message] = len(self.items)
            self._add(record, AssistantMessage(self.id, says.content, says.model, says.stop))
        else:
            item = self.items[place]
            assert isinstance(item.body, AssistantMessage)
            before = item.body.content
            body = replace(
                item.body,
                content=before + tuple(_fresh(says.content, before)),
                stop=says.stop or item.body.stop,
            )
            self.items[place] = replace(item, body=body)
        for block in _fresh(says.content, before):
            if isinstance(block, ToolUse):
                self.calls[block.id] = record
        if counted and says.tokens is not None:
            self._count(record, says, says.tokens)
        self._judge(record, says)

    def anew(self, record: Record, body: ContextCompacted) -> None:
        """Context begins anew here; messages from before it no longer grow."""
        self.places = {}
        self._add(record, body)

    def repair(self) -> int:
        """Close every open call with a result that says so; how many there were."""
        calls, self.calls = self.calls, {}
        turn = session.Turn(self.id, self.of, self.number, 0, started=tuple(calls))
        latest = self.latest
        for record, body in zip(calls.values(), balance.closing(turn, "error"), strict=False):
            self._add(record, body)
        self.latest = latest
        return len(calls)

    def end(self, reason: Reason, detail: str | None = None) -> None:
        self._add(self.latest, TurnEnd(self.id, reason, detail))

    def messages(self) -> Iterator[tuple[str, Content]]:
        for message, place in self.places.items():
            body = self.items[place].body
            if isinstance(body, AssistantMessage):
                yield message, body.content

    def _judge(self, record: Record, says: Answer) -> None:
        self.version, self.cut = record.version, says.cut
        self.stop = says.stop
        if says.content:
            self.last = says.content[-1]
        if says.stop is not None:
            self.tail = "part" if says.stop in _PARTS or says.cut else "done"
        else:
            self.tail = "unsure" if isinstance(self.last, Text) else "part"

    def _count(self, record: Record, says: Answer, tokens: Tokens) -> None:
        ids = {"message": says.message} | ({"request": says.request} if says.request else {})
        body = Usage(
            self.id,
            _whole_prompt(tokens),
            tokens.output,
            tokens.cache_read,
            tokens.cache_write,
            ids,
        )
        place = self.counted.get(says.message)
        if place is None:
            self.counted[says.message] = len(self.items)
            self._add(record, body)
        else:
            self.items[place] = replace(self.items[place], body=body)

    def _add(self, record: Record, body: Body) -> None:
        self.latest = record
        self.items.append(Item(record.uuid, record.at, body))


def opened(record: Record, of: Literal["turn", "injection"], number: int | None) -> Turn:
    """A turn that begins with `record`."""
    turn = TurnId(_name(record.uuid))
    first = Item(record.uuid, record.at, TurnStart(turn, of, number))
    return Turn(turn, of, number, [first], record)


def _model(item: Item) -> str | None:
    return item.body.model if isinstance(item.body, AssistantMessage) else None


def _name(uuid: str) -> str:
    """`uuid` as one word; the client's own ones are."""
    if _WORD.fullmatch(uuid):
        return uuid
    return "x" + hashlib.sha256(uuid.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _words(record: Record) -> Content:
    match record.says:
        case Said(content=content) | Shown(content=content) | Results(rest=Said(content=content)):
            return content
        case _:
            return ()


def _source(record: Record) -> Source:
    source: dict[str, Any] = {"kind": "client", "client": NAME}
    match record.says:
        case Shown(what=what, role=role):
            return source | {"what": what, "role": role}
        case Said(form=form) | Results(rest=Said(form=form)):
            return source | {"what": _SHOWN_AS.get(form, form), "role": "user"}
        case _:
            return source


def _fresh(content: Content, before: Content) -> Iterable[Block]:
    """The blocks of `content` that are no call of `before` once more."""
    calls = {block.id for block in before if isinstance(block, ToolUse)}
    for block in content:
        if not isinstance(block, ToolUse):
            yield block
        elif block.id not in calls:
            calls.add(block.id)
            yield block


def _whole_prompt(tokens: Tokens) -> int | None:
    if tokens.uncached is None:
        return None
    return tokens.uncached + (tokens.cache_read or 0) + (tokens.cache_write or 0)
