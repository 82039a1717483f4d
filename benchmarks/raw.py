"""The log's file, read with nothing of ours between: the floor of what reading can cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from sidechat_mcp.core import codec
from sidechat_mcp.core.events import Body
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.stores.sqlite.schema import event_id

_EVENTS = "SELECT body FROM event WHERE id >= ? AND id < ? ORDER BY id"
_LINE = """WITH RECURSIVE line (id, parent, lo, hi) AS (
    SELECT id, parent, seed, head FROM session WHERE uid = ?
    UNION ALL
    SELECT up.id, up.parent, up.seed, line.lo FROM line JOIN session AS up ON up.id = line.parent)
  SELECT id, lo, hi FROM line ORDER BY lo"""


class Raw:
    def __init__(self, file: Path) -> None:
        self._connection: Any = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)

    async def fetched(self, session: SessionId) -> list[Body]:
        """Every body of the lineage, fetched and decoded one by one."""
        found: list[Body] = []
        for row, low, high in self._connection.execute(_LINE, (session,)).fetchall():
            span = (event_id(row, low), event_id(row, high))
            found += [codec.load(body) for (body,) in self._connection.execute(_EVENTS, span)]
        return found

    def close(self) -> None:
        self._connection.close()


def header_bytes(file: Path) -> float:
    """The mean size of a fork's header and of its checksum."""
    connection: Any = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    mean = "SELECT avg(length(header) + length(sum)) FROM session WHERE parent IS NOT NULL"
    try:
        return float(connection.execute(mean).get)
    finally:
        connection.close()
