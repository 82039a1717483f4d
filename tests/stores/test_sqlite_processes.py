"""Several server processes on one log: nobody loses, nobody starves, everybody hears."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import AnsweringNow
from sidechat_mcp.ports.store import Query
from sidechat_mcp.stores.sqlite import locks
from sidechat_mcp.stores.sqlite.connection import LOG_SIZE
from sidechat_mcp.stores.sqlite.store import SqliteStore, open_sqlite
from sidechat_mcp.testing.samples import draft, drafts, native
from tests.behaviours import behaviour

A = SessionId("a")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await open_sqlite(tmp_path / "log.db")
    yield store
    await store.close()


@asynccontextmanager
async def workers(*arguments: str) -> AsyncGenerator[Process]:
    command = [sys.executable, "-m", "tests.stores.worker", *arguments]
    async with await anyio.open_process(
        command, cwd=ROOT, stderr=None, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


async def lines(process: Process) -> AsyncIterator[str]:
    assert process.stdout is not None
    rest = ""
    async for text in TextReceiveStream(process.stdout):
        *whole, rest = (rest + text).split("\n")
        for line in whole:
            yield line


@behaviour("stores:eight-processes")
async def test_eight_processes_append_to_one_session_without_loss_or_gap(
    tmp_path: Path, store: SqliteStore
) -> None:
    await store.create(native(A), [])
    with anyio.fail_after(100):
        async with workers("8", "append", str(tmp_path), A, "w{n}", "200") as crowd:
            assert [line async for line in lines(crowd)] == ["done"] * 8
            assert await crowd.wait() == 0
    assert os.stat(tmp_path / "log.db-wal").st_size < LOG_SIZE
    log = await store.read(A, verify=True)
    assert [event.seq for event in log] == list(range(1_600))
    for name in (f"w{number}" for number in range(8)):
        own = [event.id for event in log if event.id.startswith(f"event-{name}-")]
        assert own == [draft(f"{name}-{number}").id for number in range(200)]


@behaviour("stores:start-together")
async def test_twenty_four_processes_come_up_on_an_empty_folder(tmp_path: Path) -> None:
    with anyio.fail_after(100):
        async with workers("24", "start", str(tmp_path / "home")) as crowd:
            assert [line async for line in lines(crowd)] == ["up 0"] * 24
            assert await crowd.wait() == 0


@behaviour("stores:news-across")
async def test_a_write_is_heard_in_another_process(tmp_path: Path, store: SqliteStore) -> None:
    await store.create(native(A), [])
    with anyio.fail_after(30):
        async with workers("1", "listen", str(tmp_path), "3") as process:
            heard = aiter(lines(process))
            assert await anext(heard) == "ready"
            for number in range(3):
                with anyio.fail_after(5):
                    await store.append(A, drafts(f"{number}"), expect=None)
                    assert await anext(heard) == A


@behaviour("stores:held-across")
async def test_a_turn_is_held_across_processes_until_its_holder_dies(
    tmp_path: Path, store: SqliteStore
) -> None:
    with anyio.fail_after(30):
        async with workers("1", "hold", str(tmp_path), A) as process:
            assert await anext(lines(process)) == "held"
            assert await store.held(A)
            with pytest.raises(AnsweringNow):
                async with store.hold(A):
                    pass
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        assert os.listdir(tmp_path / "turns") == [A]
        assert not await store.held(A)
        assert os.listdir(tmp_path / "turns") == []
        async with store.hold(A):
            assert await store.held(A)
    assert os.listdir(tmp_path / "turns") == []


@behaviour("stores:killed")
async def test_what_was_acknowledged_outlives_a_kill_at_any_moment(tmp_path: Path) -> None:
    with anyio.fail_after(100):
        async with workers("kill", "30", str(tmp_path)) as victims:
            acknowledged = [line async for line in lines(victims)]
            assert await victims.wait() == 0
    store = await open_sqlite(tmp_path / "log.db")
    assert len(acknowledged) > 30
    for line in acknowledged:
        session, start, stop = line.split(" ")
        read = await store.read(SessionId(session), int(start), int(stop), verify=True)
        assert [event.id for event in read] == _expected(session, int(start), int(stop))
        if (start, stop) == ("2", "3"):
            assert await store.once(session) is not None
    for row in await store.rows(Query(limit=100_000)):
        assert len(await store.read(row.header.id, verify=True)) == row.head
        # One call is one transaction: two events and one, never one of two.
        assert row.own in ((1,) if row.header.parent_session else (2, 3))
    await store.close()


def _expected(session: str, start: int, stop: int) -> Sequence[str]:
    return [draft(f"{session}/{seq}").id for seq in range(start, stop)]


async def test_a_turn_given_back_while_another_opens_its_file_is_held_once(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = locks._try  # pyright: ignore[reportPrivateUsage]

    def given_back_meanwhile(descriptor: int) -> bool:
        monkeypatch.undo()
        os.unlink(tmp_path / "turns" / A)
        return lock(descriptor)

    monkeypatch.setattr(locks, "_try", given_back_meanwhile)
    async with store.hold(A):
        with pytest.raises(AnsweringNow):
            async with store.hold(A):
                pass
