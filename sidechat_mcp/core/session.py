"""What the events of a session add up to. No await, no clock, no open()."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidechat_mcp.core.events import Event, Header, Reason, TurnKind, Usage, Verdict
from sidechat_mcp.core.ids import TurnId


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: `[start, stop)` are its places (`stop` None while open). `answer` is the readable
    text of its assistant messages, `said` that of its user messages. `calls` are the tool calls
    that have no result yet: those started (`tool/call` written) and those only asked for."""

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
        raise NotImplementedError

    @property
    def numbered(self) -> int:
        """The number of the last numbered turn over the whole lineage (0 without)."""
        raise NotImplementedError

    @property
    def own_turns(self) -> Sequence[Turn]:
        """Own turns of kind `turn`, in order."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """At most 60 code points of the first own user message, made harmless; before there is
        one, of the last inherited one; else `New side session`."""
        raise NotImplementedError


def fold(header: Header, events: Sequence[Event], head: int | None = None) -> Session:
    """The state after `events`: the whole lineage, or only a suffix of it (then turns opened
    before it are not there). `head` defaults to the place after the last event."""
    raise NotImplementedError
