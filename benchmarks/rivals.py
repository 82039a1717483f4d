"""A fork of 1,000 turns beside how others fork as many, each in its own process, by turns."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.figures import Figure, times_faster
from benchmarks.ground import Ground
from benchmarks.house import house
from benchmarks.plan import Plan
from benchmarks.timing import alternate

TOP = Path(__file__).resolve().parent.parent
PYTHON = TOP / ".build" / "bench" / "bin" / "python"
TURNS = 1_000
PEERS = (
    ("openai_agents", "openai-agents SQLiteSession", 50.0),
    ("langgraph", "LangGraph AsyncSqliteSaver", 80.0),
    ("llm", "llm LogStore", 1.5),
)


async def rivals(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """Nothing when the peers are not installed; `main` says so."""
    figures = list[Figure]()
    if not installed():
        return figures
    for name, title, bar in PEERS:
        with _peer(name, ground.fresh(f"peer-{name}")) as peer:
            async with house(ground.fresh("beside-peer")) as made:
                parent = await made.session(TURNS)
                theirs = list[float]()

                async def ours() -> None:
                    await made.fork(parent)  # noqa: B023 - awaited before the next peer's turn

                async def other() -> None:
                    theirs.append(peer.fork())  # noqa: B023

                mine, _ = await alternate(plan.times(45), ours, other)
        figures.append(
            times_faster(f"fork of 1,000 turns, times faster than {title}", mine, theirs, bar)
        )
    return figures


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
