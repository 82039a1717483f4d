"""Reading a whole conversation: near the floor when cold, next to nothing when warm, and never
more memory than was allowed."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from functools import partial

from benchmarks.figures import Figure, at_most, times_faster
from benchmarks.ground import Ground
from benchmarks.house import House, house
from benchmarks.plan import Plan
from benchmarks.raw import Raw
from benchmarks.timing import alternate
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.harness.sessions import Sessions

TURNS = 1_000
BOUND = 4 * 1024 * 1024
"""Bytes of decoded events that the small cache may keep: less than one of its sessions has."""
MEGABYTE = 1024 * 1024


async def loading(ground: Ground, plan: Plan) -> Sequence[Figure]:
    folder = ground.fresh("load")
    async with house(folder, cache=0) as made:
        parent = await made.session(TURNS)
        await made.fork(parent)
        child = made.made[-1]
        raw = Raw(folder / "log.db")
        warm = Sessions(made.store)
        cold = await alternate(
            plan.times(45), partial(_cold, made, child), partial(raw.fetched, child)
        )
        kept = await alternate(
            plan.times(45), partial(_again, warm, child), partial(_cold, made, child)
        )
        raw.close()
    return [
        at_most("load at 1,000 turns / fetch and decode", cold[0], cold[1], 2),
        times_faster("warm prefix at 1,000 turns, times faster than cold", kept[0], kept[1], 100),
    ]


async def _cold(made: House, session: SessionId) -> None:
    await _events(Sessions(made.store), session)


async def _events(sessions: Sessions, session: SessionId) -> None:
    await sessions.events(await sessions.row(session))


async def _again(sessions: Sessions, session: SessionId) -> float:
    """Once more, so that what went before has not emptied the processor's own caches."""
    await _events(sessions, session)
    begun = time.perf_counter()
    await _events(sessions, session)
    return time.perf_counter() - begun


async def bounded(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """Memory that stays in use when six times the bound has been read."""
    async with house(ground.fresh("bounded"), cache=0) as made:
        turns = 250
        sessions = [await made.session(turns) for _ in range(plan.bounded)]
        reading = Sessions(made.store, size=BOUND)
        await _events(Sessions(made.store), sessions[0])
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            for session in sessions:
                await _events(reading, session)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    kept, bound = (after - before) / MEGABYTE, BOUND / MEGABYTE
    note = f"{plan.bounded * turns} turns read"
    return [
        Figure("memory of the cache / its bound", kept, bound, kept / bound, 1.25, "MB", note=note)
    ]
