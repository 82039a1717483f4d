"""Where the rows run that wait for the disk, and what the disk costs there.

The floor comes first: 4 KiB appended and synced, and a bare commit of one row of 2.4 KB. Where a
sync takes over a millisecond it hides whatever we do; those rows then run in memory, where a sync
is free and hides nothing. So each sync is made to take as long there as on a quiet disk, for us
and for what we are compared with."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from benchmarks.timing import median

MEMORY = Path("/dev/shm")
SLOW = 1e-3
"""Seconds of a sync from which the rows move into memory."""
QUIET = 2e-4
"""Seconds of a sync on a quiet disk."""
ROW = 2_400
"""Bytes of the row of a bare commit: one turn."""


@dataclass(frozen=True, slots=True)
class Ground:
    """`folder` is on the disk or in memory (`memory`); `floor` is the disk's own, in seconds."""

    folder: Path
    memory: bool
    floor: float

    def fresh(self, name: str) -> Path:
        """An empty folder."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    @contextmanager
    def syncing(self) -> Generator[None]:
        """What SQLite syncs in here takes as long as on a quiet disk, wherever it lies."""
        if not self.memory:
            yield
            return
        slow = SlowSync()
        try:
            yield
        finally:
            slow.unregister()


@contextmanager
def ground(build: Path) -> Generator[Ground]:
    """Measure the disk under `build` and choose; what is written is removed afterwards."""
    build.mkdir(exist_ok=True)
    disk = Path(tempfile.mkdtemp(prefix="bench.", dir=build))
    memory: Path | None = None
    try:
        floor = sync_floor(disk)
        if floor > SLOW and MEMORY.is_dir():
            memory = Path(tempfile.mkdtemp(prefix="sidechat-bench.", dir=MEMORY))
        yield Ground(memory or disk, memory is not None, floor)
    finally:
        for folder in (disk, memory):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def sync_floor(folder: Path, times: int = 100) -> float:
    """Seconds to append 4 KiB and sync them."""
    block, taken = os.urandom(4096), list[float]()
    descriptor = os.open(folder / "floor", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        for _ in range(times):
            begun = time.perf_counter()
            os.write(descriptor, block)
            os.fsync(descriptor)
            taken.append(time.perf_counter() - begun)
    finally:
        os.close(descriptor)
    return median(taken)


class BareCommit:
    """One row of one turn, committed to the write-ahead log at FULL, and nothing else."""

    def __init__(self, folder: Path) -> None:
        # apsw's own types need Python 3.12 to be read.
        self._connection: Any = apsw.Connection(str(folder / "bare.db"))
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "FULL")
        self._connection.execute("CREATE TABLE turn (id INTEGER PRIMARY KEY, body BLOB)")
        self._row = os.urandom(ROW)

    async def __call__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO turn (body) VALUES (?)", (self._row,))
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
        super().__init__("slow-sync", "unix", makedefault=True)

    def xOpen(self, name: object, flags: object) -> object:
        return _SlowFile("unix", name, flags)
