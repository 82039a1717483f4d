"""A line of records → whole closed turns as drafts. Pure; what comes later in a file never
changes the drafts of a turn that was closed before it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from sidechat_mcp.clients.claude_code.drafting import Log, Turn, opened
from sidechat_mcp.clients.claude_code.records import (
    Answer,
    Boundary,
    Link,
    Mark,
    Record,
    Results,
    Said,
    Shown,
)
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.core.content import Content, Text, plain
from sidechat_mcp.core.events import ContextCompacted, Draft, Reason
from sidechat_mcp.core.handback import seen

NULL_IS_DONE = (2, 1, 80)
"""Up to this version `stop_reason` is null in whole answers too; later it means a part."""

_REASONS: dict[str, Reason] = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "blocked",
}


@dataclass(frozen=True, slots=True)
class Closed:
    """What is known where a turn was surely over: with the record `latest`, and `drafts` of all
    turns up to it."""

    latest: Record
    drafts: int
    number: int
    model: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """The closed turns, and counts of what follows them. `closed` is the last of them that
    something else follows; `taken` and `messages` are the ids of drafts and answers up to it."""

    drafts: Sequence[Draft]
    open_turns: int
    open_events: int
    open_calls: int
    repaired: int
    delivered: Mapping[str, str]
    closed: Closed | None
    taken: Set[str]
    messages: Set[str]


def tell(
    ahead: deque[Record],
    beside: Set[str],
    tally: Tally,
    log: Log | None = None,
    number: int = 0,
) -> Told:
    """The records of a line in turns: after those in `log`, of which `number` were numbered.
    `ahead` is emptied on the way, so that a long conversation is not held twice."""
    kept = {uuid for one in ahead if isinstance(one.says, Boundary) for uuid in one.says.kept}
    teller = _Teller(ahead, beside, tally, kept, log or Log(), number=number)
    while ahead:
        teller.take(ahead.popleft())
    return teller.end()


@dataclass(slots=True)
class _Teller:
    """`before` is context that was shown since the last turn: it belongs to the next one. `known`
    are the records that a compaction carries over."""

    ahead: deque[Record]
    beside: Set[str]
    tally: Tally
    kept: Set[str]
    log: Log = field(default_factory=Log)
    turn: Turn | None = None
    before: list[Record] = field(default_factory=list[Record])
    number: int = 0
    repaired: int = 0
    known: dict[str, Record] = field(default_factory=dict[str, Record])
    told: dict[str, Content] = field(default_factory=dict[str, Content])
    summed_up: Record | None = None
    delivered: dict[str, str] = field(default_factory=dict[str, str])
    closed: Closed | None = None
    sure: tuple[Set[str], Set[str]] = (frozenset(), frozenset())

    def take(self, record: Record) -> None:
        says = record.says
        if record.uuid in self.kept:
            self.known[record.uuid] = record
        self._note(record)
        turn = self.turn
        if (
            turn is not None
            and turn.done
            and not (isinstance(says, Answer) and says.message in turn.places)
        ):
            self._finish()
        match says:
            case Said(form="typed"):
                self._leave()
                self._begin(record, record)
            case Said(form="interrupt"):
                self._interrupt(record)
            case Said(form="summary"):
                if record is not self.summed_up:
                    self._compact(record, record)
            case Said() | Shown():
                self._show(record)
            case Results():
                self._results(record, says)
            case Answer():
                self._answer(record, says)
            case Mark():
                if self.turn is not None and (self.turn.whole(True) or self.turn.cut):
                    self._leave()
            case Boundary():
                self._boundary(record)
            case Link():
                pass

    def end(self) -> Told:
        turn, closed = self.turn, self.closed
        self.sure = set(self.log.taken), set(self.told)
        if turn is not None and turn.whole(_null_is_done(turn.version)) and not turn.thinking:
            self._finish()
            self.closed = closed  # More of that answer may still come.
        turn = self.turn
        if turn is not None:
            events = len(turn.items) + len(turn.waiting)
            return self._told(1, events, len(turn.calls))
        return self._told(int(self._command() is not None), len(self.before), 0)

    def _told(self, turns: int, events: int, calls: int) -> Told:
        return Told(
            self.log.drafts,
            turns,
            events,
            calls,
            self.repaired,
            self.delivered,
            self.closed,
            *self.sure,
        )

    def _note(self, record: Record) -> None:
        """Which notes of ours the model was shown here."""
        shown: list[Content] = []
        match record.says:
            case Said(content=content, form=form) if form != "summary":
                shown = [content]
            case Shown(content=content):
                shown = [content]
            case Results(outcomes=outcomes, rest=rest):
                shown = [one.content for one in outcomes] + ([rest.content] if rest else [])
            case _:
                pass
        for content in shown:
            for block in content:
                for note in seen(block.text) if isinstance(block, Text) else ():
                    self.delivered.setdefault(note, record.uuid)

    def _begin(self, record: Record, prompt: Record | None) -> None:
        self.number += 1
        self.turn = turn = opened(record, "turn", self.number)
        for one in self.before:
            if one is prompt:
                turn.said(one)
            else:
                turn.context(one)
        if prompt is not None and prompt not in self.before:
            turn.said(prompt)
        self.before = []

    def _finish(self) -> None:
        """Close a turn whose answer came to its end."""
        assert self.turn is not None
        self._close(_REASONS.get(self.turn.stop or "", "completed"))

    def _leave(self) -> None:
        """Close a turn that nothing more is coming to."""
        turn = self.turn
        if turn is None:
            return
        if turn.whole(True):
            self._finish()
        else:
            self._close("aborted" if turn.cut else "interrupted")

    def _close(self, reason: Reason, detail: str | None = None) -> None:
        turn, self.turn = self.turn, None
        assert turn is not None
        self.before += turn.waiting
        self.repaired += turn.repair()
        turn.end(reason, detail)
        for message, content in turn.messages():
            self.told[message] = self.told.get(message, ()) + content
        self.log.write(turn)
        if all(one.order > turn.latest.order for one in self.before):
            self.closed = Closed(turn.latest, len(self.log.drafts), self.number, self.log.model)

    def _show(self, record: Record) -> None:
        turn = self.turn
        if turn is None:
            self.before.append(record)
        elif turn.whole(True):
            turn.waiting.append(record)  # Whose it is shows when an answer or a prompt follows.
        else:
            turn.context(record)

    def _interrupt(self, record: Record) -> None:
        turn = self.turn
        if turn is None:
            self.before.append(record)
            return
        turn.flush()
        self.repaired += turn.repair()
        turn.context(record)
        self._close("aborted", "interrupted by the person")

    def _results(self, record: Record, says: Results) -> None:
        turn = self.turn
        for outcome in says.outcomes:
            if turn is None or outcome.call not in turn.calls:
                self.tally.ignored["late or repeated result"] += 1
            else:
                turn.result(record, outcome)
        if says.rest is None:
            return
        if says.rest.form == "interrupt":
            self._interrupt(record)
        else:
            self._show(record)

    def _answer(self, record: Record, says: Answer) -> None:
        if says.error or says.synthetic:
            self._from_the_client(says)
            return
        turn = self.turn
        if turn is not None and says.message in turn.places:
            turn.answer(record, says)
            return
        blocks = self.told.get(says.message)
        if blocks is not None and (
            record.uuid in self.beside or all(block in blocks for block in says.content)
        ):
            self.tally.ignored["repeated answer"] += 1
            return
        if turn is None:
            command = self._command()
            self._begin(command or record, command)
            turn = self.turn
        assert turn is not None
        turn.flush()
        turn.answer(record, says)

    def _from_the_client(self, says: Answer) -> None:
        """An answer no model gave: an error report, or a filler."""
        self.tally.ignored["answer by the client itself"] += 1
        if not says.error:
            return
        command = self._command() if self.turn is None else None
        if command is not None:
            self._begin(command, command)
        if self.turn is not None:
            self._close("error", plain(says.content)[:200] or None)

    def _command(self) -> Record | None:
        """The command that an answer would answer: a slash command without output of its own."""
        found: Record | None = None
        for record in self.before:
            if isinstance(record.says, Said) and record.says.form == "command":
                found = record
            elif isinstance(record.says, Said) and record.says.form == "output":
                found = None
        return found

    def _boundary(self, boundary: Record) -> None:
        for record in self.ahead:
            if isinstance(record.says, Said) and record.says.form == "summary":
                self.summed_up = record
                self._compact(boundary, record)
                return
            if isinstance(record.says, Answer | Results | Boundary) or (
                isinstance(record.says, Said) and record.says.form == "typed"
            ):
                self._compact(boundary, None)
                return

    def _compact(self, boundary: Record, summary: Record | None) -> None:
        """Context begins anew: inside the open turn, else in a turn of its own."""
        turn = self.turn
        if turn is not None and (turn.whole(True) or turn.cut):
            self._leave()
        own = self.turn is None
        turn = self.turn or opened(boundary, "injection", None)
        for record in self.before:
            turn.context(record)
        self.before = []
        self.repaired += turn.repair()
        covers = self.number if own else self.number - 1
        turn.anew(summary or boundary, ContextCompacted(_content(summary), covers))
        if isinstance(boundary.says, Boundary):
            for uuid in boundary.says.kept:
                self._carry(turn, self.known.get(uuid))
        self.repaired += turn.repair()
        if own:
            turn.end("injection")
            self.log.write(turn)
        else:
            turn.places = {}

    def _carry(self, turn: Turn, record: Record | None) -> None:
        """Put a record that a compaction kept word for word behind the summary."""
        match record.says if record is not None else None:
            case Answer(error=False, synthetic=False) as says if record is not None:
                turn.answer(record, says, counted=False)
            case Results(outcomes=outcomes) if record is not None:
                for outcome in outcomes:
                    if outcome.call in turn.calls:
                        turn.result(record, outcome)
            case Said(form="typed") if record is not None:
                turn.said(record)
            case Said() | Shown() if record is not None:
                turn.context(record)
            case _:
                pass


def _content(record: Record | None) -> Content:
    return record.says.content if record is not None and isinstance(record.says, Said) else ()


def _null_is_done(version: str | None) -> bool:
    numbers = (version or "").split("-")[0].split(".")
    if not all(part.isdecimal() and len(part) < 10 for part in numbers):
        return False
    return tuple(int(part) for part in numbers) <= NULL_IS_DONE
