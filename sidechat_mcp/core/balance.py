"""Where a conversation may be cut, and what closes a turn that was left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidechat_mcp.core.events import Body, Event
from sidechat_mcp.core.session import Turn


@dataclass(frozen=True, slots=True)
class Cut:
    """A balanced completed-turn prefix: `length` events are kept. `turns` and `events` count
    what comes after it, `number` is the last kept turn's number. Length 0: nothing completed."""

    length: int
    turns: int
    events: int
    number: int


def cut(tail: Sequence[Event]) -> Cut | None:
    """The cut of a log whose last events are `tail` (contiguous, ending at the head), or None
    when the tail does not reach back to a completed turn and more must be read. A tail that
    begins at seq 0 always has an answer.

    Kept: everything up to the last `turn/end` with `completed` or `max_tokens` of a numbered
    turn, and the injection turns that directly follow it."""
    raise NotImplementedError


def closing(turn: Turn, reason: str, detail: str | None = None) -> Sequence[Body]:
    """What closes an open turn: a synthetic error result for each open call (`NOT_STARTED` when
    no `tool/call` was written, else `OUTCOME_UNKNOWN`), then its `turn/end`."""
    raise NotImplementedError
