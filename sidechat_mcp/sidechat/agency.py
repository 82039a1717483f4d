"""Which agent answers in a new side session, and how a hosted one is named.

A hosted agent's name carries the point it was forked at, so that any process can start it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sidechat_mcp.core.events import Event, TurnStart
from sidechat_mcp.ports.client import Point

HOSTED = "client:"
QUOTING = "quoting"


def hosted_name(point: Point) -> str:
    return HOSTED + json.dumps(
        [point.client, point.ref, point.turn, point.record, point.cwd], separators=(",", ":")
    )


def hosted_point(agent: str) -> Point | None:
    """The point that a hosted agent's name carries; None for any other agent."""
    if not agent.startswith(HOSTED):
        return None
    client, ref, turn, record, cwd = json.loads(agent.removeprefix(HOSTED))
    return Point(client, ref, turn, record, cwd)


def point(client: str, ref: str, cwd: str | None, seed: Sequence[Event]) -> Point | None:
    """The last completed turn of a mirror's seed, of which `seed` is the tail. Ids of imported
    events begin with the client's own id of their record."""
    record = turn = None
    for event in reversed(seed):
        if ":" not in event.id:
            continue  # A note of ours stands there, not a record of the client's.
        record = record or event.id.partition(":")[0]
        if isinstance(event.body, TurnStart):
            turn = event.body.turn
            break
    if record is None or turn is None:
        return None
    return Point(client, ref, turn, record, cwd)
