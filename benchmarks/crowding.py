"""Eight processes at one log, as eight clients start eight servers: nobody fails, nothing is lost,
and nobody waits as long as behind SQLite's own sleeping."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from benchmarks.figures import Figure, within
from benchmarks.ground import Ground
from benchmarks.house import House, house
from benchmarks.plan import Plan
from benchmarks.timing import percentile
from sidechat_mcp.core.ids import SessionId

PROCESSES = 8
TOP = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Crowd:
    """What eight processes met: how long each append waited, and what went wrong."""

    waits: Sequence[float]
    errors: int
    lost: int


async def crowding(ground: Ground, plan: Plan) -> Sequence[Figure]:
    times = 40 if plan.quick else 80
    queued, plain = list[Crowd](), list[Crowd]()
    for _ in range(plan.rounds):
        queued.append(await _crowd(ground, "queued", times))
        plain.append(await _crowd(ground, "plain", times))
    mine, other = (
        percentile([wait for one in crowds for wait in one.waits], 99) * 1e3
        for crowds in (queued, plain)
    )
    name = "8 processes at one file, p99 / plain busy-timeout"
    return [
        Figure(name, mine, other, mine / other, 0.5, "ms", note=ground.note),
        within("8 processes: errors", sum(one.errors for one in queued), 0, ""),
        within("8 processes: appends lost", sum(one.lost for one in queued), 0, ""),
    ]


async def _crowd(ground: Ground, how: str, times: int) -> Crowd:
    """Every process appends to a session of its own, and every fifth time to one they share."""
    folder = ground.fresh(f"crowd-{how}")
    async with house(folder) as made:
        shared = await made.session(1)
        own = [await made.session(1) for _ in range(PROCESSES)]
    command = [sys.executable, "-m", "benchmarks.crowd", how, str(folder), str(times)]
    command += ["slow" if ground.memory else "as-is", shared, *own]
    done = await anyio.run_process(command, cwd=TOP, stderr=None)
    heard = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(heard) == PROCESSES, heard
    waits = [wait for one in heard for wait in one["waits"]]
    errors = sum(one["errors"] for one in heard)
    async with house(folder) as made:
        kept = [await _names(made, session) for session in (shared, *own)]
    found = sum(name.startswith("append-") for names in kept for name in set(names))
    dense = all(len(names) == len(set(names)) for names in kept)
    lost = PROCESSES * times - errors - found if dense else PROCESSES * times
    return Crowd(waits, errors, lost)


async def _names(made: House, session: SessionId) -> Sequence[str]:
    log = await made.store.read(session, verify=True)
    assert [event.seq for event in log] == list(range(len(log)))
    return [event.id for event in log]
