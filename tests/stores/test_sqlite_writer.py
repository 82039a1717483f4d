"""One thread writes: what waits is committed together, and nobody is left without an answer."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import Moved, StoreError
from sidechat_mcp.ports.store import Once, Receipt
from sidechat_mcp.stores.sqlite.store import SqliteStore, open_sqlite
from sidechat_mcp.testing.samples import child, draft, drafts, names, native
from tests.behaviours import behaviour
from tests.stores.waiting import in_one_batch, locked, settle

A, B = SessionId("a"), SessionId("b")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await open_sqlite(tmp_path / "log.db")
    await store.create(native(A), drafts("1"))
    yield store
    await store.close()


@behaviour("stores:batch")
async def test_writes_that_wait_together_are_one_commit(store: SqliteStore, tmp_path: Path) -> None:
    before, done, moved = store.commits, list[Receipt](), list[int]()

    async def decide(expect: int) -> None:
        try:
            done.append(await store.append(A, drafts(f"{expect}!"), expect=expect))
        except Moved:
            moved.append(expect)

    async with anyio.create_task_group() as tasks, in_one_batch(tmp_path):
        for expect in (1, 7, 2, 8, 3):
            tasks.start_soon(decide, expect)
            await settle()  # In this order, whatever order the event loop likes.
    assert store.commits == before + 1
    done.sort(key=lambda receipt: receipt.seq)
    assert done == [Receipt(A, 1, 2), Receipt(A, 2, 3), Receipt(A, 3, 4)]
    assert sorted(moved) == [7, 8]
    assert names(await store.read(A)) == ["a:0 1", "a:1 1!", "a:2 2!", "a:3 3!"]


@behaviour("stores:commits")
async def test_each_write_is_one_commit_and_what_writes_nothing_is_none(
    store: SqliteStore,
) -> None:
    counts = [store.commits]

    async def counted(write: object) -> None:
        counts.append(store.commits)

    await counted(await store.create(child(B, A, 1), drafts("x", "y"), once=Once("key")))
    await counted(await store.create(child(B, A, 1), drafts("x", "y"), once=Once("key")))
    await counted(await store.append(B, drafts("z"), expect=3))
    with pytest.raises(Moved):
        await store.append(B, drafts("z"), expect=3)
    await counted(await store.append(B, [], expect=4))
    await counted(await store.forget(B))
    assert counts == [1, 2, 2, 3, 3, 4]


async def test_a_write_given_up_before_its_turn_never_happens(
    store: SqliteStore, tmp_path: Path
) -> None:
    async with anyio.create_task_group() as staying:
        with locked(tmp_path):
            async with anyio.create_task_group() as leaving:
                for name in ("first", "second"):
                    leaving.start_soon(_tell, store, name)
                await settle()
                staying.start_soon(_tell, store, "stays")
                await settle()
                leaving.cancel_scope.cancel()
    assert names(await store.read(A)) == ["a:0 1", "a:1 stays"]


async def _tell(store: SqliteStore, name: str) -> None:
    await store.append(A, drafts(name), expect=None)


async def test_a_write_cancelled_at_any_moment_has_happened_or_not(store: SqliteStore) -> None:
    for number in range(60):
        head = (await store.row(A)).head
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_after, scope, number)
                await store.append(A, drafts(f"{number}", f"{number}+"), expect=head)
        assert (await store.row(A)).head in (head, head + 2)
    log = await store.read(A, verify=True)
    assert [event.seq for event in log] == list(range(len(log)))


async def _cancel_after(scope: anyio.CancelScope, steps: int) -> None:
    for _ in range(steps):
        await checkpoint()
    scope.cancel()


@behaviour("stores:close")
async def test_closing_finishes_what_was_begun_and_ends_the_thread(
    store: SqliteStore, tmp_path: Path
) -> None:
    done: list[Receipt] = []

    async def write(name: str) -> None:
        done.append(await store.append(A, drafts(name), expect=None))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(write, f"{number}")
            await settle()
            await store.close()
            with pytest.raises(StoreError, match="closed"):
                await store.append(A, drafts("late"), expect=None)
    assert len(done) == 100
    assert "sidechat-writer" not in {thread.name for thread in threading.enumerate()}
    again = await open_sqlite(tmp_path / "log.db")
    assert len(await again.read(A, verify=True)) == 101
    await again.close()


@behaviour("stores:close")
async def test_closing_is_not_stopped_by_a_cancellation(store: SqliteStore, tmp_path: Path) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.row(A)
    assert not (tmp_path / "log.db-wal").exists()


async def test_reading_starts_no_thread(tmp_path: Path) -> None:
    await (await open_sqlite(tmp_path / "log.db")).close()
    store = await open_sqlite(tmp_path / "log.db")
    assert await store.changed(0) == (0, [])
    assert "sidechat-writer" not in {thread.name for thread in threading.enumerate()}
    await store.close()


async def test_a_large_import_is_one_write(store: SqliteStore) -> None:
    before = store.commits
    receipt = await store.append(A, [draft(f"{n}") for n in range(5_000)], expect=1)
    assert receipt == Receipt(A, 1, 5_001)
    assert store.commits == before + 1
    assert len(await store.read(A)) == 5_001
