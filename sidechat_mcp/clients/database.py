"""A client's SQLite file, opened to be read: the tables that are named, and nothing is written.

A file with a write-ahead log beside it is opened with `mode=ro`, which sees the newest rows and
leaves that log alone. One in WAL mode without a log is at rest: `mode=ro` would leave files of its
own behind there, so it is read as it lies, and again if anything stirred meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import quote

import apsw

from sidechat_mcp.clients import files
from sidechat_mcp.errors import ParentNotFound

T = TypeVar("T")

MAGIC = b"SQLite format 3\0"
PATIENCE = 1000
"""Milliseconds that a writer of a file without a write-ahead log is waited for."""

_CATALOGUE = frozenset({"sqlite_master", "sqlite_schema"})
_WAL_MODE = 2


class _Connection(Protocol):
    """What we use of `apsw.Connection`, whose own types need Python 3.12 to be read."""

    authorizer: Callable[..., int] | None

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Iterable[Any]: ...
    def set_busy_timeout(self, milliseconds: int) -> None: ...
    def close(self, force: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class Database:
    """Whose rows `consult` hands out; `columns` of each table, none of one that is not there."""

    connection: _Connection
    columns: Mapping[str, Set[str]]

    def rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        yield from self.connection.execute(statement, tuple(values))

    def column(self, table: str, name: str) -> str:
        """The column's bytes, whatever was put there; NULL where a version has no such one."""
        return f"CAST({name} AS BLOB)" if name in self.columns[table] else "NULL"


def consult(path: Path, what: str, tables: Set[str], work: Callable[[Database], T]) -> T:
    """What `work` finds in those tables of the file; `what` is whose conversations it holds.

    Raises: ParentNotFound (no such file, or it cannot be opened), UnknownFormat."""
    for still in (_at_rest(path, what), None):
        try:
            found = _consult(path, tables, still is not None, work)
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, UnicodeDecodeError) as error:
            raise files.alien(what, str(error)) from error
        except apsw.Error as error:
            raise files.unreadable(path, error) from error
        if still is None or _at_rest(path, what) == still:
            return found
    raise AssertionError("the last look is taken as it is")


def _consult(path: Path, tables: Set[str], still: bool, work: Callable[[Database], T]) -> T:
    """Raises: apsw.Error."""
    uri = f"file:{quote(str(path))}?" + ("immutable=1" if still else "mode=ro")
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = cast("_Connection", cast("object", apsw.Connection(uri, flags=flags)))
    try:
        connection.set_busy_timeout(PATIENCE)
        connection.authorizer = _only(tables)
        connection.execute("BEGIN")
        columns = {name: _columns(connection, name) for name in sorted(tables)}
        return work(Database(connection, columns))
    finally:
        connection.close(True)


def _at_rest(path: Path, what: str) -> tuple[int, int, int] | None:
    """The state of a file in WAL mode that nobody writes to, by all that can be seen."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            head = file.read(20)
    except (OSError, ValueError) as error:
        raise files.unreadable(path, error) from error
    if not head.startswith(MAGIC):
        raise files.alien(what, "it is no SQLite file")
    quiet = not any(Path(f"{path}{suffix}").exists() for suffix in ("-wal", "-journal"))
    wal = len(head) == 20 and head[18] == _WAL_MODE
    return (status.st_ino, status.st_mtime_ns, status.st_size) if quiet and wal else None


def _only(tables: Set[str]) -> Callable[..., int]:
    """Whether SQLite may do something: read these tables and the catalogue, nothing else."""

    def allowed(operation: int, what: str | None, *_: str | None) -> int:
        if operation == apsw.SQLITE_READ:
            return apsw.SQLITE_OK if what in tables | _CATALOGUE else apsw.SQLITE_DENY
        if operation == apsw.SQLITE_PRAGMA:
            return apsw.SQLITE_OK if what == "table_info" else apsw.SQLITE_DENY
        harmless = (apsw.SQLITE_SELECT, apsw.SQLITE_FUNCTION, apsw.SQLITE_TRANSACTION)
        return apsw.SQLITE_OK if operation in harmless else apsw.SQLITE_DENY

    return allowed


def _columns(connection: _Connection, table: str) -> frozenset[str]:
    return frozenset(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))


def text(value: object) -> str | None:
    """The text in a column, None for none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") or None
    return str(value) if value is not None else None


def split(path: Path) -> tuple[Path, str | None]:
    """`DATABASE#ID` → the file and the conversation that is meant; or a file alone."""
    file, mark, ref = path.name.rpartition("#")
    return (path.with_name(file), ref) if mark and file and ref else (path, None)


def one_of(path: Path, what: str, refs: Sequence[str]) -> str:
    """The only conversation of a file. Raises: ParentNotFound, when there is none, or more."""
    if len(refs) == 1:
        return refs[0]
    if not refs:
        raise ParentNotFound(
            f"{path.name} holds no conversation of {what}.", then="Name another file."
        )
    raise ParentNotFound(
        f"{path.name} holds more than one conversation of {what}.",
        then=f"Name one as {path.name}#ID; the newest are {', '.join(refs[:5])}.",
    )
