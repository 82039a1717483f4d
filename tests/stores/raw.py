"""A database as any other program sees it. Through the same SQLite: two libraries in one process
would undo each other's file locks."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from sidechat_mcp.stores.sqlite.connection import Connection, Value, connect


@contextmanager
def opened(path: Path) -> Generator[Connection]:
    if not path.exists():
        apsw.Connection(str(path)).close()
    connection = connect(path)
    try:
        yield connection
    finally:
        connection.close()


def ask(path: Path, question: str, *values: Value) -> Any:
    """What the question answers; what it changes is kept."""
    with opened(path) as connection:
        return connection.execute(question, values).get


def content(path: Path) -> bytes | None:
    """Only of a file that nobody in this process has open."""
    return path.read_bytes() if path.exists() else None
