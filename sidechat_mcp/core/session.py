"""What the events of a session add up to. No await, no clock, no open()."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sidechat_mcp.core.content import Content, ToolUse, plain
from sidechat_mcp.core.events import (
    AssistantMessage,
    Event,
    Header,
    Reason,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnKind,
    TurnStart,
    Usage,
    UserMessage,
    Verdict,
)
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.core.redact import clean

TITLE = 60
"""Code points of a title at most."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: `[start, stop)` are its places (`stop` None while open). `answer` is the readable
    text of its assistant messages (in a condense turn, where each draft replaces the one before,
    only of the last), `said` that of its user messages. `started` and `asked` are the tool calls
    that have no result yet: those begun (`tool/call` written) and those only asked for. `usage`
    is there for own turns only: what an ancestor spent was counted there."""

    id: TurnId
    of: TurnKind
    number: int | None
    start: int
    stop: int | None = None
    reason: Reason | None = None
    detail: str | None = None
    said: str = ""
    answer: str = ""
    verdict: Verdict | None = None
    started: Sequence[str] = ()
    asked: Sequence[str] = ()
    usage: Sequence[Usage] = ()
    own: bool = True


@dataclass(frozen=True, slots=True)
class Session:
    """The state of a log: all its turns (inherited ones with `own` False). The open turn is
    only ever an own one: an ancestor's, open where we left, is not ours to wait for."""

    header: Header
    head: int
    turns: Sequence[Turn] = ()

    @property
    def open(self) -> Turn | None:
        """The own turn that is open, if one is."""
        last = self.turns[-1] if self.turns else None
        return last if last is not None and last.own and last.stop is None else None

    @property
    def numbered(self) -> int:
        """The number of the last numbered turn over the whole lineage (0 without)."""
        return next((turn.number for turn in reversed(self.turns) if turn.number is not None), 0)

    @property
    def own_turns(self) -> Sequence[Turn]:
        """Own turns of kind `turn`, in order."""
        return [turn for turn in self.turns if turn.own and turn.of == "turn"]

    @property
    def title(self) -> str:
        """At most 60 code points of the first own user message, made harmless; before there is
        one, of the last inherited one; else `New side session`."""
        asked = [turn for turn in self.turns if turn.of == "turn"]
        own = (turn.said for turn in asked if turn.own)
        inherited = (turn.said for turn in reversed(asked) if not turn.own)
        for said in (*own, *inherited):
            if line := _one_line(said):
                return line
        return "New side session"


def fold(header: Header, events: Sequence[Event], head: int | None = None) -> Session:
    """The state after `events`: the whole lineage, or only a suffix of it (then turns opened
    before it are not there). `head` defaults to the place after the last event."""
    growing: list[_Growing] = []
    now: _Growing | None = None
    for event in events:
        body = event.body
        if isinstance(body, TurnStart):
            now = _Growing(event.seq, body, event.session == header.id)
            growing.append(now)
        elif now is not None:
            now.take(event)
    if head is None:
        head = events[-1].seq + 1 if events else header.seed_length
    return Session(header, head, tuple(turn.done() for turn in growing))


@dataclass(slots=True)
class _Growing:
    """A turn while its events come in. What does not name this turn is none of its business:
    events stand in order, and one turn is open at a time."""

    start: int
    begun: TurnStart
    own: bool
    end: tuple[int, TurnEnd] | None = None
    said: list[str] = field(default_factory=list[str])
    answers: list[str] = field(default_factory=list[str])
    verdict: Verdict | None = None
    calls: dict[str, bool] = field(default_factory=dict[str, bool])
    usage: list[Usage] = field(default_factory=list[Usage])

    def take(self, event: Event) -> None:
        match event.body:
            case UserMessage(turn=turn, content=content) if turn == self.begun.turn:
                self.said.append(plain(content))
            case AssistantMessage(turn=turn) if turn == self.begun.turn:
                self.answer(event.body)
            case ToolCall(turn=turn, call=call) if turn == self.begun.turn:
                self.calls[call] = True
            case ToolResult(turn=turn, call=call) if turn == self.begun.turn:
                self.calls.pop(call, None)
            case Usage(turn=turn) if turn == self.begun.turn and self.own:
                self.usage.append(event.body)
            case TurnEnd(turn=turn) if turn == self.begun.turn and self.end is None:
                self.end = (event.seq + 1, event.body)
            case _:
                pass

    def answer(self, message: AssistantMessage) -> None:
        if words := plain(message.content):
            self.answers = [words] if self.begun.of == "condense" else [*self.answers, words]
        self.verdict = message.verdict or self.verdict
        self.calls.update(_asked(message.content))

    def done(self) -> Turn:
        stop, end = self.end if self.end is not None else (None, None)
        return Turn(
            id=self.begun.turn,
            of=self.begun.of,
            number=self.begun.number,
            start=self.start,
            stop=stop,
            reason=end.reason if end is not None else None,
            detail=end.detail if end is not None else None,
            said="\n\n".join(filter(None, self.said)),
            answer="\n\n".join(self.answers),
            verdict=self.verdict,
            started=tuple(call for call, begun in self.calls.items() if begun),
            asked=tuple(call for call, begun in self.calls.items() if not begun),
            usage=tuple(self.usage),
            own=self.own,
        )


def _asked(content: Content) -> dict[str, bool]:
    return {block.id: False for block in content if isinstance(block, ToolUse)}


def _one_line(said: str) -> str:
    # Cleaned before it is cut, so that half a credential is never left; enough is looked at.
    line = " ".join(clean(said[:4000]).split())
    return line if len(line) <= TITLE else line[: TITLE - 1].rstrip() + "…"
