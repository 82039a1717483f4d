"""The one thread of this process that writes. It takes what waits, up to `BATCH` works, makes
them one transaction with one commit, and only then answers them all. A work that fails undoes
itself and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import anyio
import apsw
from anyio.lowlevel import EventLoopToken, checkpoint

from sidechat_mcp.stores.sqlite.connection import Connection, Durability, for_writing, version
from sidechat_mcp.stores.sqlite.faults import closed, crowded, newer, outside
from sidechat_mcp.stores.sqlite.files import Files
from sidechat_mcp.stores.sqlite.locks import LockFile
from sidechat_mcp.stores.sqlite.work import Work
from sidechat_mcp.stores.sqlite.writes import Transaction, sweep

T = TypeVar("T")

BATCH = 64
PATIENCE = 10.0
"""Seconds that a work waits for other processes before it is given up."""
MOMENT = 1e-3
"""Seconds that the event loop may stand still for a single write: a commit on a quiet disk."""
CHECKPOINT = 1_000
"""Pages in the write-ahead log from which they are brought into the database."""
SWEEP_EVERY = 64
"""Commits between two looks for expired keys."""
_POISONED = (apsw.IOError, apsw.CorruptError, apsw.CantOpenError, apsw.NotADBError)
"""After these a connection is opened anew before it is trusted with another write."""


class Writer:
    """`commits` counts the transactions that wrote something. `committed` is called in the
    event loop of `token` after each."""

    def __init__(
        self,
        files: Files,
        *,
        durability: Durability,
        newest: int,
        now: Callable[[], int],
        token: EventLoopToken,
        committed: Callable[[], None],
    ) -> None:
        self._files, self._newest = files, newest
        self._durability: Durability = durability
        self._now, self._token, self._committed = now, token, committed
        self.commits = 0
        self._queue: SimpleQueue[Work[Any] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock: LockFile | None = None
        self._connection: Connection | None = None
        self._waiting = 0
        self._leaving = False
        self._ended = anyio.Event()
        self._wrote = False
        self._pages = 0
        self._checkpoint_at = CHECKPOINT
        self._swept_to = b""

    async def carry_out(self, run: Callable[[Transaction], T]) -> T:
        """What `run` answers, once it is durable. Cancelled before the writer took it, it never
        happened; cancelled later, the cancellation waits until it has.

        Raises: whatever `run` raises; StoreError when the disk or the lock fails us."""
        if self._leaving:
            raise closed()
        work = Work(run)
        self._waiting += 1
        self._queue.put(work)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="sidechat-writer", daemon=True)
            self._thread.start()
        try:
            # Whoever else has something to write has queued it when we come back.
            await checkpoint()
            # To be woken through the event loop takes as long as a commit: alone, we stand still.
            if self._waiting > 1 or not work.answered(within=MOMENT):
                with anyio.move_on_after(PATIENCE):
                    await work.done.wait()
        except anyio.get_cancelled_exc_class():
            await work.settled()
            raise
        finally:
            self._waiting -= 1
        if not work.answered() and not await work.settled():
            raise crowded(PATIENCE)
        return work.result()

    async def close(self) -> None:
        """Finish what waits and leave; not at once only if another process holds the lock."""
        if self._leaving:
            return
        self._leaving = True
        if self._thread is None:
            return
        self._queue.put(None)
        with anyio.move_on_after(PATIENCE, shield=True):
            await self._ended.wait()
            self._thread.join()

    # Everything below runs in the thread.

    def _serve(self) -> None:
        last = False
        while not last and (first := self._queue.get()) is not None:
            works, self._wrote = [first], False
            try:
                last = self._turn(works)
            except Exception as error:
                for work in works:
                    work.error = outside(error)
            for work in works:
                work.answer()
            self._soon(partial(self._answer, works, self._wrote))
            self._shorten_log()
        self._drop_connection()
        if self._lock is not None:
            self._lock.close()
        self._soon(self._ended.set)

    def _turn(self, works: list[Work[Any]]) -> bool:
        """One turn at the database; fills `works` with what it answered. True: leave."""
        if self._lock is None:
            self._lock = LockFile(self._files.lock)
        with self._lock.held():
            # Only now, so that those who came or left while we queued are counted right.
            last = self._take(works)
            if works:
                self._together(works)
        return last

    def _take(self, works: list[Work[Any]]) -> bool:
        last = False
        with suppress(Empty):
            while len(works) < BATCH:
                work = self._queue.get_nowait()
                if work is None:
                    last = True
                    break
                works.append(work)
        works[:] = [work for work in works if work.claim()]
        return last

    def _together(self, works: Sequence[Work[Any]]) -> None:
        try:
            connection = self._begin()
        except Exception as error:
            self._undo(error)
            for work in works:
                work.error = outside(error)
            return
        try:
            self._transact(connection, works)
        except Exception as error:
            self._undo(error)
            if len(works) == 1:
                works[0].error = outside(error)
                return
            # Somebody's write broke the whole transaction: each on its own, then.
            for work in works:
                self._together([work])

    def _begin(self) -> Connection:
        if self._connection is None:
            self._connection = for_writing(self._files.database, self._durability)
            self._connection.set_wal_hook(self._logged)
        self._connection.execute("BEGIN IMMEDIATE")
        if version(self._connection) > self._newest:
            raise newer()
        return self._connection

    def _transact(self, connection: Connection, works: Sequence[Work[Any]]) -> None:
        before = connection.total_changes()
        tx = Transaction(connection, self._now())
        if len(works) == 1:
            works[0].value = works[0].run(tx)
        else:
            for work in works:
                _one_of_many(tx, work)
        if connection.total_changes() == before:
            connection.execute("ROLLBACK")
            return
        if self.commits % SWEEP_EVERY == 0:
            self._swept_to = sweep(tx, self._swept_to)
        connection.execute("COMMIT")
        self.commits += 1
        self._wrote = True

    def _undo(self, error: Exception) -> None:
        if self._connection is None:
            return
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error:
            self._drop_connection()
        if isinstance(error, _POISONED):
            self._drop_connection()

    def _logged(self, _connection: Connection, _database: str, pages: int) -> int:
        if pages < self._pages:
            self._checkpoint_at = CHECKPOINT
        self._pages = pages
        return apsw.SQLITE_OK

    def _shorten_log(self) -> None:
        """Bring the log's pages into the database: most of them while others write, the rest
        while nobody does, so that the log starts anew and stays bounded."""
        if self._pages < self._checkpoint_at or self._connection is None or self._lock is None:
            return
        # A slow reader may keep the log from starting anew: look again later, not each time.
        self._checkpoint_at = self._pages + CHECKPOINT
        try:
            self._connection.wal_checkpoint()
            with self._lock.held():
                self._connection.wal_checkpoint()
        except apsw.BusyError:
            pass  # Another process is at it.
        except (apsw.Error, OSError):
            self._drop_connection()

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()

    def _answer(self, works: Sequence[Work[Any]], wrote: bool) -> None:
        """In the event loop: everybody who was served, and whoever waits for news."""
        for work in works:
            work.done.set()
        if wrote:
            self._committed()

    def _soon(self, call: Callable[[], object]) -> None:
        """Call it in the event loop, if there still is one."""
        native: Any = self._token.native_token
        soon = getattr(native, "call_soon_threadsafe", None) or native.run_sync_soon
        with suppress(RuntimeError):
            soon(call)


def _one_of_many(tx: Transaction, work: Work[Any]) -> None:
    tx.connection.execute("SAVEPOINT work")
    try:
        work.error, work.value = None, work.run(tx)
    except apsw.Error:
        raise
    except Exception as error:
        work.error = outside(error)
        tx.connection.execute("ROLLBACK TO work")
    tx.connection.execute("RELEASE work")
