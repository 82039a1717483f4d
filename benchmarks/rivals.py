"""A fork of 1,000 turns beside how others fork as many, each in its own process, by turns."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, times_faster
from benchmarks.ground import Ground
from benchmarks.house import house
from benchmarks.plan import Plan
from benchmarks.timing import alternate

TOP = Path(__file__).resolve().parent.parent
PYTHON = TOP / ".build" / "bench" / "bin" / "python"
TURNS = 1_000
CALM = 5e-4
"""Seconds of a sync from which the peers' forks, which are long, are compared in memory."""


@dataclass(frozen=True, slots=True)
class Rival:
    """`name` is its module under `peers`; it is forked `rounds` times in the full run. `small`
    is one that does little but sync, as we do: beside it the disk is no matter of noise."""

    name: str
    title: str
    bar: float
    rounds: int
    small: bool = False

    def place(self, ground: Ground) -> Ground:
        """Where to measure: what the peer computes shows only where our one sync is quick."""
        return ground.moved(memory=not self.small and ground.worst > CALM)


PEERS = (
    Rival("openai_agents", "openai-agents SQLiteSession", 50, 60),
    Rival("langgraph", "LangGraph AsyncSqliteSaver", 80, 60),
    Rival("llm", "llm LogStore", 1.5, 150, small=True),
)


async def rivals(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """Nothing when the peers are not installed; `main` says so."""
    if not installed():
        return []
    return [await _beside(one, one.place(ground), plan) for one in PEERS]


async def _beside(rival: Rival, ground: Ground, plan: Plan) -> Figure:
    async with house(ground.fresh("beside-peer")) as made:
        parent = await made.session(TURNS)

        async def ours() -> float:
            # What the peer did to the processor's caches is not ours to pay for.
            await made.fork(parent)
            return await made.fork(parent)

        with _peer(rival.name, ground.fresh(f"peer-{rival.name}")) as peer:

            async def theirs() -> float:
                return peer.fork()

            mine, other = await alternate(plan.times(rival.rounds), ours, theirs)
    title = f"fork at 1,000 turns, times faster than {rival.title}"
    return times_faster(title, mine, other, rival.bar, "tmpfs" if ground.memory else "disk")


def installed() -> bool:
    return PYTHON.exists()


class Peer:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout

    def said(self) -> bytes:
        line = self._stdout.readline()
        assert line, "the peer ended"
        return line.strip()

    def fork(self) -> float:
        """Seconds, as the peer's own process counted them."""
        self._stdin.write(b"fork\n")
        self._stdin.flush()
        return float(self.said())


@contextmanager
def _peer(name: str, folder: Path) -> Generator[Peer]:
    command = [str(PYTHON), "-m", "benchmarks.peers", name, str(folder), str(TURNS)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(TOP)}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment
    )
    try:
        peer = Peer(process)
        assert peer.said() == b"ready"
        yield peer
    finally:
        process.kill()
        process.wait()
