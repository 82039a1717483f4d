"""A path of entries → whole closed turns as drafts. Pure; what comes later in a file never
changes the drafts of a turn that was closed before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.pi.drafting import Log, Turn, opened
from sidechat_mcp.clients.pi.heads import Prompt
from sidechat_mcp.clients.pi.says import (
    Answer,
    Compacted,
    Declared,
    Edited,
    Link,
    Record,
    Result,
    Said,
    Shown,
)
from sidechat_mcp.core.content import Text
from sidechat_mcp.core.events import Draft, Reason, RequestHeader
from sidechat_mcp.core.handback import seen
from sidechat_mcp.core.ids import EventId

_REASONS: dict[str, Reason] = {"length": "max_tokens"}
LOST = "aborted or failed answer, which pi shows no more"
LATE = "late or repeated result"


@dataclass(frozen=True, slots=True)
class Told:
    """The closed turns, and counts of what follows them."""

    drafts: Sequence[Draft]
    open_turns: int
    open_events: int
    open_calls: int
    repaired: int
    delivered: Mapping[str, str]
    pause: Pause | None


@dataclass(frozen=True, slots=True)
class Pause:
    """What is known where no turn is open: behind `root`, which is the `place`th record told, and
    the draft `after`. `taken` are the names given so far, `head` is the one written last."""

    root: Record
    place: int
    after: EventId
    taken: Collection[str]
    number: int
    head: RequestHeader | None
    prompt: Prompt


def tell(records: Sequence[Record], tally: Tally, since: Pause | None = None) -> Told:
    """Everything on a path, or on what follows `since`, in turns."""
    teller = _Teller(records, tally)
    if since is not None:
        teller.go_on(since)
    for place, record in enumerate(records):
        teller.take(place, record)
    return teller.told()


@dataclass(slots=True)
class _Teller:
    """`before` is context that was shown since the last turn: it belongs to the next one."""

    records: Sequence[Record]
    tally: Tally
    log: Log = field(default_factory=Log)
    prompt: Prompt = field(default_factory=Prompt)
    turn: Turn | None = None
    before: list[Record] = field(default_factory=list[Record])
    number: int = 0
    repaired: int = 0
    delivered: dict[str, str] = field(default_factory=dict[str, str])
    after: EventId | None = None
    paused: tuple[Pause, int] | None = None

    def go_on(self, since: Pause) -> None:
        self.log = Log(taken=dict.fromkeys(since.taken), head=since.head)
        self.prompt, self.number, self.after = since.prompt.copy(), since.number, since.after

    def rest(self, place: int) -> None:
        """Note what is known before the record at `place`, if no turn is open there."""
        log = self.log
        after = log.drafts[-1].id if log.drafts else self.after
        if self.turn is not None or self.before or after is None or place == 0:
            return
        prompt = self.prompt.copy()
        root = self.records[place - 1]
        self.paused = Pause(root, place, after, (), self.number, log.head, prompt), len(log.taken)

    def take(self, place: int, record: Record) -> None:
        self.rest(place)
        says = record.says
        match says:
            case Said():
                self._note(record, says)
                self._said(record, says)
            case Shown():
                self._note(record, says)
                self._shown(record, says)
            case Result():
                self._note(record, says)
                self._result(record, says)
            case Answer():
                self._answer(record, says)
            case Declared():
                self.prompt.take(says)
            case Compacted():
                self._compact(place, record, says)
            case Edited() | Link():
                pass

    def told(self) -> Told:
        turn = self.turn
        events = len(turn.items) if turn is not None else len(self.before)
        calls = len(turn.calls) if turn is not None else 0
        opens = int(turn is not None)
        self.rest(len(self.records))
        pause: Pause | None = None
        if self.paused is not None:
            known, names = self.paused
            pause = replace(known, taken=[*islice(self.log.taken, names)])
        return Told(self.log.drafts, opens, events, calls, self.repaired, self.delivered, pause)

    def _note(self, record: Record, says: Said | Shown | Result) -> None:
        """Which notes of ours the model is shown here."""
        for block in says.content:
            for note in seen(block.text) if isinstance(block, Text) else ():
                self.delivered.setdefault(note, record.id)

    def _said(self, record: Record, says: Said) -> None:
        """A message opens a turn, or joins one that waits for an answer: who steers is heard
        behind a whole batch of results."""
        if self.turn is not None and (self.turn.calls or self.turn.tail == "lost"):
            self._leave(self.turn)
        if self.turn is None:
            self.turn = self._begin(record)
        self.turn.said(record, says.content)

    def _shown(self, record: Record, says: Shown) -> None:
        if self.turn is None:
            self.before.append(record)
        else:
            self.turn.context(record, says.content, says.what)

    def _result(self, record: Record, says: Result) -> None:
        if self.turn is None or says.call not in self.turn.calls:
            self.tally.ignored[LATE] += 1
        else:
            self.turn.result(record, says)

    def _answer(self, record: Record, says: Answer) -> None:
        if says.lost:
            self.tally.ignored[LOST] += 1
            if self.turn is not None:
                self.turn.drop(record, says)
            return
        turn = self.turn = self.turn or self._begin(record)
        self.repaired += turn.repair()
        turn.answer(record, says, self.prompt.header(says.model))
        turn.spent(record, says.tokens, says.response)
        if turn.tail == "done":
            self._close(turn, _REASONS.get(says.stop or "", "completed"))

    def _begin(self, record: Record) -> Turn:
        self.number += 1
        turn = opened(record, "turn", self.number)
        for one in self.before:
            if isinstance(one.says, Shown):
                turn.context(one, one.says.content, one.says.what)
        self.before = []
        return turn

    def _leave(self, turn: Turn) -> None:
        """Close a turn that nothing more is coming to."""
        lost = turn.lost if turn.tail == "lost" else None
        if lost is None:
            self._close(turn, "interrupted")
        elif lost.stop == "error":
            self._close(turn, "error", (lost.error or "")[:200] or None)
        else:
            self._close(turn, "aborted", "interrupted by the person")

    def _close(self, turn: Turn, reason: Reason, detail: str | None = None) -> None:
        self.repaired += turn.repair()
        turn.end(reason, detail)
        self.log.write(turn)
        self.turn = None

    def _compact(self, place: int, record: Record, says: Compacted) -> None:
        """Context begins anew: inside the open turn, else in a turn of its own. What the summary
        does not stand for is shown again behind it."""
        self.prompt.anew(says.head)
        own = self.turn is None
        turn = self.turn or opened(record, "injection", None)
        for one in self.before:
            if isinstance(one.says, Shown):
                turn.context(one, one.says.content, one.says.what)
        self.before = []
        self.repaired += turn.repair()
        tail = turn.tail
        turn.anew(record, says.summary, self.number if own else self.number - 1)
        for one in self._kept(place, says):
            self._carry(turn, one)
        self.repaired += turn.repair()
        turn.latest, turn.tail = record, tail
        if own:
            turn.end("injection")
            self.log.write(turn)

    def _kept(self, place: int, says: Compacted) -> Sequence[Record]:
        for first in range(place):
            if self.records[first].id == says.kept:
                return self.records[first:place]
        return ()

    def _carry(self, turn: Turn, record: Record) -> None:
        """Show an entry from before a compaction again."""
        match record.says:
            case Said(content=content):
                turn.said(record, content)
            case Shown(content=content, what=what):
                turn.context(record, content, what)
            case Answer(lost=False) as says:
                self.repaired += turn.repair()
                turn.answer(record, says, None)
            case Result() as says if says.call in turn.calls:
                turn.result(record, says)
            case _:
                pass
