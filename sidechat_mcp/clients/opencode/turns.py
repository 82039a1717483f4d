"""A conversation's messages, in order → whole closed turns as drafts. Pure; what comes later
never changes the drafts of a turn that was closed before it.

A turn is a message and every answer to it. What is in the model's context without being answered
(a note, a file, a compaction that failed) belongs to the turn whose answer comes next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.opencode.drafting import Log, Turn, hidden, opened
from sidechat_mcp.clients.opencode.records import Answer, Asked, Record, Said
from sidechat_mcp.core.content import Block, Content, Text
from sidechat_mcp.core.events import Draft, Reason
from sidechat_mcp.core.handback import seen

_REASONS: dict[str, Reason] = {"length": "max_tokens", "content-filter": "blocked"}


@dataclass(frozen=True, slots=True)
class Told:
    """The closed turns, and counts of what follows them."""

    drafts: Sequence[Draft]
    open_turns: int
    open_events: int
    open_calls: int
    repaired: int
    delivered: Mapping[str, str]


@dataclass(slots=True)
class Teller:
    """`before` is what no answer of a turn has followed yet; `shown` is what the model's context
    holds; `done` are the messages that were answered."""

    tally: Tally
    log: Log = field(default_factory=Log)
    turn: Turn | None = None
    before: list[Record] = field(default_factory=list[Record])
    shown: list[Record] = field(default_factory=list[Record])
    done: set[str] = field(default_factory=set[str])
    last: str | None = None
    number: int = 0
    repaired: int = 0
    delivered: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, record: Record) -> None:
        """The next message."""
        self._note(record)
        match record.says:
            case Said():
                self.before.append(record)
                self.last = record.id
            case Answer() as says if says.summary:
                self._summary(record, says)
            case Answer() as says if not says.of_model:
                self.before.append(record)
            case Answer() as says:
                self._answer(record, says)
        self.shown.append(record)

    def end(self) -> Told:
        """After the last message."""
        turn, events, calls = self.turn, 0, 0
        waiting = any(isinstance(one.says, Said) and one.says.typed for one in self.before)
        if turn is not None:
            events, calls = len(turn.items), len(turn.calls)
        if self.before:
            rest = opened(self.before[0], "injection", None, None)
            for record in self.before:
                rest.show(record)
            events += len(rest.items) - 1
        turns = int(turn is not None or waiting)
        return Told(self.log.drafts, turns, events, calls, self.repaired, self.delivered)

    def _answer(self, record: Record, says: Answer) -> None:
        asked = says.parent or self.last
        if self.turn is not None and asked != self.turn.asked and not self._goes_on(asked):
            self._leave()
        if self.turn is None:
            self.turn = self._begin(asked, record)
        turn = self.turn
        if turn.asked is None:
            for one in self.before:
                turn.show(one)
            self.before, turn.asked = [], asked
        if says.failure is not None and hidden(says):
            self.tally.ignored["answer that the model is not shown"] += 1
        turn.answer(record, says)
        failure = says.failure
        if failure is None and says.over:
            self._close(_REASONS.get(says.finish or "", "completed"))
        elif failure is not None and failure.interrupted:
            self._close("aborted")
        elif failure is not None:
            self._close("blocked" if failure.blocked else "error", failure.why)

    def _goes_on(self, asked: str | None) -> bool:
        """Whether the client itself told its model to go on after a compaction."""
        if self.turn is None or self.turn.asked is not None:
            return False
        return all(
            isinstance(one.says, Said) and not one.says.typed and one.says.compaction is None
            for one in self.before
        ) and any(one.id == asked for one in self.before)

    def _begin(self, asked: str | None, record: Record) -> Turn:
        """A turn with what waited, up to the message that is answered."""
        self.number += 1
        place = next((n for n, one in enumerate(self.before) if one.id == asked), None)
        if place is not None:
            taken, self.before = self.before[: place + 1], self.before[place + 1 :]
        elif asked in self.done:
            taken = []
        else:
            taken, self.before = self.before, []
        turn = opened(taken[-1] if place is not None else record, "turn", self.number, asked)
        self.done |= {one.id for one in taken}
        for one in taken:
            turn.show(one)
        return turn

    def _leave(self) -> None:
        """Close a turn that nothing more is coming to."""
        turn = self.turn
        if turn is None:
            return
        last = turn.last
        over = turn.running and last is not None and last.finish not in ("tool-calls", "unknown")
        if over and last is not None:
            self._close(_REASONS.get(last.finish or "", "completed"))
        else:
            self._close("interrupted")

    def _close(self, reason: Reason, detail: str | None = None) -> None:
        turn, self.turn = self.turn, None
        assert turn is not None
        self.repaired += turn.repair()
        turn.end(reason, detail)
        self.log.write(turn)

    def _summary(self, record: Record, says: Answer) -> None:
        asked = next((one for one in self.before if one.id == says.parent), None)
        said = asked.says if asked is not None else None
        worked = says.finish is not None and says.failure is None
        if worked and asked is not None and isinstance(said, Said) and said.compaction is not None:
            self._compact(asked, said.content, said.compaction, record, says)
        else:
            self.before.append(record)

    def _compact(
        self, asked: Record, question: Content, how: Asked, record: Record, says: Answer
    ) -> None:
        """Context begins anew: inside the turn that the client goes on with, else in a turn of
        its own."""
        place = self.before.index(asked)
        earlier, self.before = self.before[:place], self.before[place + 1 :]
        if self.turn is not None and not (how.by_itself and self.turn.running):
            self._leave()
        waiting = [one for one in earlier if isinstance(one.says, Said) and one.says.typed]
        if self.turn is None and how.by_itself and waiting:
            self.number += 1
            self.turn = opened(waiting[-1], "turn", self.number, None)
        own = self.turn is None
        turn = self.turn or opened(asked, "injection", None, None)
        self.done |= {one.id for one in earlier} | {asked.id}
        for one in earlier:
            turn.show(one)
        self.repaired += turn.repair()
        turn.anew(record, (*question, *_words(says)), self.number - (not own))
        turn.spent(record, says)
        self.shown = self._kept(how.tail, asked)
        for one in self.shown:
            turn.show(one)
        self.repaired += turn.repair()
        turn.latest = record
        if own:
            turn.end("injection")
            self.log.write(turn)
        else:
            turn.asked = None

    def _kept(self, tail: str | None, asked: Record) -> list[Record]:
        """The messages that a compaction kept word for word."""
        places = {one.id: n for n, one in enumerate(self.shown)}
        stop = places.get(asked.id, len(self.shown))
        start = places.get(tail, stop) if tail is not None else stop
        return [one for one in self.shown[start:stop] if not _of_compaction(one)]

    def _note(self, record: Record) -> None:
        """Which notes of ours the model was shown here."""
        shown: list[Content] = []
        match record.says:
            case Said(content=content):
                shown = [content]
            case Answer() as says if not hidden(says):
                shown = [call.result or () for step in says.steps for call in step.calls]
            case _:
                pass
        for content in shown:
            for block in content:
                for note in seen(block.text) if isinstance(block, Text) else ():
                    self.delivered.setdefault(note, record.id)


def _words(says: Answer) -> list[Block]:
    return [block for step in says.steps for block in step.content if isinstance(block, Text)]


def _of_compaction(record: Record) -> bool:
    match record.says:
        case Said(compaction=compaction):
            return compaction is not None
        case Answer(summary=summary):
            return summary
