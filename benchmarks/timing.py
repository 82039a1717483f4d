"""Timing things turn and turn about, so that what else the machine does falls on all of them."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence

Act = Callable[[], Awaitable[object]]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


async def alternate(times: int, *acts: Act, warm: int = 2) -> Sequence[Sequence[float]]:
    """Seconds of each act, `times` a one; each round has an order of its own, for what comes
    after another finds the machine as that one left it."""
    for _ in range(warm):
        for act in acts:
            await act()
    order = random.Random(1)
    gc.collect()
    gc.freeze()
    taken: list[list[float]] = [[] for _ in acts]
    try:
        for _ in range(times):
            for which in order.sample(range(len(acts)), len(acts)):
                begun = time.perf_counter()
                await acts[which]()
                taken[which].append(time.perf_counter() - begun)
    finally:
        gc.unfreeze()
    return taken
