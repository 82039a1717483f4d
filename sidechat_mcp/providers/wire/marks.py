"""Where cache breakpoints stand, so that what was paid for once is found again."""

from __future__ import annotations

from collections.abc import Sequence

from sidechat_mcp.providers.wire.pieces import Piece

LOOKBACK = 20
"""How many blocks back from a breakpoint a provider looks for an earlier entry."""


def places(pieces: Sequence[Piece], budget: int) -> tuple[int, ...]:
    """At most `budget` places to mark, in order.

    Marked are, the first being the most wanted: the newest piece; the last inherited one, where
    all children of a fork meet; the last one of the request before this (its answer follows it),
    where that request left its entry. Whatever the budget, that entry stays within reach."""
    able = [place for place, piece in enumerate(pieces) if piece.markable]
    if not able or budget < 1:
        return ()
    fork = max((place for place in able if pieces[place].inherited), default=None)
    earlier = _earlier_end(pieces, able)
    wanted = [able[-1]]
    wanted += [place for place in (fork, earlier) if place is not None]
    chosen = list(dict.fromkeys(wanted))[:budget]
    if earlier is not None and not any(0 <= place - earlier < LOOKBACK for place in chosen):
        chosen[-1] = earlier
    return tuple(sorted(chosen))


def _earlier_end(pieces: Sequence[Piece], able: Sequence[int]) -> int | None:
    """Where the request ended that the last answer answers."""
    answer = max(
        (place for place, piece in enumerate(pieces) if piece.role == "assistant"), default=-1
    )
    while answer >= 0 and pieces[answer].role == "assistant":
        answer -= 1
    return max((place for place in able if place <= answer), default=None)
