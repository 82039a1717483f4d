"""opencode's SQLite file, opened to be read: three tables of it, and nothing is ever written.

A file with a write-ahead log beside it is opened with `mode=ro`, which sees the newest rows and
leaves that log alone. A file in WAL mode without one is at rest: `mode=ro` would leave files of
its own behind there, so it is read as it lies, and again if anything stirred meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import quote

import apsw

from sidechat_mcp.clients.opencode.records import Row
from sidechat_mcp.clients.values import instant
from sidechat_mcp.errors import ParentNotFound, UnknownFormat

T = TypeVar("T")

TABLES = frozenset({"session", "message", "part"})
"""All others are none of our business; some hold secrets."""
LONGEST = 32 * 1024 * 1024
"""Bytes of the longest message or part that is read."""
UNLISTED = 100
"""How many conversations are looked for where there is no list of them."""
PATIENCE = 1000
"""Milliseconds that a writer of a file without a write-ahead log is waited for."""
MAGIC = b"SQLite format 3\0"

_CATALOGUE = frozenset({"sqlite_master", "sqlite_schema"})
_WAL_MODE = 2
_SESSION = (*("id", "parent_id", "directory", "title", "version", "revert", "time_updated"),)
_DATA = f"CASE WHEN length(data) <= {LONGEST} THEN CAST(data AS BLOB) END"


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation as the client lists it. `revert` is the JSON text of what was taken back;
    `updated` is in milliseconds since 1970."""

    id: str
    parent: str | None = None
    directory: str | None = None
    title: str | None = None
    version: str | None = None
    revert: str | None = None
    updated: int = 0


class Connection(Protocol):
    """What we use of `apsw.Connection`, whose own types need Python 3.12 to be read."""

    authorizer: Callable[..., int] | None

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Iterable[Any]: ...
    def set_busy_timeout(self, milliseconds: int) -> None: ...
    def close(self, force: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class Database:
    """Whose rows `consult` hands out. `columns` are those of `session`; none without that table."""

    connection: Connection
    columns: frozenset[str]

    def session(self, id: str) -> Session | None:
        """The session `id`, listed or not."""
        if self.columns and (found := self._sessions("WHERE id = ?", (id,))):
            return found[0]
        written = self._written(id)
        return Session(id, updated=written) if written else None

    def newest(self, folders: Sequence[str] | None, limit: int) -> Sequence[Session]:
        """Conversations of a person, of these folders when given, newest first."""
        unset = [name for name in ("parent_id", "time_archived") if name in self.columns]
        return self._listed(folders, [f"{name} IS NULL" for name in unset], limit)

    def working(self, folders: Sequence[str] | None, limit: int) -> Sequence[Session]:
        """The sessions that were written last, those of agents among them."""
        return self._listed(folders, [], limit)

    def unlisted(self) -> Sequence[Session]:
        """Conversations that have messages and stand in no list."""
        listed = "WHERE session_id NOT IN (SELECT id FROM session)" if self.columns else ""
        ids = "SELECT DISTINCT CAST(session_id AS BLOB) FROM message"
        found = (text(id) for (id,) in self._all(f"{ids} {listed} LIMIT {UNLISTED}"))
        return sorted((Session(id, updated=self._written(id)) for id in found), key=_age)

    def rows(self, id: str, newest: int | None = None) -> Iterator[Row]:
        """All messages of a conversation in the client's own order; or so many of the `newest`,
        newest first."""
        down = " DESC" if newest is not None else ""
        messages = (
            f"SELECT CAST(id AS BLOB), time_created, {_DATA} FROM message WHERE session_id = ?"
            f" ORDER BY time_created{down}, id{down} LIMIT ?"
        )
        at = 0
        for message, created, found in self._all(messages, (id, -1 if newest is None else newest)):
            at = instant(created, at)
            yield Row(text(message), at, data(found), self._parts(message))

    def line(self, id: str) -> Sequence[tuple[str, bytes | None]]:
        """The ids and JSON texts of a conversation's messages, in order."""
        messages = f"SELECT CAST(id AS BLOB), {_DATA} FROM message WHERE session_id = ?"
        found = self._all(f"{messages} ORDER BY time_created, id", (id,))
        return [(text(message), data(value)) for message, value in found]

    def whole(self, table: str, column: str, value: str) -> Iterator[dict[str, Any]]:
        """The rows of one of our three tables with that value, whole, by id."""
        found = self.connection.execute(f"PRAGMA table_info({table})")
        names = [str(row[1]) for row in found]
        listed = ", ".join(f'"{name}"' for name in names)
        rows = self._all(f"SELECT {listed} FROM {table} WHERE {column} = ? ORDER BY id", (value,))
        for row in rows:
            yield dict(zip(names, row, strict=True))

    def _parts(self, message: bytes) -> Sequence[tuple[str, bytes | None]]:
        parts = f"SELECT CAST(id AS BLOB), {_DATA} FROM part WHERE message_id = CAST(? AS TEXT)"
        found = self._all(f"{parts} ORDER BY id", (message,))
        return [(text(id), data(value)) for id, value in found]

    def _listed(
        self, folders: Sequence[str] | None, wheres: list[str], limit: int
    ) -> Sequence[Session]:
        if not self.columns:
            return []
        if folders is not None:
            wheres.append(f"directory IN ({','.join('?' * len(folders))})")
        where = f"WHERE {' AND '.join(wheres) or 1} ORDER BY time_updated DESC, id LIMIT ?"
        return self._sessions(where, (*(folders or ()), limit))

    def _sessions(self, rest: str, values: Sequence[Any]) -> Sequence[Session]:
        names = ((name if name in self.columns else "NULL") for name in _SESSION)
        casts = ", ".join(f"CAST({name} AS BLOB)" for name in names)
        found = self._all(f"SELECT {casts} FROM session {rest}", values)
        return [_session(*map(_words, row)) for row in found]

    def _written(self, id: str) -> int:
        """When the last message of a conversation was created, 0 without one."""
        found = self._all("SELECT max(time_created) FROM message WHERE session_id = ?", (id,))
        return next((instant(last, 1) for (last,) in found if last is not None), 0)

    def _all(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        yield from self.connection.execute(sql, tuple(values))


def consult(path: Path, work: Callable[[Database], T]) -> T:
    """What `work` finds in the file.

    Raises: ParentNotFound (no such file, or it cannot be opened), UnknownFormat."""
    for still in (_at_rest(path), None):
        try:
            found = _consult(path, still is not None, work)
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, UnicodeDecodeError) as error:
            raise _unknown(path, str(error)) from error
        except apsw.Error as error:
            raise _missing(path, str(error)) from error
        if still is None or _at_rest(path) == still:
            return found
    raise AssertionError("the last look is taken as it is")


def _consult(path: Path, still: bool, work: Callable[[Database], T]) -> T:
    """Raises: apsw.Error."""
    uri = f"file:{quote(str(path))}?" + ("immutable=1" if still else "mode=ro")
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = cast("Connection", cast("object", apsw.Connection(uri, flags=flags)))
    try:
        connection.set_busy_timeout(PATIENCE)
        connection.authorizer = _allowed
        connection.execute("BEGIN")
        columns = {name: _columns(connection, name) for name in sorted(TABLES)}
        if not columns["message"] or not columns["part"]:
            raise _unknown(path, "it has no tables `message` and `part`")
        return work(Database(connection, columns["session"]))
    finally:
        connection.close(True)


def _at_rest(path: Path) -> tuple[int, int, int] | None:
    """The state of a file in WAL mode that nobody writes to, by all that can be seen."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            head = file.read(20)
    except (OSError, ValueError) as error:
        raise _missing(path, str(getattr(error, "strerror", None) or error)) from error
    if not head.startswith(MAGIC):
        raise _unknown(path, "it is no SQLite file")
    quiet = not any(Path(f"{path}{suffix}").exists() for suffix in ("-wal", "-journal"))
    wal = len(head) == 20 and head[18] == _WAL_MODE
    return (status.st_ino, status.st_mtime_ns, status.st_size) if quiet and wal else None


def _allowed(
    operation: int, what: str | None, more: str | None, database: str | None, trigger: str | None
) -> int:
    """Whether SQLite may do that: read our three tables and the catalogue, nothing else."""
    del more, database, trigger
    if operation == apsw.SQLITE_READ:
        return apsw.SQLITE_OK if what in TABLES | _CATALOGUE else apsw.SQLITE_DENY
    if operation == apsw.SQLITE_PRAGMA:
        return apsw.SQLITE_OK if what == "table_info" else apsw.SQLITE_DENY
    harmless = (apsw.SQLITE_SELECT, apsw.SQLITE_FUNCTION, apsw.SQLITE_TRANSACTION)
    return apsw.SQLITE_OK if operation in harmless else apsw.SQLITE_DENY


def _columns(connection: Connection, table: str) -> frozenset[str]:
    return frozenset(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))


def _session(
    id: str | None,
    parent: str | None,
    directory: str | None,
    title: str | None,
    version: str | None,
    revert: str | None,
    updated: str | None,
) -> Session:
    at = int(updated) if updated is not None and updated.isdecimal() and len(updated) < 16 else 0
    return Session(id or "", parent, directory, title, version, revert, at)


def _words(value: object) -> str | None:
    return text(value) or None if value is not None else None


def text(value: object) -> str:
    """What stands in a column that should hold text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def data(value: object) -> bytes | None:
    """What stands in a column that should hold JSON text."""
    return value if isinstance(value, bytes) else None


def _age(session: Session) -> int:
    return -session.updated


def _unknown(path: Path, why: str) -> UnknownFormat:
    return UnknownFormat(
        f"{path.name} is no opencode database that this version can read: {why}.",
        then="Upgrade sidechat-mcp, or name another conversation.",
    )


def _missing(path: Path, why: str) -> ParentNotFound:
    return ParentNotFound(
        f"The conversations in {path.name} cannot be read: {why}.",
        then="Name another one, or the file itself where it lies elsewhere (`--file`).",
    )
