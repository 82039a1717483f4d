"""From starting the process to its first answer: what a person waits for when a client opens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.figures import Figure, at_most, within
from benchmarks.ground import Ground
from benchmarks.house import house
from benchmarks.pipe import BARE, OURS, Pipe, piped
from benchmarks.plan import Plan
from benchmarks.timing import median

STARTS = 10
TOGETHER = 4

Hello = Callable[[Pipe], bytes]


def _discover(pipe: Pipe) -> bytes:
    return pipe.modern("server/discover")


async def starting(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """Warm: each has been started before, and there is a log with sessions in it."""
    home = ground.fresh("starting")
    async with house(home) as made:
        parent = await made.session(100)
        for _ in range(20):
            await made.fork(parent)
    for command in (OURS, BARE):
        _start(command, home, Pipe.hello)
    figures = list[Figure]()
    for name, hello in (("initialize", Pipe.hello), ("server/discover", _discover)):
        ours, bare = list[float](), list[float]()
        for n in range(STARTS // 2 if plan.quick else STARTS):
            for command, taken in ((OURS, ours), (BARE, bare))[:: 1 if n % 2 else -1]:
                taken.append(_start(command, home, hello))
        slowest = f"slowest {max(ours):.2f} s"
        figures.append(at_most(f"start to {name} / a bare server", ours, bare, 2))
        figures.append(within(f"start to {name}", median(ours), 1.0, "s", slowest))
    together = [_together(home) for _ in range(plan.rounds)]
    figures.append(within("four starts at once", median(together), 2.5, "s"))
    return figures


def _start(command: Sequence[str], home: Path, hello: Hello) -> float:
    begun = time.perf_counter()
    with piped(command, home) as pipe:
        hello(pipe)
        return time.perf_counter() - begun


def _together(home: Path) -> float:
    """Seconds until the last of four has answered."""
    with ThreadPoolExecutor(TOGETHER) as pool:
        starts = [pool.submit(_start, OURS, home, Pipe.hello) for _ in range(TOGETHER)]
        return max(start.result() for start in starts)
