"""A mirror's events beside a reading of its client's transcript: how far they are the same, and
where the mirror can be left."""

from __future__ import annotations

from collections.abc import Sequence

from sidechat_mcp.core.events import Draft, Event, RequestHeader, TurnEnd


class Behind(Exception):
    """What is new cannot be put behind what a mirror has: the whole conversation must be read."""


def foreign(event: Event) -> bool:
    """Whether an event of a mirror was imported (its id then names the client's record)."""
    return ":" in event.id


def common(known: Sequence[Event], read: Sequence[Draft]) -> int:
    """How many events both begin with."""
    same = 0
    for event, draft in zip(known, read, strict=False):
        if event.id != draft.id:
            break
        same += 1
    return same


def boundary(known: Sequence[Event]) -> int:
    """How many of `known` stay when what follows them differs: up to the last turn's end."""
    for n in range(len(known), 0, -1):
        if isinstance(known[n - 1].body, TurnEnd):
            return n
    return 1 if known and isinstance(known[0].body, RequestHeader) else 0
