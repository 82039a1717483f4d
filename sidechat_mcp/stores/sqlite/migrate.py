"""Bringing a database to this version: one transaction, under the lock file, after a copy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sidechat_mcp.errors import StoreError
from sidechat_mcp.stores.sqlite.connection import (
    Connection,
    connect,
    journal_mode,
    use_wal,
    version,
)
from sidechat_mcp.stores.sqlite.files import Files, private
from sidechat_mcp.stores.sqlite.locks import LockFile
from sidechat_mcp.stores.sqlite.schema import APPLICATION

PATIENCE = 30.0
"""Seconds to wait for the lock at most; a migration by another process may take some."""


def bring_up(files: Files, steps: Sequence[Sequence[str]]) -> int:
    """Make or migrate the database where needed; returns its version, which is higher than
    `len(steps)` when a newer sidechat wrote it.

    Raises: StoreError (no database of ours, or the lock is not to be had)."""
    if files.database.stat().st_size:
        found = _ready(files.database)
        if found >= len(steps):
            return found
    lock = LockFile(files.lock)
    try:
        with lock.held_within(PATIENCE):
            return _migrate(files, steps)
    finally:
        lock.close()


def _ready(database: Path) -> int:
    """The version of a database that needs nothing done to its journal, else 0."""
    connection = connect(database)
    try:
        found = version(connection)
        if found:
            _check_ours(connection)
        return found if journal_mode(connection) == "wal" else 0
    finally:
        connection.close()


def check_ready(connection: Connection, steps: Sequence[Sequence[str]]) -> int:
    """The version of a database that cannot be brought to this one.

    Raises: StoreError (it is older, or not ours)."""
    found = version(connection)
    _check_ours(connection)
    if found < len(steps):
        raise StoreError(
            "An older version of sidechat wrote this database, and it cannot be brought up to date"
            " where nothing can be written.",
            then="Make its folder writable.",
        )
    return found


def _migrate(files: Files, steps: Sequence[Sequence[str]]) -> int:
    connection = connect(files.database)
    try:
        found = version(connection)
        if found:
            _check_ours(connection)
        elif connection.execute("SELECT count(*) FROM sqlite_schema").get:
            raise _foreign()
        use_wal(connection)
        if found >= len(steps):
            return found
        if found:
            _back_up(connection, files.backup(found))
        connection.execute("BEGIN IMMEDIATE")
        for step in steps[found:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={len(steps)}")
        connection.execute("COMMIT")
        return len(steps)
    finally:
        connection.close()


def _back_up(connection: Connection, copy: Path) -> None:
    """A whole copy under its final name, or none: a half one from a crash is written again."""
    half = copy.with_name(f"{copy.name}.part")
    half.unlink(missing_ok=True)
    os.close(private(half))
    connection.execute("VACUUM INTO ?", (str(half),))
    descriptor = os.open(half, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    half.replace(copy)


def _check_ours(connection: Connection) -> None:
    if connection.execute("PRAGMA application_id").get != APPLICATION:
        raise _foreign()


def _foreign() -> StoreError:
    return StoreError(
        "That file is a database of another program.",
        then="Set SIDECHAT_STORE to another path.",
    )
