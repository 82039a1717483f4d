"""Where the rows run that wait for the disk, and what the disk costs there.

The floor comes first: 4 KiB appended and synced, and a bare commit of one row of 2.4 KB. Where a
sync takes over a millisecond it hides whatever we do; those rows then run in memory, where a sync
is free. A bar that is told in bare commits would mean nothing there, so the sync of a quiet disk
is put on again, for us and for what we are compared with: added where each makes exactly one, and
slept where eight processes wait for each other."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw

from benchmarks.timing import median, percentile

MEMORY = Path("/dev/shm")
SLOW = 1e-3
"""Seconds of a sync from which the rows move into memory."""
QUIET = 2.5e-4
"""Seconds of a sync on a quiet disk."""
BURSTS, BURST, BREAK = 4, 25, 0.1
"""How the floor is looked for: so many syncs at a time, and seconds between."""
ROW = 2_400
"""Bytes of the row of a bare commit: one turn."""


@dataclass(frozen=True, slots=True)
class Ground:
    """On the disk, or in `spare` memory. The rest is the disk's own, in seconds: `floor` and
    `worst` are the median and the 90th percentile of a sync, `commit` is a bare commit."""

    disk: Path
    spare: Path | None
    memory: bool
    floor: float
    worst: float
    commit: float

    @property
    def folder(self) -> Path:
        return self.spare if self.memory and self.spare is not None else self.disk

    def moved(self, *, memory: bool) -> Ground:
        """The same, in memory (where there is any) or on the disk."""
        return replace(self, memory=memory and self.spare is not None)

    def fresh(self, name: str) -> Path:
        """An empty folder."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def with_sync(self, seconds: Sequence[float]) -> Sequence[float]:
        """What it takes when the one sync in it takes as long as on a quiet disk."""
        return [one + QUIET for one in seconds] if self.memory else seconds

    @property
    def note(self) -> str:
        return f"tmpfs, {QUIET * 1e3:g} ms a sync" if self.memory else ""


class Grounds:
    """Chooses between the disk and memory, each time anew: a disk is quiet only for a while."""

    def __init__(self, disk: Path, memory: Path | None) -> None:
        self._disk, self._memory = disk, memory

    def now(self, *, calm: bool = False) -> Ground:
        """Where the next rows run; with `calm` in memory whatever the disk does."""
        floor, worst = sync_floor(self._disk)
        commit = commit_floor(self._disk)
        chosen = Ground(self._disk, self._memory, False, floor, worst, commit)
        return chosen.moved(memory=calm or worst > SLOW)


@contextmanager
def grounds(build: Path) -> Generator[Grounds]:
    """Folders for a run, on the disk under `build` and in memory; removed afterwards."""
    build.mkdir(exist_ok=True)
    with ExitStack() as stack:
        disk = stack.enter_context(TemporaryDirectory(prefix="bench.", dir=build))
        memory: str | None = None
        if MEMORY.is_dir():
            found = TemporaryDirectory(prefix="sidechat-bench.", dir=MEMORY)
            memory = stack.enter_context(found)
        yield Grounds(Path(disk), None if memory is None else Path(memory))


def sync_floor(folder: Path) -> tuple[float, float]:
    """Seconds to append 4 KiB and sync them, in a few bursts: the median and what nine of ten
    stay under."""
    block, taken = os.urandom(4096), list[float]()
    descriptor = os.open(folder / "floor", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        for n in range(BURSTS * BURST):
            if n % BURST == 0:
                time.sleep(BREAK)
            begun = time.perf_counter()
            os.write(descriptor, block)
            os.fsync(descriptor)
            taken.append(time.perf_counter() - begun)
    finally:
        os.close(descriptor)
    return median(taken), percentile(taken, 90)


def commit_floor(folder: Path) -> float:
    """Seconds of a bare commit."""
    bare, taken = BareCommit(folder), list[float]()
    for _ in range(BURSTS * BURST):
        begun = time.perf_counter()
        bare.commit()
        taken.append(time.perf_counter() - begun)
    bare.close()
    return median(taken)


class BareCommit:
    """One row of one turn, committed to the write-ahead log at FULL, and nothing else."""

    def __init__(self, folder: Path) -> None:
        # apsw's own types need Python 3.12 to be read.
        self._connection: Any = apsw.Connection(str(folder / "bare.db"))
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "FULL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS turn (id INTEGER PRIMARY KEY, b BLOB)")
        self._row = os.urandom(ROW)

    async def __call__(self) -> None:
        self.commit()

    def commit(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO turn (b) VALUES (?)", (self._row,))
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


_File: Any = apsw.VFSFile
_System: Any = apsw.VFS


class _SlowFile(_File):
    def xSync(self, flags: int) -> None:
        time.sleep(QUIET)


class SlowSync(_System):
    """While it is registered, every database that is opened syncs like a quiet disk."""

    def __init__(self) -> None:
        _System.__init__(self, "slow-sync", "unix", makedefault=True)

    def xOpen(self, name: object, flags: object) -> object:
        return _SlowFile("unix", name, flags)
