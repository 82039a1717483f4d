"""The questions. Events never change and ancestors outlive their children, so a log may be read
in several steps without a transaction around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sidechat_mcp.core import codec
from sidechat_mcp.core.events import Event, Header
from sidechat_mcp.core.ids import EventId, SessionId, is_session_id
from sidechat_mcp.errors import DamagedLog, SessionNotFound
from sidechat_mcp.ports.store import Receipt, Row
from sidechat_mcp.stores.sqlite.connection import Connection
from sidechat_mcp.stores.sqlite.schema import KEPT, ORIGINS, PLACES, event_id
from sidechat_mcp.stores.sqlite.text import after, key, restored
from sidechat_mcp.stores.sqlite.writes import KEPT_FOR

_LINE = """WITH RECURSIVE line (id, uid, parent, lo, hi) AS (
    SELECT id, uid, parent, seed, head FROM session WHERE uid = ?1
    UNION ALL
    SELECT up.id, up.uid, up.parent, up.seed, min(line.lo, line.hi)
      FROM line JOIN session AS up ON up.id = line.parent WHERE min(line.lo, line.hi) > ?2)
  SELECT id, uid, lo, hi FROM line"""
_EVENTS = "SELECT id, at, eid, body, sum FROM event WHERE id >= ? AND id < ? ORDER BY id"
_ROW = "SELECT ?1, header, sum, head, active FROM session WHERE uid = ?1"
_KNOWN = """SELECT it.origin, owner.text, up.uid, it.seed, cwd.text, client.text,
    it.client_ref, it.head, it.active
  FROM session AS it LEFT JOIN word AS owner ON owner.id = it.owner
    LEFT JOIN word AS cwd ON cwd.id = it.cwd LEFT JOIN word AS client ON client.id = it.client
    LEFT JOIN session AS up ON up.id = it.parent
  WHERE it.uid = ?"""
_ONCE = """SELECT once.key, session.uid, once.seq, session.head, once.kept, once.at, once.digest
  FROM once JOIN session ON session.id = once.session"""

Found = tuple[SessionId, bytes, bytes, int, int]
"""A session's row as `_ROW` asks for it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Places `[start, stop)` that the session in row `row` owns; its own begin at `first`."""

    row: int
    session: SessionId
    first: int
    start: int
    stop: int


def pieces(
    connection: Connection, session: SessionId, start: int, stop: int | None
) -> Sequence[Piece]:
    """Who owns `[start, stop)` of a log, oldest first, without empty pieces.

    Raises: SessionNotFound, DamagedLog (an ancestor is missing)."""
    if not is_session_id(session):
        raise SessionNotFound(session)
    line: list[tuple[int, SessionId, int, int]] = list(
        connection.execute(_LINE, (session, max(start, 0)))
    )
    if not line:
        raise SessionNotFound(session)
    *_, (_, oldest, first, top) = line
    if min(first, top) > max(start, 0):
        raise DamagedLog(oldest, first - 1, "the session it was forked from is missing")
    low, high = max(start, 0), line[0][3] if stop is None else stop
    found = [
        Piece(row, uid, first, max(first, low), min(last, high)) for row, uid, first, last in line
    ]
    return [piece for piece in reversed(found) if piece.stop > piece.start]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events that stand one behind the other, and the bytes their bodies take in the file."""

    events: list[Event]
    size: int


def stretch(connection: Connection, piece: Piece, *, verify: bool = False) -> Stretch:
    """Raises: DamagedLog."""
    found: list[Event] = []
    size, seq = 0, piece.start
    rows = connection.execute(
        _EVENTS, (event_id(piece.row, piece.start), event_id(piece.row, piece.stop))
    )
    try:
        for id, at, eid, body, sum in rows:
            if id % PLACES != seq:
                break
            found.append(_event(piece.session, seq, at, eid, body, sum if verify else None))
            size += len(body)
            seq += 1
    except UnicodeDecodeError as error:
        raise DamagedLog(piece.session, seq, f"it cannot be read ({error})") from error
    finally:
        # A half-read question would pin what this connection sees.
        rows.close()
    if seq != piece.stop:
        raise DamagedLog(piece.session, seq, "it is missing")
    return Stretch(found, size)


def _event(
    session: SessionId, seq: int, at: int, eid: str | bytes, body: bytes, sum: bytes | None
) -> Event:
    try:
        name = restored(eid)
        if sum is not None and codec.checksum(seq, name, at, body) != sum:
            raise DamagedLog(session, seq, "it differs from its checksum")
        return Event(session, seq, EventId(name), at, codec.load(body))
    except (ValueError, TypeError, AttributeError) as error:
        # Types too: a changed byte can turn what SQLite stored as bytes into something else.
        raise DamagedLog(session, seq, f"it cannot be read ({error})") from error


def verify_headers(connection: Connection, found: Sequence[Piece]) -> None:
    """Raises: DamagedLog when a header, or the address beside it, is not what was written."""
    for piece in found:
        written = row(connection, piece.session).header
        parent: Any = connection.execute(
            "SELECT up.uid FROM session JOIN session AS up ON up.id = session.parent"
            " WHERE session.uid = ?",
            (piece.session,),
        ).get
        if (written.parent_session, written.seed_length) != (parent, piece.first):
            raise DamagedLog(piece.session, piece.first, "its address differs from its header")


def row(connection: Connection, session: SessionId, damaged: bool = False) -> Row:
    """Raises: SessionNotFound, DamagedLog (not with `damaged`)."""
    found: Any = is_session_id(session) and connection.execute(_ROW, (session,)).get
    if not found:
        raise SessionNotFound(session)
    known = row_in_list(connection, found) if damaged else as_row(found)
    if known is None:  # It was forgotten a moment ago.
        raise SessionNotFound(session)
    return known


def row_in_list(connection: Connection, found: Found) -> Row | None:
    """A row whose header may be damaged: it then says so, and what the columns beside it say.
    None where its very id is: nobody could ask for it."""
    try:
        return as_row(found)
    except DamagedLog as error:
        return _known(connection, found[0], str(error))


def as_row(found: Found) -> Row:
    """Raises: DamagedLog."""
    uid, written, sum, head, active = found
    return Row(_header(uid, written, sum), head, active)


def _known(connection: Connection, session: SessionId, why: str) -> Row | None:
    found: Any = connection.execute(_KNOWN, (session,)).get
    if found is None:
        return None
    origin, owner, up, seed, cwd, client, client_ref, head, active = found
    header = Header(
        session,
        0,
        ORIGINS[int(origin)],
        restored(owner or ""),
        "",
        up,
        seed if up is not None else 0,
        *(None if text is None else restored(text) for text in (cwd, client, client_ref)),
    )
    return Row(header, head, active, why)


# Rows are asked for again and again, and a header never changes.
@lru_cache(maxsize=4096)
def _header(uid: SessionId, written: bytes, sum: bytes) -> Header:
    try:
        header = codec.load_header(written)
        if header.id != uid or codec.checksum(0, uid, header.created_at, written) != sum:
            raise DamagedLog(uid, 0, "its header differs from its checksum")
    except (ValueError, TypeError) as error:
        raise DamagedLog(uid, 0, f"its header cannot be read ({error})") from error
    return header


def children(connection: Connection, session: SessionId) -> Sequence[SessionId]:
    if not is_session_id(session):
        return []
    return [
        uid
        for (uid,) in connection.execute(
            "SELECT uid FROM session WHERE parent = (SELECT id FROM session WHERE uid = ?)"
            " ORDER BY id",
            (session,),
        )
    ]


def once(connection: Connection, name: str, now: int) -> Receipt | None:
    found = connection.execute(f"{_ONCE} WHERE once.key = ?", (key(name),)).get
    return None if found is None else _receipt(found, now)


def onces(connection: Connection, prefix: str, now: int) -> Sequence[tuple[str, Receipt]]:
    low, high = key(prefix), after(key(prefix))
    rows = connection.execute(
        f"{_ONCE} WHERE once.key >= ?1 AND (?2 IS NULL OR once.key < ?2) ORDER BY once.key",
        (low, high),
    )
    found = [(restored(row[0]), _receipt(row, now)) for row in rows]
    return [(name, receipt) for name, receipt in found if receipt is not None]


def _receipt(
    found: tuple[bytes, SessionId, int, int, int, int, str | bytes], now: int
) -> Receipt | None:
    _, session, seq, head, kept, at, digest = found
    if KEPT[kept] == "caller" and at < now - KEPT_FOR:
        return None
    return Receipt(session, seq, head, again=True, digest=restored(digest))


def newest(connection: Connection) -> int:
    return connection.execute("SELECT active FROM session ORDER BY active DESC LIMIT 1").get or 0


def written_between(connection: Connection, since: int, mark: int) -> Sequence[SessionId]:
    return [
        uid
        for (uid,) in connection.execute(
            "SELECT uid FROM session WHERE active > ? AND active <= ? ORDER BY active",
            (since, mark),
        )
    ]
