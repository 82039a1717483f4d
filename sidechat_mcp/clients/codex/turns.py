"""The records of a thread → turns with a beginning and an end.

A rollout says where turns begin and end, since about version 0.90; before that they are told by
a person's words. What stands between two turns was put there by somebody without a turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from sidechat_mcp.clients.codex.drafting import Behind, Log, Turn
from sidechat_mcp.clients.codex.items import Outcome
from sidechat_mcp.clients.codex.records import (
    Answer,
    Began,
    Chose,
    Compacted,
    Ended,
    Record,
    RolledBack,
    Said,
    Spent,
)
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.core.content import Content, Text
from sidechat_mcp.core.events import (
    ContextCompacted,
    Draft,
    Reason,
    RequestHeader,
    UserMessage,
)
from sidechat_mcp.core.handback import seen
from sidechat_mcp.core.ids import EventId

BETWEEN = "--"
"""What joins the id of a turn and of a record that was put in after it: the id of a turn of
ours that the client does not know."""
MARK = "<sidechat-note "
"""What stands in every text that shows a note of ours."""
KEPT_WORDS = 80_000
"""Bytes of a person's own words that an old compaction carries over, the newest first."""


@dataclass(frozen=True, slots=True)
class Told:
    """The closed turns, and counts of what follows them."""

    drafts: Sequence[Draft]
    open_turns: int
    open_events: int
    open_calls: int
    delivered: Mapping[str, str]
    pause: Pause | None


@dataclass(frozen=True, slots=True)
class Pause:
    """What is known where no turn is open: at the byte `offset`, behind the draft `after`.
    `place` objects stand before it. `marked` says that turns are marked in this file; `turn` is
    the client's id of the turn that began last, `last` the same as one word; `taken` are the
    names given so far."""

    offset: int = 0
    place: int = 0
    after: EventId | None = None
    taken: Collection[str] = ()
    model: str | None = None
    written: str | None = None
    number: int = 0
    marked: bool = False
    by_response: bool = False
    total: str | None = None
    turn: str | None = None
    last: str | None = None


def tell(
    records: Iterable[Record], tally: Tally, uncounted: Callable[[], bool], since: Pause | None
) -> Told:
    """All of a thread, or what follows `since`, in turns. `uncounted` is asked at the end whether
    the client's version wrote how many tokens an answer took: else that shows that it came to its
    end.

    Raises: Behind, where what follows `since` cannot be told without what is before."""
    teller = _Teller(tally)
    if since is not None:
        teller.go_on(since)
    for record in records:
        teller.take(record)
    return teller.end(uncounted())


@dataclass(slots=True)
class _Teller:
    """`before` is context that was shown before the first turn. `marked` says that turns are
    marked in this file; `client_turn` is the client's id of the turn that began last, `last` the
    same as one word."""

    tally: Tally
    log: Log = field(default_factory=Log)
    turn: Turn | None = None
    before: list[Record] = field(default_factory=list[Record])
    marked: bool = False
    model: str | None = None
    by_response: bool = False
    total: str | None = None
    client_turn: str | None = None
    last: str | None = None
    after: EventId | None = None
    pause: tuple[Pause, int] | None = None
    told_to: int = -1

    def go_on(self, since: Pause) -> None:
        taken = dict.fromkeys(since.taken)
        self.log = Log(taken=taken, model=since.written, number=since.number, further=True)
        self.model, self.marked = since.model, since.marked
        self.by_response, self.total = since.by_response, since.total
        self.client_turn, self.last = since.turn, since.last
        self.after = since.after

    def rest(self, offset: int, place: int) -> None:
        """Note what is known at `offset` of the file, if no turn is open there."""
        if self.turn is not None or self.before:
            return
        log = self.log
        after = log.segments[-1].drafts[-1].id if log.segments else self.after
        known = (self.model, log.model, log.number, self.marked, self.by_response, self.total)
        pause = Pause(offset, place, after, (), *known, self.client_turn, self.last)
        self.pause = pause, len(log.taken)

    def take(self, record: Record) -> None:
        says = record.says
        tally = self.tally
        if tally.end > self.told_to:  # A torn line may hold several records.
            self.rest(tally.end - len(tally.line), tally.objects - 1)
        self.told_to = tally.end
        match says:
            case Began(turn=turn):
                self._leave()
                self.marked = True
                self._begin(record, turn)
            case Ended():
                self._end(record, says)
            case Said():
                self._said(record, says)
            case Answer():
                self._answer(record, says)
            case Outcome():
                self._result(record, says)
            case Spent():
                self._spent(record, says)
            case Chose(model=model):
                self.model = model
                if self.turn is not None:
                    self.turn.chose(record, model)
            case Compacted():
                self._compact(record, says)
            case RolledBack(turns=turns):
                self._leave()
                self.log.drop(turns)

    def end(self, uncounted: bool) -> Told:
        self.rest(self.tally.end, self.tally.objects)
        pause: Pause | None = None
        if self.pause is not None and self.pause[0].after is not None:
            pause = replace(self.pause[0], taken=[*islice(self.log.taken, self.pause[1])])
        turn = self.turn
        if turn is not None and turn.implied and _over(turn, uncounted):
            self._leave()
            turn = None
        drafts = self.log.drafts()
        delivered: dict[str, str] = {}
        for segment in self.log.segments:
            for note, record in segment.delivered.items():
                delivered.setdefault(note, record)
        if turn is None:
            return Told(drafts, 0, len(self.before), 0, delivered, pause)
        shown = sum(not isinstance(one.body, RequestHeader) for one in turn.items)
        return Told(drafts, 1, 1 + shown, len(turn.calls), delivered, pause)

    def _begin(self, record: Record, turn: str | None, *, implied: bool = False) -> Turn:
        self.client_turn, self.last = turn, record.name
        self.turn = made = Turn(self.log.turn(record.name), record, record, implied)
        if self.model is not None:
            made.chose(record, self.model)
        for one in self.before:
            if isinstance(one.says, Said):
                made.said(one, one.says, typed=False)
        self.before = []
        return made

    def _end(self, record: Record, says: Ended) -> None:
        turn = self.turn
        known = says.turn is None or self.client_turn is None or says.turn == self.client_turn
        if turn is None or not known:
            return
        turn.latest = record
        self._close(says.reason, says.detail)

    def _leave(self) -> None:
        """Close a turn that nothing more is coming to."""
        turn = self.turn
        if turn is None:
            return
        whole = turn.implied and turn.tail in ("text", "done") and not turn.calls
        self._close("completed" if whole else "interrupted", None)

    def _close(self, reason: Reason, detail: str | None) -> None:
        turn, self.turn = self.turn, None
        assert turn is not None
        turn.repair()
        if reason == "completed" and not turn.answered:
            reason, detail = "error", "no answer was recorded"
        if turn.of is None:
            self.tally.ignored["turn in which nothing was said"] += 1
        self.log.write(turn, reason, detail)

    def _said(self, record: Record, says: Said) -> None:
        turn = self.turn
        if turn is not None and turn.implied and says.typed and turn.asked:
            self._leave()
            turn = None
        if turn is None and not self.marked:
            if not says.typed:
                self.before.append(record)
                return
            turn = self._begin(record, None, implied=True)
        if turn is None:
            self._between(record)
            return
        turn.said(record, says, typed=says.typed)
        self._note(turn, record, says.content)

    def _answer(self, record: Record, says: Answer) -> None:
        if says.sums_up:
            self.tally.ignored["answer of the compactor"] += 1
            return
        turn = self.turn
        if turn is None and self.marked:
            self._between(record)
            return
        turn = turn or self._begin(record, None, implied=True)
        turn.answer(record, says.content, self.model)

    def _result(self, record: Record, says: Outcome) -> None:
        turn = self.turn
        if turn is None or says.call not in turn.calls:
            self.tally.ignored["late or repeated result"] += 1
            return
        turn.result(record, says.call, says.content)
        self._note(turn, record, says.content)

    def _spent(self, record: Record, says: Spent) -> None:
        if says.response is None:
            if self.by_response or says.total == self.total:
                return  # The same tokens once more.
            self.total = says.total
        else:
            self.by_response = True
        if self.turn is not None:
            ids = {"response": says.response} if says.response is not None else {}
            self.turn.spent(record, says.tokens, ids)

    def _between(self, record: Record) -> None:
        """What was put in without a turn, as a one-shot turn of its own."""
        says = record.says
        name = f"{self.last}{BETWEEN}{record.name}" if self.last is not None else record.name
        turn = Turn(self.log.turn(name), record, record)
        match says:
            case Said(content=content):
                turn.said(record, says, typed=False)
                self._note(turn, record, content)
            case Answer(content=content):
                turn.answer(record, content, self.model)
                turn.answered = False
            case _:
                pass
        turn.repair()
        self.log.write(turn, "injection", None)

    def _compact(self, record: Record, says: Compacted) -> None:
        turn = self.turn
        if turn is not None and turn.implied and turn.tail in ("text", "done") and not turn.calls:
            self._leave()
            turn = None
        own = turn is None
        if turn is None:
            turn = Turn(self.log.turn(record.name), record, record)
        asked = turn.asked
        kept = says.kept if says.kept is not None else self._own_words(turn)
        turn.anew(record, says.summary, self.log.number)
        for one in kept:
            match one:
                case Said(typed=typed):
                    turn.said(record, one, typed=typed)
                case Answer(content=content):
                    turn.answer(record, content, self.model)
                case Outcome(call=call, content=content):
                    if call in turn.calls:
                        turn.result(record, call, content)
        turn.repair()
        turn.asked, turn.answered, turn.tail = asked, turn.answered and asked, "part"
        if own:
            self.log.write(turn, "injection", None)

    def _own_words(self, turn: Turn) -> Sequence[Said]:
        """What a person typed since context last began, as an old compaction carries it over."""
        if self.log.further:
            raise Behind
        bodies = [draft.body for draft in self.log.drafts()]
        bodies += [item.body for item in turn.items]
        found: list[Said] = []
        left = KEPT_WORDS
        for body in reversed(bodies):
            if isinstance(body, ContextCompacted):
                break
            if isinstance(body, UserMessage):
                left -= sum(len(one.text) for one in body.content if isinstance(one, Text))
                if left < 0:
                    break
                found.append(Said(body.content, True, "user", "user"))
        return found[::-1]

    def _note(self, turn: Turn, record: Record, content: Content) -> None:
        """Which notes of ours the model was shown here."""
        for block in content:
            if isinstance(block, Text) and MARK in block.text:
                for note in seen(block.text):
                    turn.delivered.setdefault(note, record.name)


def _over(turn: Turn, uncounted: bool) -> bool:
    """Whether an answer that nothing follows came to its end."""
    return turn.done or (uncounted and turn.tail == "text" and not turn.calls)
