"""What a client's records say, in neutral words → whole closed turns as drafts. Pure; what comes
later in a file never changes the drafts of a turn that was closed before it.

Each reader knows one spelling and says what stands there; how turns come of it stands here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sidechat_mcp.clients.drafts import Log, Turn, opened
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.core.content import Content, Text, ToolUse
from sidechat_mcp.core.events import Draft, Reason
from sidechat_mcp.core.handback import seen

LATE = "late or repeated result"


@dataclass(frozen=True, slots=True)
class Shown:
    """What the client put before its model; `what` is the client's word for it."""

    content: Content
    what: str


@dataclass(frozen=True, slots=True)
class Said:
    """A person's message, and what the client put `before` it. It begins a turn; one that
    `joins` is heard inside the open turn."""

    content: Content
    joins: bool = False
    before: Sequence[Shown] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """As reported; None = not reported. `input` is the whole prompt."""

    input: int | None
    output: int | None
    cache_read: int | None = None
    cache_write: int | None = None
    response: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the model. One that says something and calls nothing is the last of its
    turn; where the client marks the end itself (`marked`), the turn waits for that mark."""

    content: Content
    model: str | None = None
    tokens: Tokens | None = None
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What the model was told of a call."""

    call: str
    content: Content
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """What a request cost, where the client writes it down apart from the answer."""

    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Compacted:
    """Context begins anew with `summary`, and `kept` is shown again behind it."""

    summary: Content
    kept: Sequence[Shown | Said | Answer | Result] = ()


@dataclass(frozen=True, slots=True)
class Over:
    """The client says that a turn is over: `completed` is believed when nothing is missing."""

    reason: Reason
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The person called off what was going on; what the client still writes down counts."""


Saying = Said | Shown | Answer | Result | Spent | Compacted | Over | Cancelled


@dataclass(frozen=True, slots=True)
class Record:
    """`id` is the client's, `at` when it was written, in milliseconds since 1970 (0: unknown)."""

    id: str
    at: int
    says: Saying


@dataclass(frozen=True, slots=True)
class Told:
    """The closed turns, and counts of what follows them."""

    drafts: Sequence[Draft]
    open_turns: int = 0
    open_events: int = 0
    open_calls: int = 0
    repaired: int = 0
    delivered: Mapping[str, str] = field(default_factory=dict[str, str])


def tell(client: str, records: Iterable[Record], tally: Tally) -> Told:
    """Everything that `records` say, in turns."""
    teller = _Teller(client, tally)
    for record in records:
        teller.take(record)
    return teller.told()


def pending(records: Iterable[Record]) -> Sequence[tuple[ToolUse, int]]:
    """The calls that wait for a result at the end of `records`, with when they were asked for."""
    asked: dict[str, tuple[ToolUse, int]] = {}
    for record in records:
        match record.says:
            case Answer(content=content):
                calls = [block for block in content if isinstance(block, ToolUse)]
                asked |= {block.id: (block, record.at) for block in calls}
            case Result(call=call):
                asked.pop(call, None)
            case Said(joins=False) | Over():
                asked = {}
            case _:
                pass
    return list(asked.values())


@dataclass(slots=True)
class _Teller:
    """`before` is context that was shown since the last turn: it belongs to the next one."""

    client: str
    tally: Tally
    log: Log = field(default_factory=Log)
    turn: Turn | None = None
    before: list[Record] = field(default_factory=list[Record])
    number: int = 0
    repaired: int = 0
    delivered: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, record: Record) -> None:
        says = record.says
        match says:
            case Said():
                self._said(record, says)
            case Shown():
                self._note(record, says.content)
                self._shown(record, says)
            case Result():
                self._note(record, says.content)
                self._result(record, says)
            case Answer():
                self._answer(record, says)
            case Spent(tokens=tokens):
                self._spent(record, tokens)
            case Compacted():
                self._compact(record, says)
            case Over():
                self._over(record, says)
            case Cancelled():
                if self.turn is not None:
                    self.turn.cancelled = True

    def told(self) -> Told:
        turn = self.turn
        return Told(
            drafts=self.log.drafts,
            open_turns=int(turn is not None),
            open_events=len(turn.items) if turn is not None else len(self.before),
            open_calls=len(turn.calls) if turn is not None else 0,
            repaired=self.repaired,
            delivered=self.delivered,
        )

    def _note(self, record: Record, content: Content) -> None:
        """Which notes of ours the model is shown here."""
        for block in content:
            for note in seen(block.text) if isinstance(block, Text) else ():
                self.delivered.setdefault(note, record.id)

    def _said(self, record: Record, says: Said) -> None:
        if self.turn is not None and not says.joins:
            self._leave(self.turn)
        turn = self.turn = self.turn or self._begin(record)
        for one in says.before:
            self._note(record, one.content)
            turn.context(record.id, record.at, one.content, self._source(one))
        self._note(record, says.content)
        turn.said(record.id, record.at, says.content)

    def _shown(self, record: Record, says: Shown) -> None:
        if self.turn is None:
            self.before.append(record)
        else:
            self.turn.context(record.id, record.at, says.content, self._source(says))

    def _result(self, record: Record, says: Result) -> None:
        if self.turn is None or says.call not in self.turn.calls:
            self.tally.ignored[LATE] += 1
        else:
            self.turn.result(record.id, record.at, says.call, says.content, says.is_error)

    def _answer(self, record: Record, says: Answer) -> None:
        if not says.content:
            return  # It is still being written.
        turn = self.turn = self.turn or self._begin(record)
        self.repaired += turn.repair()
        turn.cancelled = False
        turn.answer(record.id, record.at, says.content, says.model)
        if says.tokens is not None:
            self._spent(record, says.tokens)
        if turn.tail == "done" and not says.marked:
            self._close(turn, "completed")

    def _spent(self, record: Record, tokens: Tokens) -> None:
        if self.turn is not None:
            ids = {"response": tokens.response} if tokens.response is not None else {}
            counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
            self.turn.spent(record.id, record.at, counts, ids)

    def _over(self, record: Record, says: Over) -> None:
        turn = self.turn
        if turn is None or (says.reason == "completed" and turn.tail != "done"):
            return
        turn.latest = (record.id, record.at)
        self._close(turn, says.reason, says.detail)

    def _begin(self, record: Record) -> Turn:
        self.number += 1
        turn = opened(self.log, record.id, record.at, "turn", self.number)
        self._bring(turn)
        return turn

    def _bring(self, turn: Turn) -> None:
        for one in self.before:
            if isinstance(one.says, Shown):
                turn.context(one.id, one.at, one.says.content, self._source(one.says))
        self.before = []

    def _leave(self, turn: Turn) -> None:
        """Close a turn that nothing more is coming to."""
        if turn.tail == "done":
            self._close(turn, "completed")
        elif turn.cancelled:
            self._close(turn, "aborted", "interrupted by the person")
        else:
            self._close(turn, "interrupted")

    def _close(self, turn: Turn, reason: Reason, detail: str | None = None) -> None:
        self.repaired += turn.repair()
        turn.end(reason, detail)
        self.log.write(turn)
        self.turn = None

    def _compact(self, record: Record, says: Compacted) -> None:
        """Inside the open turn, else in a turn of its own."""
        own = self.turn is None
        turn = self.turn or opened(self.log, record.id, record.at, "injection", None)
        self._bring(turn)
        self.repaired += turn.repair()
        covers = self.number if own else self.number - 1
        turn.anew(record.id, record.at, says.summary, covers)
        tail = turn.tail
        for one in says.kept:
            self._again(turn, record, one)
        self.repaired += turn.repair()
        turn.tail = tail
        if own:
            self._close(turn, "injection")

    def _again(self, turn: Turn, record: Record, says: Shown | Said | Answer | Result) -> None:
        """Show something from before a compaction again, under the compaction's own id."""
        id, at = record.id, record.at
        match says:
            case Shown():
                turn.context(id, at, says.content, self._source(says))
            case Said():
                turn.said(id, at, says.content)
            case Answer(content=content) if content:
                self.repaired += turn.repair()
                turn.answer(id, at, content, says.model)
            case Result(call=call) if call in turn.calls:
                turn.result(id, at, call, says.content, says.is_error)
            case _:
                pass

    def _source(self, says: Shown) -> Mapping[str, str]:
        kind: Literal["client"] = "client"
        return {"kind": kind, "client": self.client, "what": says.what, "role": "user"}
