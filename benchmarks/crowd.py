"""The crowd itself: `python -m benchmarks.crowd HOW FOLDER TIMES SYNC SHARED OWN…` forks one
process for each session OWN and says, a line each, how long every append waited.

HOW is `queued` (our store) or `plain` (the same statements on a connection that waits by SQLite's
busy timeout); SYNC is `slow` or `as-is`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
from anyio.lowlevel import checkpoint

from benchmarks.ground import ROW, SlowSync
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Draft, UserMessage
from sidechat_mcp.core.ids import EventId, SessionId, TurnId
from sidechat_mcp.stores.sqlite.connection import for_writing
from sidechat_mcp.stores.sqlite.faults import outside
from sidechat_mcp.stores.sqlite.store import microseconds, open_sqlite
from sidechat_mcp.stores.sqlite.writes import Append, Transaction, encode

PATIENCE = 30_000
"""Milliseconds of the plain busy timeout: long enough that nobody gives up."""
WAL_PAGES = 1_000
_BODY = UserMessage(TurnId("turn-0"), text("x" * (ROW - 60)))

Write = Callable[[SessionId, Draft], Awaitable[object]]


def main(arguments: Sequence[str]) -> None:
    how, folder, times, sync, shared, *own = arguments
    slow = SlowSync() if sync == "slow" else None
    anyio.run(checkpoint)  # So that the event loop is imported before we fork.
    here, ready = os.pipe()
    begin, go = os.pipe()
    pids = list[int]()
    for number, session in enumerate(own):
        pid = os.fork()
        if pid == 0:
            os.close(go)
            sessions = (SessionId(shared), SessionId(session))
            member = Member(number, int(times), sessions, ready, begin)
            anyio.run(member.queued if how == "queued" else member.plain, Path(folder) / "log.db")
            os._exit(0)
        pids.append(pid)
    for _ in own:
        os.read(here, 1)
    os.close(go)
    for pid in pids:
        os.waitpid(pid, 0)
    if slow is not None:
        slow.unregister()


class Member:
    def __init__(
        self, number: int, times: int, sessions: tuple[SessionId, SessionId], ready: int, begin: int
    ) -> None:
        self._number, self._times = number, times
        self._shared, self._own = sessions
        self._ready, self._begin = ready, begin

    async def queued(self, file: Path) -> None:
        store = await open_sqlite(file)

        async def write(session: SessionId, draft: Draft) -> None:
            await store.append(session, [draft], expect=None)

        await self._run(write)
        await store.close()

    async def plain(self, file: Path) -> None:
        connection = for_writing(file, "FULL")
        connection.set_busy_timeout(PATIENCE)
        connection.wal_autocheckpoint(WAL_PAGES)

        async def write(session: SessionId, draft: Draft) -> None:
            append = Append(session, encode([draft]), None, None)
            connection.execute("BEGIN IMMEDIATE")
            append(Transaction(connection, microseconds()))
            connection.execute("COMMIT")

        await self._run(write)
        connection.close()

    async def _run(self, write: Write) -> None:
        waits, errors = list[float](), 0
        os.write(self._ready, b".")
        os.read(self._begin, 1)
        for n in range(self._times):
            draft = Draft(EventId(f"append-{self._number}-{n}"), 0, _BODY)
            begun = time.perf_counter()
            try:
                await write(self._shared if n % 5 == 4 else self._own, draft)
            except Exception as error:
                errors += 1
                sys.stderr.write(f"{outside(error)}\n")
            waits.append(time.perf_counter() - begun)
        os.write(1, json.dumps({"waits": waits, "errors": errors}).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
