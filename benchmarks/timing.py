"""Timing things turn and turn about, so that what else the machine does falls on all of them."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence

Act = Callable[[], Awaitable[object]]
"""What is timed; one that measures itself returns its seconds, a float."""

STRETCH = 20
"""Rounds that are looked at together to find when the machine was quietest."""


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


async def alternate(times: int, *acts: Act, warm: int = 2) -> Sequence[Sequence[float]]:
    """Seconds of each act, `times` a one; each round has an order of its own, for what comes
    after another finds the machine as that one left it. Of a long measurement only the stretch
    counts in which all acts together took least: the machine had least else to do."""
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
                spent = await acts[which]()
                passed = time.perf_counter() - begun
                taken[which].append(spent if isinstance(spent, float) else passed)
    finally:
        gc.unfreeze()
    return _quietest(taken)


def _quietest(taken: Sequence[Sequence[float]]) -> Sequence[Sequence[float]]:
    rounds = len(taken[0])
    stretches = [
        [series[start : start + STRETCH] for series in taken]
        for start in range(0, rounds - STRETCH + 1, STRETCH)
    ]
    return min(stretches or [taken], key=lambda stretch: sum(map(median, stretch)))
