"""`LogStore` over one SQLite file, shared by as many processes as there are clients."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import apsw
from anyio import to_thread
from anyio.lowlevel import (
    cancel_shielded_checkpoint,
    checkpoint,
    checkpoint_if_cancelled,
    current_token,
)

from sidechat_mcp.core.events import Draft, Event, Header
from sidechat_mcp.core.ids import SessionId, is_session_id
from sidechat_mcp.errors import AnsweringNow, InvalidRequest, NewerSchema, OutsideError, StoreError
from sidechat_mcp.ports.store import Once, Query, Receipt, Row
from sidechat_mcp.stores.sqlite import listing, reads
from sidechat_mcp.stores.sqlite.connection import (
    Connection,
    Durability,
    check_version,
    for_looking,
    for_reading,
)
from sidechat_mcp.stores.sqlite.faults import (
    closed,
    forbids_writing,
    newer,
    outside,
    unwritable,
)
from sidechat_mcp.stores.sqlite.files import Files, refuse_network
from sidechat_mcp.stores.sqlite.locks import Turns
from sidechat_mcp.stores.sqlite.migrate import bring_up, check_ready
from sidechat_mcp.stores.sqlite.pulse import Pulse
from sidechat_mcp.stores.sqlite.reader import AT_ONCE, Reader
from sidechat_mcp.stores.sqlite.schema import STEPS
from sidechat_mcp.stores.sqlite.writer import Writer
from sidechat_mcp.stores.sqlite.writes import Append, Create, Encoded, Forget, encode

CACHE = 16 * 1024 * 1024
FEW = 200
"""Drafts that are spelled in the event loop: about a millisecond."""
_TRIES = 3
_BETWEEN = 0.002


def microseconds() -> int:
    return time.time_ns() // 1_000


class SqliteStore:
    """As `ports.store.LogStore`; it belongs to the event loop it was opened in. `commits`
    counts the transactions in which this store wrote something."""

    def __init__(
        self,
        files: Files,
        connection: Connection,
        *,
        durability: Durability,
        newest: int,
        now: Callable[[], int],
        cache_bytes: int,
        refuse: Callable[[], StoreError | NewerSchema] | None = None,
        reading: Callable[[Path], Connection] = for_reading,
    ) -> None:
        self._now = now
        self._closed = False
        self._refuse = refuse
        self._reader = Reader(
            files, connection, newest=newest, cache_bytes=cache_bytes, reading=reading
        )
        self._pulse = Pulse(lambda: self._reader.ask(_data_version))
        self._turns = Turns(files.turns)
        self._writer = Writer(
            files,
            durability=durability,
            newest=newest,
            now=now,
            token=current_token(),
            committed=self._pulse.beat,
        )

    @property
    def unwritable(self) -> OutsideError | None:
        return self._refuse() if self._refuse is not None else None

    @property
    def commits(self) -> int:
        return self._writer.commits

    async def create(
        self, header: Header, drafts: Sequence[Draft], *, once: Once | None = None
    ) -> Receipt:
        await self._may_write()
        if not is_session_id(header.id):
            raise InvalidRequest(f"{header.id!r} is no session id.", then="Use [a-z0-9-].")
        return await self._writer.carry_out(Create(header, await _encoded(drafts), once))

    async def append(
        self,
        session: SessionId,
        drafts: Sequence[Draft],
        *,
        expect: int | None,
        once: Once | None = None,
    ) -> Receipt:
        await self._may_write()
        encoded = await _encoded(drafts)
        return await self._writer.carry_out(Append(session, encoded, expect, once))

    async def forget(self, session: SessionId) -> None:
        await self._may_write()
        await self._writer.carry_out(Forget(session))
        self._reader.recent.drop(session)

    async def read(
        self, session: SessionId, start: int = 0, stop: int | None = None, *, verify: bool = False
    ) -> Sequence[Event]:
        await self._open()
        return await self._reader.log(session, start, stop, verify=verify)

    async def row(self, session: SessionId, *, damaged: bool = False) -> Row:
        await self._open()
        return self._reader.ask(reads.row, session, damaged)

    async def rows(self, query: Query) -> Sequence[Row]:
        await self._open()
        if query.limit > AT_ONCE:
            return await self._reader.ask_in_thread(listing.rows, query)
        return self._reader.ask(listing.rows, query)

    async def children(self, session: SessionId) -> Sequence[SessionId]:
        await self._open()
        return self._reader.ask(reads.children, session)

    async def once(self, key: str) -> Receipt | None:
        await self._open()
        return self._reader.ask(reads.once, key, self._now())

    async def onces(self, prefix: str) -> Sequence[tuple[str, Receipt]]:
        await self._open()
        return self._reader.ask(reads.onces, prefix, self._now())

    @asynccontextmanager
    async def hold(self, session: SessionId) -> AsyncGenerator[None]:
        descriptor = await self._take(session)
        try:
            yield
        finally:
            self._turns.give_back(session, descriptor)

    async def held(self, session: SessionId) -> bool:
        await self._open()
        try:
            return self._turns.taken(session)
        except OSError as error:
            raise outside(error) from error

    async def changed(self, since: int) -> tuple[int, Sequence[SessionId]]:
        await self._open()
        mark = self._reader.ask(reads.newest)
        if not since or mark <= since:
            return max(mark, since), []
        return mark, self._reader.ask(reads.written_between, since, mark)

    async def wait(self, since: int) -> None:
        await self._open()
        while True:
            moment = self._pulse.now()
            if self._reader.ask(reads.newest) > since:
                return
            await self._pulse.after(moment)

    async def close(self) -> None:
        """What was given to the store before is written; what comes later is refused."""
        await cancel_shielded_checkpoint()
        self._closed = True
        await self._writer.close()
        self._reader.close()
        self._pulse.beat()

    async def _open(self) -> None:
        await checkpoint()
        if self._closed:
            raise closed()

    async def _may_write(self) -> None:
        # Waiting for the writer is checkpoint enough; whoever was cancelled writes nothing.
        await checkpoint_if_cancelled()
        if self._closed:
            raise closed()
        if self._refuse is not None:
            raise self._refuse()

    async def _take(self, session: SessionId) -> int:
        if self._refuse is not None:
            raise self._refuse()
        for _ in range(_TRIES):
            await self._open()
            try:
                descriptor = self._turns.take(session)
            except OSError as error:
                raise outside(error) from error
            if descriptor is not None:
                return descriptor
            # Somebody may only be looking (`held`), which takes the lock for a moment.
            await anyio.sleep(_BETWEEN)
        raise AnsweringNow(session)


async def open_sqlite(
    path: Path,
    *,
    durability: Durability = "FULL",
    now: Callable[[], int] = microseconds,
    cache_bytes: int = CACHE,
    steps: Sequence[Sequence[str]] = STEPS,
) -> SqliteStore:
    """Open the log at `path`, made if there is none, brought to this version if it is older; one
    that a newer version wrote, or that lies where nothing can be written, is only read. Beside
    it lie a lock file and a folder of turns.
    `cache_bytes` bounds the decoded logs that are kept in memory (0: none).

    Raises: StoreError (no database of ours, a network file system, an unsafe SQLite, the disk).
    """
    try:
        files, connection, refuse, reading = await to_thread.run_sync(_open, path, steps)
    except (apsw.Error, OSError) as error:
        raise outside(error) from error
    return SqliteStore(
        files,
        connection,
        durability=durability,
        newest=len(steps),
        now=now,
        cache_bytes=cache_bytes,
        refuse=refuse,
        reading=reading,
    )


Refuse = Callable[[], StoreError | NewerSchema] | None
Reading = Callable[[Path], Connection]


async def _encoded(drafts: Sequence[Draft]) -> Sequence[Encoded]:
    """Few are written where we stand; many must not keep the event loop from everybody else."""
    return encode(drafts) if len(drafts) <= FEW else await to_thread.run_sync(encode, drafts)


def _open(path: Path, steps: Sequence[Sequence[str]]) -> tuple[Files, Connection, Refuse, Reading]:
    check_version(apsw.sqlite_lib_version())
    files = Files(Path(os.path.realpath(path)))
    refuse_network(files.database)
    try:
        files.make()
        found = bring_up(files, steps)
        connection = for_reading(files.database)
    except OSError as error:
        if not forbids_writing(error):
            raise
        return _looked_at(files, steps)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if os.access(files.database.parent, os.W_OK):
            raise
        return _looked_at(files, steps)
    return files, connection, newer if found > len(steps) else None, for_reading


def _looked_at(
    files: Files, steps: Sequence[Sequence[str]]
) -> tuple[Files, Connection, Refuse, Reading]:
    """A log that lies where nothing can be written."""
    refuse = partial(unwritable, files.database.parent)
    try:
        empty = not files.database.stat().st_size
    except FileNotFoundError:
        empty = True
    if empty:
        raise refuse()
    connection = for_looking(files.database)
    found = check_ready(connection, steps)
    return files, connection, newer if found > len(steps) else refuse, for_looking


def _data_version(connection: Connection) -> object:
    """Changes with every write to the database, and when the connection is another one."""
    return id(connection), connection.execute("PRAGMA data_version").get
