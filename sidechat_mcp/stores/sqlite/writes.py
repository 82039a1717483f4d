"""The writes, each a function of an open transaction. Places are given here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw

from sidechat_mcp.core import codec
from sidechat_mcp.core.events import Draft, Header
from sidechat_mcp.core.ids import SessionId, is_session_id
from sidechat_mcp.errors import (
    DamagedLog,
    HasChildren,
    InvalidRequest,
    KeyReused,
    Moved,
    SessionNotFound,
)
from sidechat_mcp.ports.store import Once, Receipt
from sidechat_mcp.stores.sqlite.connection import Connection
from sidechat_mcp.stores.sqlite.schema import KEPT, ORIGINS, event_id
from sidechat_mcp.stores.sqlite.text import key, restored, stored

KEPT_FOR = 30 * 24 * 60 * 60 * 1_000_000
"""Microseconds after which a caller's key may be dropped."""
SWEPT = 512
"""Keys looked at in one sweep."""

Encoded = tuple[str | bytes, int, bytes]
"""A draft as it is stored: id, time, body."""

_SESSION = "SELECT id, head FROM session WHERE uid = ?"
_MARK = "max(?, 1 + coalesce((SELECT active FROM session ORDER BY active DESC LIMIT 1), 0))"
"""The time, but later than every mark given before in the whole store."""
_WORD = "(SELECT id FROM word WHERE text = ?)"
_ONCE = "SELECT digest, session, seq, kept, at FROM once WHERE key = ?"


def encode(drafts: Sequence[Draft]) -> Sequence[Encoded]:
    """Raises InvalidRequest for a body that has no stored spelling."""
    try:
        return [
            (stored(draft.id), draft.at, draft.written or codec.dump(draft.body))
            for draft in drafts
        ]
    except (ValueError, TypeError) as error:
        raise InvalidRequest(f"An event cannot be stored: {error}.") from error


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open transaction and what is true for the whole of it; `now` in microseconds."""

    connection: Connection
    now: int


@dataclass(frozen=True, slots=True)
class Create:
    header: Header
    drafts: Sequence[Encoded]
    once: Once | None

    def __call__(self, tx: Transaction) -> Receipt:
        if self.once is not None and (receipt := _again(tx, self.once)):
            return receipt
        header = self.header
        parent = _parent(tx, header)
        head = header.seed_length + len(self.drafts)
        written = codec.dump_header(header)
        words = [_stored(text) for text in (header.owner, header.cwd, header.client)]
        # What is there already is ignored, and so is a word that is none (NOT NULL).
        tx.connection.execute("INSERT OR IGNORE INTO word (text) VALUES (?), (?), (?)", words)
        row: int | None = tx.connection.execute(
            f"""INSERT INTO session (uid, parent, seed, head, active, origin, owner, cwd, client,
              client_ref, sum, header) VALUES (?,?,?,?,{_MARK},?,{_WORD},{_WORD},{_WORD},?,?,?)
              ON CONFLICT (uid) DO NOTHING RETURNING id""",
            (
                *(header.id, parent, header.seed_length, head, tx.now),
                *(ORIGINS.index(header.origin), *words, _stored(header.client_ref)),
                *(codec.checksum(0, header.id, header.created_at, written), written),
            ),
        ).get
        if row is None:
            raise InvalidRequest(f"There already is a session {header.id!r}.", then="Use a new id.")
        _insert(tx, row, header.seed_length, self.drafts)
        if self.once is not None:
            _remember(tx, self.once, row, header.seed_length)
        return Receipt(header.id, header.seed_length, head)


@dataclass(frozen=True, slots=True)
class Append:
    session: SessionId
    drafts: Sequence[Encoded]
    expect: int | None
    once: Once | None

    def __call__(self, tx: Transaction) -> Receipt:
        row, head = _session(tx, self.session)
        if self.once is not None and (receipt := _again(tx, self.once)):
            return receipt
        if self.expect is not None and self.expect != head:
            raise Moved(self.session, self.expect, head)
        stop = head + len(self.drafts)
        if self.drafts:
            try:
                _insert(tx, row, head, self.drafts)
            except apsw.ConstraintError as error:
                why = "there is one already, behind where the log is said to end"
                raise DamagedLog(self.session, head, why) from error
            tx.connection.execute(
                f"UPDATE session SET head = ?, active = {_MARK} WHERE id = ?", (stop, tx.now, row)
            )
        if self.once is not None:
            _remember(tx, self.once, row, head)
        return Receipt(self.session, head, stop)


@dataclass(frozen=True, slots=True)
class Forget:
    session: SessionId

    def __call__(self, tx: Transaction) -> None:
        row, _ = _session(tx, self.session)
        if tx.connection.execute("SELECT 1 FROM session WHERE parent = ? LIMIT 1", (row,)).get:
            raise HasChildren(
                f"Session {self.session!r} has side sessions.", then="Forget those first."
            )
        tx.connection.execute(
            # All there are, whatever its head says: the row's number may be given again.
            "DELETE FROM event WHERE id >= ? AND id < ?",
            (event_id(row, 0), event_id(row + 1, 0)),
        )
        tx.connection.execute("DELETE FROM once WHERE session = ?", (row,))
        tx.connection.execute("DELETE FROM session WHERE id = ?", (row,))


def sweep(tx: Transaction, after: bytes) -> bytes:
    """Drop the expired ones of the next `SWEPT` keys; returns where to go on."""
    last = tx.connection.execute(
        "SELECT key FROM once WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?", (after, SWEPT)
    ).get
    tx.connection.execute(
        "DELETE FROM once WHERE key > ? AND (?2 IS NULL OR key <= ?2) AND kept = 0 AND at < ?3",
        (after, last, tx.now - KEPT_FOR),
    )
    return b"" if last is None else last


def _session(tx: Transaction, session: SessionId) -> tuple[int, int]:
    if not is_session_id(session):
        raise SessionNotFound(session)
    found = tx.connection.execute(_SESSION, (session,)).get
    if found is None:
        raise SessionNotFound(session)
    return found


def _parent(tx: Transaction, header: Header) -> int | None:
    if header.parent_session is None:
        if header.seed_length:
            raise InvalidRequest("A session without a parent inherits nothing.")
        return None
    row, head = _session(tx, header.parent_session)
    if not 0 <= header.seed_length <= head:
        raise InvalidRequest(
            f"Session {header.parent_session!r} has {head} events, not {header.seed_length}.",
            then="Read it again and fork at a place it has.",
        )
    return row


def _insert(tx: Transaction, row: int, start: int, drafts: Sequence[Encoded]) -> None:
    tx.connection.executemany(
        "INSERT INTO event (id, at, eid, sum, body) VALUES (?,?,?,?,?)", _rows(row, start, drafts)
    )


def _rows(
    row: int, start: int, drafts: Sequence[Encoded]
) -> Iterable[tuple[int, int, str | bytes, bytes, bytes]]:
    for seq, (eid, at, body) in enumerate(drafts, start):
        yield event_id(row, seq), at, eid, codec.checksum(seq, restored(eid), at, body), body


def _again(tx: Transaction, once: Once) -> Receipt | None:
    found = tx.connection.execute(_ONCE, (key(once.key),)).get
    if found is None:
        return None
    digest, row, seq, kept, at = found
    if KEPT[kept] == "caller" and at < tx.now - KEPT_FOR:
        return None
    if digest != stored(once.digest):
        raise KeyReused(once.key)
    uid, head = tx.connection.execute("SELECT uid, head FROM session WHERE id = ?", (row,)).get
    return Receipt(uid, seq, head, again=True, digest=once.digest)


def _remember(tx: Transaction, once: Once, row: int, seq: int) -> None:
    tx.connection.execute(
        "INSERT OR REPLACE INTO once (key, digest, session, seq, kept, at) VALUES (?,?,?,?,?,?)",
        (key(once.key), stored(once.digest), row, seq, KEPT.index(once.kept), tx.now),
    )


def _stored(text: str | None) -> str | bytes | None:
    return None if text is None else stored(text)
