"""Locks of the operating system: who writes now, and who runs a turn. A dead holder holds
nothing, so no pid and no time-out is ever consulted."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from sidechat_mcp.core.ids import SessionId, is_session_id
from sidechat_mcp.errors import SessionNotFound
from sidechat_mcp.stores.sqlite.faults import crowded
from sidechat_mcp.stores.sqlite.files import PRIVATE_FOLDER, private

_LOOK_AGAIN = 0.005


class LockFile:
    """The queue in front of the database. SQLite's own waiting sleeps and is unfair between
    processes; the kernel wakes those who wait here in order."""

    def __init__(self, path: Path) -> None:
        self._descriptor = private(path)

    @contextmanager
    def held(self) -> Generator[None]:
        """Wait for our turn, however long it takes."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    @contextmanager
    def held_within(self, seconds: float) -> Generator[None]:
        """Raises StoreError when our turn does not come in time."""
        until = time.monotonic() + seconds
        while not _try(self._descriptor):
            if time.monotonic() >= until:
                raise crowded(seconds)
            time.sleep(_LOOK_AGAIN)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._descriptor)


class Turns:
    """One file a running turn, locked by who runs it and removed when the turn is over. A file
    that nobody locks is what a dead process left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, session: SessionId) -> int | None:
        """A descriptor that holds `session`, or None while somebody else does."""
        path = self._path(session)
        while True:
            descriptor = self._open(path)
            if not _try(descriptor):
                os.close(descriptor)
                return None
            if _is(descriptor, path):
                return descriptor
            # The holder before us removed the file between our opening and our locking it.
            os.close(descriptor)

    def give_back(self, session: SessionId, descriptor: int) -> None:
        # Removed before it is unlocked: whoever locks it later finds that it is gone.
        self._path(session).unlink(missing_ok=True)
        os.close(descriptor)

    def taken(self, session: SessionId) -> bool:
        """Whether somebody holds `session`; what a dead holder left is cleared away."""
        path = self._path(session)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            if not _try(descriptor):
                return True
            if _is(descriptor, path):
                # What cannot be removed holds nobody up.
                with suppress(OSError):
                    path.unlink()
            return False
        finally:
            os.close(descriptor)

    def _open(self, path: Path) -> int:
        try:
            return private(path)
        except FileNotFoundError:
            self._folder.mkdir(exist_ok=True)
            self._folder.chmod(PRIVATE_FOLDER)
            return private(path)

    def _path(self, session: SessionId) -> Path:
        if not is_session_id(session):
            raise SessionNotFound(session)
        return self._folder / session


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
