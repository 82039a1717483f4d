"""Durable steps: what one costs, how many a turn takes, and that many sessions share them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio

from benchmarks.figures import Figure, at_most, within
from benchmarks.forking import LARGE, SMALL
from benchmarks.ground import ROW, BareCommit, Ground
from benchmarks.house import CLOCK, House, built, house
from benchmarks.plan import Plan
from benchmarks.timing import alternate, median
from sidechat_mcp.core.content import ToolUse, text
from sidechat_mcp.core.events import ToolCall, UserMessage
from sidechat_mcp.core.ids import SessionId, TurnId
from sidechat_mcp.harness.sessions import drafts
from sidechat_mcp.providers.scripted import Line
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.stores.sqlite.connection import Durability

SESSIONS = 100
_BODY = UserMessage(TurnId("turn-0"), text("x" * (ROW - 60)))


async def stepping(ground: Ground, plan: Plan) -> Sequence[Figure]:
    short, long = ground.fresh("step-short"), ground.fresh("step-long")
    one, other = await built(short, SMALL), await built(long, LARGE)
    async with house(short) as small, house(long) as large:
        bare = BareCommit(ground.fresh("bare"))
        taken = await alternate(
            plan.times(400), partial(_step, small, one), partial(_step, large, other), bare
        )
        few, many, floor = map(ground.with_sync, taken)
        bare.close()
    return [
        at_most("a durable step at 10,000 turns / a bare commit", many, floor, 2.5, ground.note),
        at_most("a durable step at 10,000 turns / at 10", many, few, 1.25, ground.note),
    ]


async def _step(made: House, session: SessionId) -> None:
    await made.store.append(session, drafts(CLOCK, [_BODY]), expect=None)


async def committing(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """A turn without calls, and one whose model reads two files, one after the other."""
    folder = ground.fresh("commits")
    (folder / "notes.txt").write_text("Nothing of note.\n")
    read = (ToolUse("call-1", "read_file", '{"path": "notes.txt"}'),)
    again = (ToolUse("call-2", "read_file", '{"path": "notes.txt"}'),)
    plain = await _commits(folder / "plain", folder, "An answer.")
    calling = await _commits(folder / "calling", folder, read, again, "Read.")
    return [
        within("commits of a turn: 1 request", plain[0], 2 + plain[1], "", _spelled(plain)),
        within("commits of a turn: with calls", calling[0], 2 + calling[1], "", _spelled(calling)),
    ]


def _spelled(counted: tuple[int, int, int]) -> str:
    _, both, calls = counted
    return f"{both - calls} requests, {calls} calls"


async def _commits(home: Path, cwd: Path, *lines: Line) -> tuple[int, int, int]:
    """Commits, requests and calls together, and calls of one turn of a side session."""
    caller = Caller(cwd=str(cwd))
    async with house(home, "Hello.", *lines) as made:
        parent = (await made.sidechat.native(caller, tools=True)).id
        await made.sidechat.converse(caller, "Hello?", session=parent)
        child = (await made.sidechat.fork(caller, parent=parent)).session
        asked, before = len(made.provider.seen), made.store.commits
        answer = await made.sidechat.converse(caller, "What is there?", session=child)
        assert answer.reason == "completed", answer
        commits, requests = made.store.commits - before, len(made.provider.seen) - asked
        log = await made.store.read(child)
    calls = sum(isinstance(event.body, ToolCall) for event in log)
    assert (requests, calls) == (len(lines), len(lines) - 1), (requests, calls)
    return commits, requests + calls, calls


async def sharing(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """A hundred sessions that write at once, with and without a sync at every commit."""
    steps = 10 if plan.quick else 30
    rates: dict[Durability, list[float]] = {"FULL": [], "NORMAL": []}
    for round in range(plan.rounds * 3):
        for durability in sorted(rates, reverse=bool(round % 2)):
            async with house(ground.fresh("shared"), durability=durability) as made:
                rates[durability].append(await _rate(made, steps))
    # The third of the rounds in which the machine had least else to do.
    best = sorted(zip(rates["FULL"], rates["NORMAL"], strict=True), key=sum)[-plan.rounds :]
    name = "100 sessions at once: FULL / NORMAL"
    mine, other = (median(one) for one in zip(*best, strict=True))
    note = "tmpfs" if ground.memory else ""
    return [Figure(name, mine, other, mine / other, 0.8, "/s", least=True, note=note)]


async def _rate(made: House, steps: int) -> float:
    """Steps a second."""
    sessions = [await made.session(1) for _ in range(SESSIONS)]

    async def run(session: SessionId) -> None:
        for _ in range(steps):
            await _step(made, session)

    begun = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for session in sessions:
            tasks.start_soon(run, session)
    return SESSIONS * steps / (time.perf_counter() - begun)
