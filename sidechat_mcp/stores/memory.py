"""A store in this process's memory: for tests, and the yardstick for the other stores. It does
the plainest thing that keeps the contract."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import cancel_shielded_checkpoint, checkpoint

from sidechat_mcp.core.events import Draft, Event, Header
from sidechat_mcp.core.ids import SessionId, is_session_id
from sidechat_mcp.core.lineage import clip, spans
from sidechat_mcp.errors import (
    AnsweringNow,
    HasChildren,
    InvalidRequest,
    KeyReused,
    Moved,
    SessionNotFound,
    StoreError,
)
from sidechat_mcp.ports.store import Once, Query, Receipt, Row

KEPT_FOR = 30 * 24 * 60 * 60 * 1_000_000
"""Microseconds after which a caller's key counts no more."""


def microseconds() -> int:
    return time.time_ns() // 1_000


@dataclass(slots=True)
class _Log:
    header: Header
    active: int
    events: list[Event] = field(default_factory=list[Event])

    @property
    def row(self) -> Row:
        return Row(self.header, self.header.seed_length + len(self.events), self.active)


@dataclass(frozen=True, slots=True)
class _Key:
    once: Once
    session: SessionId
    seq: int
    at: int


class MemoryStore:
    """As `ports.store.LogStore`. `commits` counts the writes, as a database would commit them."""

    def __init__(self, now: Callable[[], int] = microseconds) -> None:
        self.commits = 0
        self._now = now
        self._logs: dict[SessionId, _Log] = {}
        self._keys: dict[str, _Key] = {}
        self._held: set[SessionId] = set()
        self._written = anyio.Event()
        self._closed = False

    @property
    def unwritable(self) -> None:
        """It always can be written."""
        return None

    async def create(
        self, header: Header, drafts: Sequence[Draft], *, once: Once | None = None
    ) -> Receipt:
        await self._open()
        if not is_session_id(header.id):
            raise InvalidRequest(f"{header.id!r} is no session id.", then="Use [a-z0-9-].")
        if once is not None and (receipt := self._again(once)):
            return receipt
        self._check_parent(header)
        if header.id in self._logs:
            raise InvalidRequest(f"There already is a session {header.id!r}.", then="Use a new id.")
        self._logs[header.id] = _Log(header, 0)
        return self._write(header.id, drafts, once, new=True)

    async def append(
        self,
        session: SessionId,
        drafts: Sequence[Draft],
        *,
        expect: int | None,
        once: Once | None = None,
    ) -> Receipt:
        await self._open()
        head = self._log(session).row.head
        if once is not None and (receipt := self._again(once)):
            return receipt
        if expect is not None and expect != head:
            raise Moved(session, expect, head)
        return self._write(session, drafts, once, new=False)

    async def read(
        self, session: SessionId, start: int = 0, stop: int | None = None, *, verify: bool = False
    ) -> Sequence[Event]:
        await self._open()
        row = self._log(session).row
        whole = spans(row.header, row.head, lambda up: self._logs[up].header)
        high = row.head if stop is None else stop
        found: list[Event] = []
        for span in clip(whole, max(start, 0), high):
            log = self._logs[span.session]
            first = log.header.seed_length
            found += log.events[span.start - first : span.stop - first]
        return found

    async def row(self, session: SessionId, *, damaged: bool = False) -> Row:
        await self._open()
        return self._log(session).row

    async def rows(self, query: Query) -> Sequence[Row]:
        await self._open()
        found = [log.row for log in self._logs.values() if _matches(query, log)]
        found.sort(key=lambda row: row.active, reverse=True)
        return found[: max(query.limit, 0)]

    async def children(self, session: SessionId) -> Sequence[SessionId]:
        await self._open()
        return [id for id, log in self._logs.items() if log.header.parent_session == session]

    async def once(self, key: str) -> Receipt | None:
        await self._open()
        found = self._key(key)
        return None if found is None else self._receipt(found)

    async def onces(self, prefix: str) -> Sequence[tuple[str, Receipt]]:
        await self._open()
        names = sorted(name for name in self._keys if name.startswith(prefix))
        found = [(name, self._key(name)) for name in names]
        return [(name, self._receipt(key)) for name, key in found if key is not None]

    async def forget(self, session: SessionId) -> None:
        await self._open()
        self._log(session)
        if any(log.header.parent_session == session for log in self._logs.values()):
            raise HasChildren(f"Session {session!r} has side sessions.", then="Forget those first.")
        del self._logs[session]
        self._keys = {name: key for name, key in self._keys.items() if key.session != session}
        self.commits += 1

    @asynccontextmanager
    async def hold(self, session: SessionId) -> AsyncGenerator[None]:
        await self._open()
        if not is_session_id(session):
            raise SessionNotFound(session)
        if session in self._held:
            raise AnsweringNow(session)
        self._held.add(session)
        try:
            yield
        finally:
            self._held.remove(session)

    async def held(self, session: SessionId) -> bool:
        await self._open()
        if not is_session_id(session):
            raise SessionNotFound(session)
        return session in self._held

    async def changed(self, since: int) -> tuple[int, Sequence[SessionId]]:
        await self._open()
        written = [(log.active, id) for id, log in self._logs.items() if log.active > since]
        return max(self._newest(), since), [id for _, id in sorted(written)] if since else []

    async def wait(self, since: int) -> None:
        await self._open()
        while self._newest() <= since:
            await self._written.wait()
            await self._open()

    async def close(self) -> None:
        await cancel_shielded_checkpoint()
        self._closed = True
        self._tell()

    async def _open(self) -> None:
        await checkpoint()
        if self._closed:
            raise StoreError("The store is closed.", then="Open it again.")

    def _log(self, session: SessionId) -> _Log:
        if session not in self._logs:
            raise SessionNotFound(session)
        return self._logs[session]

    def _check_parent(self, header: Header) -> None:
        if header.parent_session is None:
            if header.seed_length:
                raise InvalidRequest("A session without a parent inherits nothing.")
            return
        head = self._log(header.parent_session).row.head
        if not 0 <= header.seed_length <= head:
            raise InvalidRequest(
                f"Session {header.parent_session!r} has {head} events, not {header.seed_length}.",
                then="Read it again and fork at a place it has.",
            )

    def _write(
        self, session: SessionId, drafts: Sequence[Draft], once: Once | None, *, new: bool
    ) -> Receipt:
        log, now = self._logs[session], self._now()
        seq = log.row.head
        log.events += [
            Event(session, place, draft.id, draft.at, draft.body)
            for place, draft in enumerate(drafts, seq)
        ]
        if new or drafts:
            log.active = max(now, self._newest() + 1)
        if once is not None:
            self._keys[once.key] = _Key(once, session, seq, now)
        if new or drafts or once is not None:
            self.commits += 1
        self._tell()
        return Receipt(session, seq, log.row.head)

    def _again(self, once: Once) -> Receipt | None:
        found = self._key(once.key)
        if found is not None and found.once.digest != once.digest:
            raise KeyReused(once.key)
        return None if found is None else self._receipt(found)

    def _key(self, name: str) -> _Key | None:
        found = self._keys.get(name)
        if found is None or (found.once.kept == "caller" and found.at < self._now() - KEPT_FOR):
            return None
        return found

    def _receipt(self, key: _Key) -> Receipt:
        head = self._logs[key.session].row.head
        return Receipt(key.session, key.seq, head, again=True, digest=key.once.digest)

    def _newest(self) -> int:
        return max((log.active for log in self._logs.values()), default=0)

    def _tell(self) -> None:
        written, self._written = self._written, anyio.Event()
        written.set()


def _matches(query: Query, log: _Log) -> bool:
    header = log.header
    wanted = (
        (query.origin, header.origin),
        (query.owner, header.owner),
        (query.parent, header.parent_session),
        (query.cwd, header.cwd),
        (query.client, header.client),
        (query.client_ref, header.client_ref),
    )
    return (
        all(asked is None or asked == there for asked, there in wanted)
        and (query.before is None or log.active < query.before)
        and (query.since is None or log.active >= query.since)
    )
