"""Lists of sessions, newest write first. Each question names the index that answers it: without
statistics SQLite cannot know that one parent has few children and one owner many sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sidechat_mcp.core.events import Origin
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.ports.store import Query, Row
from sidechat_mcp.stores.sqlite.connection import Connection
from sidechat_mcp.stores.sqlite.reads import Found, row_in_list
from sidechat_mcp.stores.sqlite.schema import ORIGINS
from sidechat_mcp.stores.sqlite.text import stored

_WORD = "(SELECT id FROM word WHERE text = ?)"


def rows(connection: Connection, query: Query) -> Sequence[Row]:
    if _index(query) != "by_owner" or query.origin is not None:
        return _told(connection, _some(connection, query, query.origin))
    # The index is by owner and origin: the newest of each, merged.
    found = [row for origin in _origins() for row in _some(connection, query, origin)]
    found.sort(key=lambda row: row[-1], reverse=True)
    return _told(connection, found[: max(query.limit, 0)])


def _told(connection: Connection, found: Sequence[Found]) -> Sequence[Row]:
    rows = (row_in_list(connection, row) for row in found)
    return [row for row in rows if row is not None]


def _origins() -> Sequence[Origin]:
    return ("native", "mirror", "sidechat")


def _index(query: Query) -> str:
    if query.client_ref is not None:
        return "by_client_ref"
    if query.parent is not None:
        return "by_parent"
    return "by_owner" if query.owner is not None else "by_active"


def _some(connection: Connection, query: Query, origin: Origin | None) -> Sequence[Found]:
    terms: list[tuple[str, str | bytes | int | None]] = [
        ("client_ref = ?", None if query.client_ref is None else stored(query.client_ref)),
        (
            "parent = (SELECT id FROM session WHERE uid = ?)",
            None if query.parent is None else stored(query.parent),
        ),
        (f"owner = {_WORD}", None if query.owner is None else stored(query.owner)),
        ("origin = ?", None if origin is None else ORIGINS.index(origin)),
        (f"cwd = {_WORD}", None if query.cwd is None else stored(query.cwd)),
        (f"client = {_WORD}", None if query.client is None else stored(query.client)),
        ("active < ?", query.before),
        ("active >= ?", query.since),
    ]
    asked = [(term, value) for term, value in terms if value is not None]
    where = " AND ".join(term for term, _ in asked) or "true"
    # As bytes: one id that is no text any more must not spoil the list.
    found: list[Any] = connection.execute(
        "SELECT CAST(uid AS BLOB), header, sum, head, active FROM session"
        f" INDEXED BY {_index(query)} WHERE {where} ORDER BY active DESC LIMIT ?",
        (*(value for _, value in asked), max(query.limit, 0)),
    ).fetchall()
    return [(SessionId(str(uid, "utf-8", "replace")), *others) for uid, *others in found]
