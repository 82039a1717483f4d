"""Where a conversation may be cut, and what closes a turn that was left open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import (
    Body,
    ContextCompacted,
    Event,
    Reason,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from sidechat_mcp.core.session import Turn

Outcome = Literal["NOT_STARTED", "OUTCOME_UNKNOWN"]

_WORDS: dict[Outcome, str] = {
    "NOT_STARTED": "NOT_STARTED: the turn ended before this call was carried out.",
    "OUTCOME_UNKNOWN": (
        "OUTCOME_UNKNOWN: this call was begun and its result was never recorded;"
        " it may or may not have taken effect."
    ),
}


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
    turn, and the injection turns that directly follow it. A `context/compacted` between turns
    there is kept as well: the model's own context began anew with it."""
    kept, number = 0, 0
    begun: TurnStart | None = None
    follows = False
    for place, event in enumerate(tail, 1):
        match event.body:
            case TurnStart():
                follows = follows and begun is None and event.body.of == "injection"
                begun = event.body
            case TurnEnd(turn=turn, reason=reason) if begun is not None and begun.turn == turn:
                if begun.of == "turn" and reason in ("completed", "max_tokens"):
                    kept, number, follows = place, begun.number or 0, True
                elif follows:
                    kept = place
                begun = None
            case ContextCompacted() if follows and begun is None:
                kept = place
            case _:
                pass
    if not kept and tail and tail[0].seq:
        return None
    length = (tail[0].seq if tail else 0) + kept
    turns = sum(isinstance(event.body, TurnStart) for event in tail[kept:])
    return Cut(length, turns, len(tail) - kept, number)


def closing(turn: Turn, reason: Reason, detail: str | None = None) -> Sequence[Body]:
    """What closes an open turn: a synthetic error result for each open call (`NOT_STARTED` when
    no `tool/call` was written, else `OUTCOME_UNKNOWN`), then its `turn/end`."""
    return [*_results(turn), TurnEnd(turn.id, reason, detail)]


def _results(turn: Turn) -> Iterator[ToolResult]:
    outcomes: dict[str, Outcome] = dict.fromkeys(turn.started, "OUTCOME_UNKNOWN")
    outcomes |= dict.fromkeys(turn.asked, "NOT_STARTED")
    for call, outcome in outcomes.items():
        yield ToolResult(turn.id, call, text(_WORDS[outcome]), is_error=True, synthetic=outcome)
