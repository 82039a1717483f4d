"""A turn while it is put together, and what it becomes: drafts with ids that never change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from sidechat_mcp.clients.opencode.parts import Call
from sidechat_mcp.clients.opencode.records import Answer, Record, Said
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
    ToolResult,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, TurnId

NAME = "opencode"
_WORD = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True)
class Item:
    """A body and the message it comes from."""

    id: str
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
            self.drafts.append(Draft(self._id(item), item.at, item.body))

    def _with_headers(self, items: list[Item]) -> Iterator[Item]:
        """The model of a turn's first answer was there when the turn began."""
        first = next((one for one in items if _model(one) is not None), None)
        for place, item in enumerate(items):
            header = first if place == 0 else item
            model = _model(header) if header is not None else None
            if header is not None and model is not None and model != self.model:
                self.model = model
                yield Item(header.id, item.at, RequestHeader(model=model))
            yield item

    def _id(self, item: Item) -> EventId:
        digest = hashlib.sha256(codec.dump(item.body)).hexdigest()[:8]
        wanted = name = f"{named(item.id)}:{digest}"
        times = 1
        while name in self.taken:
            times += 1
            name = f"{wanted}-{times}"
        self.taken.add(name)
        return EventId(name)


@dataclass(slots=True)
class Turn:
    """`asked` is the message that the model is answering; None while the client itself goes on
    after a compaction. `calls` have no result yet. `last` is the newest answer of the model,
    `latest` the newest message that anything here comes from."""

    id: TurnId
    of: Literal["turn", "injection"]
    number: int | None
    items: list[Item]
    latest: Record
    asked: str | None
    calls: dict[str, tuple[Record, Call]] = field(default_factory=dict[str, tuple[Record, Call]])
    last: Answer | None = None

    @property
    def running(self) -> bool:
        """Whether the client was about to ask its model again."""
        last = self.last
        return last is not None and last.whole and last.failure is None

    def show(self, record: Record) -> None:
        """What stands in the model's context without being what this turn is about."""
        match record.says:
            case Answer() as says:
                self._tell(record, says)
            case Said(content=content, typed=True) if content:
                self._add(record, UserMessage(self.id, content))
            case Said(content=content, compaction=compaction) if content:
                what = "synthetic" if compaction is None else "compaction"
                source = {"kind": "client", "client": NAME, "what": what, "role": "user"}
                self._add(record, ContextMessage(self.id, content, source))
            case _:
                pass

    def answer(self, record: Record, says: Answer) -> None:
        """The model's next answer, or one that broke off."""
        self.last, self.latest = says, record
        self._tell(record, says)
        self.spent(record, says)

    def spent(self, record: Record, says: Answer) -> None:
        if (tokens := says.tokens) is not None:
            counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
            self._add(record, Usage(self.id, *counts, {"message": named(record.id)}))

    def anew(self, record: Record, summary: Content, covers: int) -> None:
        """Context begins anew here."""
        self._add(record, ContextCompacted(summary, covers))

    def repair(self) -> int:
        """Close every open call with a result that says so; how many there were."""
        calls, self.calls = self.calls, {}
        begun = tuple(id for id, (_, call) in calls.items() if call.begun)
        heard = tuple(id for id in calls if id not in begun)
        turn = session.Turn(self.id, self.of, self.number, 0, started=begun, asked=heard)
        latest = self.latest
        for body in balance.closing(turn, "error"):
            if isinstance(body, ToolResult):
                self._add(calls[body.call][0], body)
        self.latest = latest
        return len(calls)

    def end(self, reason: Reason, detail: str | None = None) -> None:
        self._add(self.latest, TurnEnd(self.id, reason, detail))

    def _tell(self, record: Record, says: Answer) -> None:
        if hidden(says):
            return
        for step in says.steps:
            repeated = {call.id for call in step.calls if call.id in self.calls}
            content = tuple(one for one in step.content if not _is_call(one, repeated))
            if content:
                body = AssistantMessage(self.id, content, says.model, says.finish)
                self._add(record, body)
            for call in step.calls:
                if call.id in repeated:
                    continue
                if call.result is None:
                    self.calls[call.id] = (record, call)
                else:
                    body = ToolResult(self.id, call.id, call.result, call.is_error)
                    self._add(record, body)

    def _add(self, record: Record, body: Body) -> None:
        self.latest = record
        self.items.append(Item(record.id, record.at, body))


def opened(
    record: Record, of: Literal["turn", "injection"], number: int | None, asked: str | None
) -> Turn:
    """A turn that begins with `record`."""
    turn = TurnId(named(record.id))
    first = Item(record.id, record.at, TurnStart(turn, of, number))
    return Turn(turn, of, number, [first], record, asked)


def named(id: str) -> str:
    """A message's id as one word; the client's own ones are."""
    if _WORD.fullmatch(id):
        return id
    return "x" + hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def hidden(says: Answer) -> bool:
    """Whether the client shows its model nothing of an answer: it ended in an error, or was
    interrupted before it said anything."""
    failure = says.failure
    if failure is None:
        return not says.steps
    return not failure.interrupted or not any(map(_says, _blocks(says)))


def _blocks(says: Answer) -> Iterator[Block]:
    for step in says.steps:
        yield from step.content


def _says(block: Block) -> bool:
    return block.type != "thinking"


def _is_call(block: Block, ids: set[str]) -> bool:
    return isinstance(block, ToolUse) and block.id in ids


def _model(item: Item) -> str | None:
    return item.body.model if isinstance(item.body, AssistantMessage) else None
