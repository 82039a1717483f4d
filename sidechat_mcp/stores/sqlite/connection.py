"""How a database is opened: which SQLite, which settings, and that they were really taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import apsw

from sidechat_mcp.errors import StoreError

Durability = Literal["FULL", "NORMAL"]
"""FULL survives a power failure. NORMAL survives the death of a process, and may lose the last
writes at a power failure."""

Value = None | int | float | str | bytes


class Cursor(Protocol):
    @property
    def get(self) -> Any:
        """None without a row; a value, or a tuple of several columns, of the one row."""
        ...

    def __iter__(self) -> Iterator[Any]: ...
    def fetchall(self) -> list[Any]: ...
    def close(self) -> None: ...


class Connection(Protocol):
    """What we use of `apsw.Connection`, whose own types need Python 3.12 to be read."""

    @property
    def in_transaction(self) -> bool: ...
    def execute(self, statement: str, values: Sequence[Value] = ()) -> Cursor: ...
    def executemany(self, statement: str, rows: Iterable[Sequence[Value]]) -> Cursor: ...
    def pragma(self, name: str, value: Value = ...) -> Any: ...
    def total_changes(self) -> int: ...
    def set_busy_timeout(self, milliseconds: int) -> None: ...
    def set_wal_hook(self, hook: Callable[[Connection, str, int], int]) -> None: ...
    def wal_autocheckpoint(self, pages: int) -> None: ...
    def wal_checkpoint(self) -> tuple[int, int]: ...
    def close(self) -> None: ...


OLDEST = (3, 51, 3)
"""Before it, two checkpoints and a commit at the same time could lose data in WAL mode."""
BUSY = 5_000
"""Milliseconds to wait for programs that do not use our lock file."""
LOG_SIZE = 8 * 1024 * 1024
"""Bytes that the write-ahead log's file keeps after a large import."""


def check_version(found: str) -> None:
    """Raises StoreError for an SQLite that can lose what it acknowledged."""
    if tuple(int(part) for part in found.split(".")[:3]) < OLDEST:
        raise StoreError(
            f"This SQLite ({found}) can lose data when several processes write; at least"
            f" {'.'.join(map(str, OLDEST))} is needed.",
            then="Install the `apsw` wheel from PyPI, which brings a current one.",
        )


def connect(path: Path) -> Connection:
    """A connection with no settings that change the file; the file must be there."""
    opened: object = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection = cast("Connection", opened)
    connection.set_busy_timeout(BUSY)
    connection.pragma("mmap_size", 0)
    return connection


def journal_mode(connection: Connection) -> str:
    return str(connection.pragma("journal_mode"))


def use_wal(connection: Connection) -> None:
    """Only the answer tells whether the mode was taken: a failure here raises nothing."""
    answer = str(connection.pragma("journal_mode", "WAL"))
    if answer != "wal":
        raise StoreError(
            f"SQLite could not turn its write-ahead log on (it answers {answer!r}).",
            then="Set SIDECHAT_STORE to a path on a local disk.",
        )


def for_reading(path: Path) -> Connection:
    connection = connect(path)
    connection.pragma("query_only", 1)
    return connection


def for_looking(path: Path) -> Connection:
    """A connection where nothing can be written, neither the file nor beside it. Where SQLite
    finds no shared memory then, the file alone is believed, if its log holds nothing.

    Raises: StoreError (its last writes are only in the log)."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    for way in ("mode=ro", "immutable=1"):
        opened: object = apsw.Connection(f"{path.as_uri()}?{way}", flags=flags)
        connection = cast("Connection", opened)
        connection.pragma("mmap_size", 0)
        connection.pragma("query_only", 1)
        try:
            version(connection)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            connection.close()
            if _size(path.with_name(f"{path.name}-wal")):
                break
        else:
            return connection
    raise StoreError(
        f"The last writes to {path} are still in its write-ahead log, and nothing can be written"
        " there to read them.",
        then="Copy the folder to where you can write, and set SIDECHAT_HOME to the copy.",
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def for_writing(path: Path, durability: Durability) -> Connection:
    """Checkpoints are the writer's own work, done outside the lock."""
    connection = connect(path)
    use_wal(connection)
    connection.pragma("synchronous", durability)
    if durability == "FULL":
        # On macOS a plain fsync leaves the data in the drive's cache.
        connection.pragma("fullfsync", 1)
        connection.pragma("checkpoint_fullfsync", 1)
    connection.pragma("journal_size_limit", LOG_SIZE)
    connection.wal_autocheckpoint(0)
    return connection


def version(connection: Connection) -> int:
    return int(connection.execute("PRAGMA user_version").get)
