"""Folders of ours for the forks of a client, each locked as long as it is used. What a killed
process of ours left behind goes when the next one comes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

DOOR = ".door"
"""The ending of the file beside `rooms` that is locked while somebody comes in: so no folder is
cleared away before it is locked."""


def enter(rooms: Path) -> tuple[Path, BinaryIO]:
    """A new folder in `rooms`, which exists, and its lock, which is held until it is closed.
    Raises: OSError."""
    with rooms.with_name(rooms.name + DOOR).open("ab") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        _clear(rooms)
        path = Path(tempfile.mkdtemp(dir=rooms))
        lock = (path / "lock").open("xb")
        fcntl.flock(lock, fcntl.LOCK_EX)
        return path, lock


def _clear(rooms: Path) -> None:
    """Remove the folders of processes that are gone: nobody locks them any more."""
    for lock in rooms.glob("*/lock"):
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)
