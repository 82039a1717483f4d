"""Tokens, added up as providers reported them. What was not reported is unknown, never zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sidechat_mcp.core.events import Body, ContextCompacted, Usage


@dataclass(frozen=True, slots=True)
class Spending:
    """Sums over some requests; None where no request reported that count."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


def total(spent: Sequence[Usage]) -> Spending | None:
    """What `spent` add up to; None when nothing was reported at all."""
    if not spent:
        return None
    return Spending(
        _sum(one.input for one in spent),
        _sum(one.output for one in spent),
        _sum(one.cache_read for one in spent),
        _sum(one.cache_write for one in spent),
    )


def cache(spent: Sequence[Usage]) -> str:
    """`hit N`, `miss` or `not reported`, of the first request: the one that had the whole
    history to read."""
    if not spent or spent[0].cache_read is None:
        return "not reported"
    return f"hit {spent[0].cache_read}" if spent[0].cache_read else "miss"


def compared(spent: Sequence[Usage]) -> str | None:
    """What the provider found when it compared the first request with the response before it:
    `same`, `pending`, or what differs in its own word; None where nothing was compared."""
    return spent[0].ids.get("prefix") if spent else None


def reported(bodies: Sequence[Body]) -> int | None:
    """How many tokens the last request among `bodies` and its answer had, as its provider
    counted; None where none did since the context began."""
    for body in reversed(bodies):
        match body:
            case ContextCompacted():
                return None
            case Usage(input=int(given)):
                return given + (body.output or 0)
            case _:
                pass
    return None


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
