"""What goes wrong outside is told, changes nothing, and is over once it is over."""

from __future__ import annotations

import resource
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest

from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Draft, UserMessage
from sidechat_mcp.core.ids import EventId, SessionId, TurnId
from sidechat_mcp.errors import DamagedLog, StoreError
from sidechat_mcp.ports.store import Once, Query, Row
from sidechat_mcp.stores.sqlite.connection import (
    Connection,
    Cursor,
    Durability,
    Value,
    for_writing,
)
from sidechat_mcp.stores.sqlite.store import SqliteStore, open_sqlite
from sidechat_mcp.testing.samples import child, draft, drafts, names, native
from tests.behaviours import behaviour
from tests.stores.raw import ask, opened
from tests.stores.waiting import in_one_batch, locked

A = SessionId("a")
FOR_WRITING = "sidechat_mcp.stores.sqlite.writer.for_writing"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await open_sqlite(tmp_path / "log.db")
    yield store
    await store.close()


async def _everything(store: SqliteStore) -> tuple[Sequence[Row], Sequence[Sequence[str]]]:
    rows = await store.rows(Query())
    return rows, [names(await store.read(row.header.id, verify=True)) for row in rows]


def _large(name: str) -> Draft:
    return Draft(EventId(name), 0, UserMessage(TurnId("t"), text("x" * 1_000_000)))


@contextmanager
def _files_end_at(size: int) -> Generator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@behaviour("stores:faults")
async def test_a_full_disk_is_told_and_leaves_the_log_as_it_was(store: SqliteStore) -> None:
    await store.create(native(A), drafts("1"))
    before = await _everything(store)
    with _files_end_at(300_000), pytest.raises(StoreError) as refused:
        await store.append(A, [_large("2")], expect=1, once=Once("key"))
    assert refused.value.retryable
    assert await _everything(store) == before
    assert await store.once("key") is None
    await store.append(A, [_large("2")], expect=1, once=Once("key"))
    assert len(await store.read(A, verify=True)) == 2


@behaviour("stores:faults", "stores:batch")
async def test_a_write_that_has_no_room_does_not_hurt_those_beside_it(
    store: SqliteStore, tmp_path: Path
) -> None:
    await store.create(native(A), [])
    failed: list[str] = []

    async def write(one: Draft) -> None:
        try:
            await store.append(A, [one], expect=None)
        except StoreError:
            failed.append(one.id)

    with _files_end_at(600_000):
        async with anyio.create_task_group() as tasks, in_one_batch(tmp_path):
            for one in (draft("1"), draft("2"), _large("large"), draft("3")):
                tasks.start_soon(write, one)
    assert failed == ["large"]
    assert {event.id for event in await store.read(A)} == {draft(n).id for n in "123"}


async def test_sqlites_own_full_is_told_as_a_full_disk(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bounded(path: Path, durability: Durability) -> Connection:
        connection = for_writing(path, durability)
        connection.pragma("max_page_count", 40)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(FOR_WRITING, bounded)
        await store.create(native(A), drafts("1"))
        with pytest.raises(StoreError, match="disk is full"):
            await store.append(A, [_large("2")], expect=1)
        await store.append(A, drafts("2"), expect=1)
    assert names(await store.read(A, verify=True)) == ["a:0 1", "a:1 2"]


class Faulty:
    """A connection whose statement number `at`, counted from now, fails like a bad disk."""

    def __init__(self, real: Connection) -> None:
        self._real, self.at = real, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def _count(self) -> None:
        self.at -= 1
        if self.at == 0:
            raise apsw.IOError("disk I/O error")

    def execute(self, statement: str, values: Sequence[Value] = ()) -> Cursor:
        self._count()
        return self._real.execute(statement, values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Value]]) -> Cursor:
        self._count()
        return self._real.executemany(statement, rows)


@behaviour("stores:faults")
async def test_a_failing_disk_at_any_statement_is_told_and_changes_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Faulty] = []

    def open_faulty(path: Path, durability: Durability) -> Any:
        opened.append(Faulty(for_writing(path, durability)))
        return opened[-1]

    monkeypatch.setattr(FOR_WRITING, open_faulty)
    await store.create(native(A), drafts("1", "2"))
    writes: Sequence[Callable[[int], Any]] = (
        lambda n: store.create(child(f"s-{n}", A, 1), drafts("x"), once=Once(f"c/{n}")),
        lambda _: store.append(A, drafts("3"), expect=2, once=Once("a")),
        lambda _: store.forget(SessionId("s-0")),
    )
    for number, write in enumerate(writes):
        at = 1
        while await _fails(store, partial(write, number), opened, at):
            at += 1
        assert at > 5, "every statement of the write was reached"
    assert names(await store.read(A, verify=True)) == ["a:0 1", "a:1 2", "a:2 3"]
    assert await store.children(A) == []


async def _fails(
    store: SqliteStore, write: Callable[[], Any], opened: Sequence[Faulty], at: int
) -> bool:
    """Whether there is a statement `at` in `write`; when it fails nothing has changed, and the
    connection is trusted no more."""
    before, connection = await _everything(store), opened[-1]
    connection.at = at
    try:
        await write()
    except StoreError as error:
        failed = error
    else:
        connection.at = 0
        return False
    assert failed.retryable
    assert await _everything(store) == before
    await store.append(A, [], expect=None)
    assert opened[-1] is not connection
    return True


@behaviour("stores:damage")
async def test_a_log_that_is_longer_than_its_head_says_is_damaged_and_takes_nothing_more(
    store: SqliteStore, tmp_path: Path
) -> None:
    await store.create(native(A), drafts("1", "2"))
    ask(tmp_path / "log.db", "UPDATE session SET head = head - 1")
    for expect in (1, None):
        with pytest.raises(DamagedLog) as damaged:
            await store.append(A, drafts("3"), expect=expect)
        assert (damaged.value.session, damaged.value.seq) == (A, 1)
    await store.create(native("b"), drafts("4"))
    assert ask(tmp_path / "log.db", "SELECT count(*) FROM event") == 3


async def test_another_programs_lock_is_told_and_waited_out(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidechat_mcp.stores.sqlite.connection.BUSY", 20)
    with opened(tmp_path / "log.db") as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked") as refused:
            await store.create(native(A), [])
    assert refused.value.retryable
    await store.create(native(A), drafts("1"))
    assert names(await store.read(A)) == ["a:0 1"]


@behaviour("stores:faults")
async def test_a_stopped_process_is_not_waited_for_for_ever(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.create(native(A), drafts("1"))
    monkeypatch.setattr("sidechat_mcp.stores.sqlite.writer.PATIENCE", 0.05)
    with locked(tmp_path), pytest.raises(StoreError, match="Another process") as refused:
        await store.append(A, drafts("late"), expect=1)
    assert refused.value.retryable
    monkeypatch.undo()
    await store.append(A, drafts("2"), expect=1)
    assert names(await store.read(A)) == ["a:0 1", "a:1 2"]
