"""A fork is an address: what it costs beside a bare commit, and that history costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import anyio

from benchmarks.figures import Figure, at_most, within
from benchmarks.ground import BareCommit, Ground
from benchmarks.house import AGENT, CALLER, CLOCK, House, built, house
from benchmarks.plan import Plan
from benchmarks.raw import header_bytes
from benchmarks.timing import alternate
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.harness.agents import Meta, Seed

SMALL, LARGE = 10, 10_000


async def forking(ground: Ground, plan: Plan) -> Sequence[Figure]:
    short, long = ground.fresh("fork-short"), ground.fresh("fork-long")
    one, other = await built(short, SMALL), await built(long, LARGE)
    async with house(short) as small, house(long) as large:
        bare = BareCommit(ground.fresh("bare"))
        taken = await alternate(
            plan.times(400), partial(small.fork, one), partial(large.fork, other), bare
        )
        few, many, floor = map(ground.with_sync, taken)
        whole = await alternate(
            plan.times(60), partial(_whole, small, one), partial(_whole, large, other)
        )
        bare.close()
    return [
        at_most("fork at 10,000 turns / at 10", many, few, 1.25, ground.note),
        at_most("fork at 10,000 turns / a bare commit", many, floor, 2, ground.note),
        at_most("fork with its report, warm, 10,000 / 10", whole[1], whole[0], 1.25),
    ]


async def _whole(made: House, parent: SessionId) -> None:
    await made.sidechat.fork(CALLER, parent=parent, key=CLOCK.word())


async def growing(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """What the file grows by, closed and without its log. A session with nothing of its own and
    no key is an address and a header; the header's bytes are taken off."""
    forks = plan.forks
    whole = await _growth(ground, forks, bare=False)
    header = await _growth(ground, forks, bare=True)
    return [
        within("file growth of a fork", whole[0] / forks, 2048, "B"),
        within("of which the address", header[0] / forks - header[1], 200, "B"),
    ]


async def _growth(ground: Ground, forks: int, *, bare: bool) -> tuple[int, float]:
    """Bytes that the file grew by, and the mean bytes of a header with its checksum."""
    folder = ground.fresh("growth")
    file = folder / "log.db"
    async with house(folder) as made:
        parent = await made.session(1_000)
    before = file.stat().st_size
    async with house(folder) as made:
        for _ in range(0, forks, 100):
            async with anyio.create_task_group() as tasks:
                for _ in range(100):
                    tasks.start_soon(_address if bare else House.fork, made, parent)
    return file.stat().st_size - before, header_bytes(file)


async def _address(made: House, parent: SessionId) -> None:
    parts = made.sidechat.parts
    row = await parts.sessions.row(parent)
    meta = Meta("sidechat", CALLER.principal, AGENT, CALLER.cwd)
    await parts.agents.create(Seed(parent, row.head), meta, ())
