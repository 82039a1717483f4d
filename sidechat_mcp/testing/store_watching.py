"""What a store promises of turns that are held, of news, and of every method alike."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio
import pytest
from anyio.lowlevel import checkpoint

from sidechat_mcp.errors import AnsweringNow, StoreError
from sidechat_mcp.ports.store import LogStore, Query
from sidechat_mcp.testing.samples import drafts, native
from sidechat_mcp.testing.store_writing import A, B, C

Method = Callable[[], Awaitable[object]]


async def _settle() -> None:
    """Let the others run into what they wait for. A store may ask on a timer, so "all tasks are
    blocked" need never be true."""
    for _ in range(20):
        await checkpoint()


async def _hold(store: LogStore) -> None:
    async with store.hold(B):
        pass


def _methods(store: LogStore) -> Sequence[Method]:
    """Every method, with arguments that succeed where `a` exists."""
    return [
        partial(store.create, native(C), []),
        partial(store.append, A, drafts("x"), expect=None),
        *(partial(ask, A) for ask in (store.read, store.row, store.children, store.held)),
        *(partial(ask, "") for ask in (store.once, store.onces)),
        partial(store.rows, Query()),
        partial(_hold, store),
        *(partial(ask, 0) for ask in (store.changed, store.wait)),
        partial(store.forget, A),
    ]


class Turns:
    async def test_one_at_a_time_holds_a_session(self, store: LogStore) -> None:
        assert not await store.held(A)
        async with store.hold(A):
            assert await store.held(A)
            assert not await store.held(B)
            with pytest.raises(AnsweringNow):
                async with store.hold(A):
                    pass
            async with store.hold(B):
                assert await store.held(B)
            assert await store.held(A)
        assert not await store.held(A)

    async def test_a_hold_ends_with_its_block_however_that_ends(self, store: LogStore) -> None:
        with pytest.raises(ZeroDivisionError):
            async with store.hold(A):
                raise ZeroDivisionError
        with anyio.CancelScope() as scope:
            async with store.hold(A):
                scope.cancel()
                await checkpoint()
        async with store.hold(A):
            pass
        assert not await store.held(A)

    async def test_of_many_who_ask_at_once_one_holds(self, store: LogStore) -> None:
        refused: list[int] = []
        inside, all_asked = 0, anyio.Event()

        async def ask(number: int) -> None:
            nonlocal inside
            try:
                async with store.hold(A):
                    inside += 1
                    await all_asked.wait()
            except AnsweringNow:
                refused.append(number)
                if len(refused) == 9:
                    all_asked.set()

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                for number in range(10):
                    tasks.start_soon(ask, number)
        assert (inside, len(refused)) == (1, 9)


class News:
    async def test_the_mark_says_what_was_written_since(self, store: LogStore) -> None:
        assert await store.changed(0) == (0, [])
        await store.create(native(A), drafts("1"))
        await store.create(native(B), drafts("1"))
        mark, sessions = await store.changed(0)
        assert (mark, sessions) == ((await store.row(B)).active, [])
        assert await store.changed(mark) == (mark, [])
        await store.create(native(C), [])
        await store.append(A, drafts("2"), expect=None)
        await store.append(C, drafts("2"), expect=None)
        assert await store.changed(mark) == ((await store.row(C)).active, [A, C])

    async def test_who_waits_is_told_of_a_write(self, store: LogStore) -> None:
        await store.create(native(A), [])
        mark, _ = await store.changed(0)
        told: list[int] = []

        async def listen(number: int) -> None:
            await store.wait(mark)
            told.append(number)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                for number in range(5):
                    tasks.start_soon(listen, number)
                await _settle()
                assert told == []
                await store.append(A, drafts("1"), expect=None)
        assert sorted(told) == [0, 1, 2, 3, 4]

    async def test_who_comes_late_does_not_wait(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"))
        with anyio.fail_after(10):
            await store.wait(0)

    async def test_waiting_can_be_given_up(self, store: LogStore) -> None:
        await store.create(native(A), [])
        mark, _ = await store.changed(0)
        still: list[str] = []

        async def stay() -> None:
            await store.wait(mark)
            still.append("told")

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                async with anyio.create_task_group() as leaving:
                    leaving.start_soon(store.wait, mark)
                    await _settle()
                    tasks.start_soon(stay)
                    await _settle()
                    leaving.cancel_scope.cancel()
                await store.append(A, drafts("1"), expect=None)
        assert still == ["told"]


class EveryMethod:
    async def test_every_method_is_a_checkpoint(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"))
        for method in _methods(store):
            with anyio.CancelScope() as scope:
                scope.cancel()
                await method()
            assert scope.cancelled_caught, method
        assert len(await store.read(A)) == 1

    async def test_after_closing_every_method_says_that_it_is_closed(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"))
        mark, _ = await store.changed(0)
        refused: list[StoreError] = []

        async def wait() -> None:
            with pytest.raises(StoreError) as error:
                await store.wait(mark)
            refused.append(error.value)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await _settle()
                await store.close()
            await store.close()
        for method in _methods(store):
            with pytest.raises(StoreError) as error:
                await method()
            refused.append(error.value)
        assert {str(error) for error in refused} == {"The store is closed. Open it again."}
