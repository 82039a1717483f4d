"""Logs are read once: what is kept of one is shared, extended at both ends and bounded."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from anyio.lowlevel import checkpoint

from sidechat_mcp.core.events import Event
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.harness.sessions import Sessions
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.stores.memory import MemoryStore
from sidechat_mcp.testing.samples import child, drafts, names, native
from tests.feature.workshop import workshop

A, B = SessionId("a"), SessionId("b")


class Counting(MemoryStore):
    """Remembers which places were read; `slow` gives others time to read meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[SessionId, int, int | None]] = []

    async def read(
        self, session: SessionId, start: int = 0, stop: int | None = None, *, verify: bool = False
    ) -> Sequence[Event]:
        self.asked.append((session, start, stop))
        for _ in range(start % 3):
            await checkpoint()
        return await super().read(session, start, stop, verify=verify)


async def _store(events: int = 8) -> Counting:
    store = Counting()
    await store.create(native(A), drafts(*map(str, range(events))))
    await store.create(child(B, A, 6), drafts("6b", "7b"))
    return store


async def test_a_tail_is_kept_and_only_what_is_new_at_either_end_is_read() -> None:
    store = await _store()
    sessions = Sessions(store)
    row = await sessions.row(A)
    assert names(await sessions.tail(row, 5)) == ["a:5 5", "a:6 6", "a:7 7"]
    assert names(await sessions.tail(row, 6)) == ["a:6 6", "a:7 7"]
    await store.append(A, drafts("8"), expect=8)
    assert names(await sessions.tail(await sessions.row(A), 7)) == ["a:7 7", "a:8 8"]
    assert names(await sessions.events(row)) == [f"a:{n} {n}" for n in range(8)]
    assert store.asked == [(A, 5, 8), (A, 8, 9), (A, 0, 5)]


async def test_a_child_takes_from_its_parent_what_is_kept_there() -> None:
    store = await _store()
    sessions = Sessions(store)
    await sessions.events(await sessions.row(A))
    row = await sessions.row(B)
    assert names(await sessions.tail(row, 4)) == ["a:4 4", "a:5 5", "b:6 6b", "b:7 7b"]
    assert len(await sessions.events(row)) == 8
    assert store.asked == [(A, 0, 8), (B, 6, 8)]


async def test_what_starts_behind_a_gap_is_read_and_not_kept() -> None:
    store = await _store()
    sessions = Sessions(store)
    await sessions.tail(await sessions.row(A), 6)
    await store.append(A, drafts("8", "9", "10"), expect=8)
    row = await sessions.row(A)
    assert names(await sessions.tail(row, 10)) == ["a:10 10"]
    assert names(await sessions.tail(row, 7)) == ["a:7 7", "a:8 8", "a:9 9", "a:10 10"]


async def test_readers_of_one_log_at_the_same_time_each_get_what_they_asked_for() -> None:
    store = await _store(40)
    sessions = Sessions(store)
    early = await sessions.row(A)
    await sessions.tail(early, 30)
    await store.append(A, drafts("40", "41"), expect=40)
    late = await sessions.row(A)

    async def read(start: int) -> None:
        for row in (early, late):
            found = await sessions.tail(row, start)
            assert [event.seq for event in found] == list(range(start, row.head))

    async with anyio.create_task_group() as tasks:
        for start in (25, 0, 13, 4, 39, 20, 1):
            tasks.start_soon(read, start)


async def test_a_full_cache_forgets_and_reads_again() -> None:
    store = await _store()
    sessions = Sessions(store, size=0)
    row = await sessions.row(A)
    assert await sessions.events(row) == await sessions.events(row)
    assert store.asked == [(A, 0, 8), (A, 0, 8)]


async def test_a_fork_at_the_tip_of_a_side_session_is_not_taken_for_it() -> None:
    sidechat, caller = workshop(), Caller()
    first = (await sidechat.fork(caller, parent="shelf:r1")).session
    await sidechat.converse(caller, "Is it so?", session=first)
    await sidechat.sessions(caller)
    second = await sidechat.fork(caller, parent=first)
    listed = {one.session: one.turns for one in (await sidechat.sessions(caller)).sessions}
    assert listed == {first: 1, second.session: 0}


async def test_a_list_that_was_shown_before_tells_what_came_since() -> None:
    sidechat, caller = workshop(), Caller()
    side = (await sidechat.fork(caller, parent="shelf:r1")).session
    shown = [(await sidechat.sessions(caller)).sessions[0]]
    await sidechat.converse(caller, "Is it so?", session=side)
    shown.append((await sidechat.sessions(caller)).sessions[0])
    await sidechat.merge(caller, session=side, note="It is so.")
    shown.append((await sidechat.sessions(caller)).sessions[0])
    assert [(one.title, one.turns, one.merged) for one in shown] == [
        ("And then?", 0, False),
        ("Is it so?", 1, False),
        ("Is it so?", 1, True),
    ]


async def test_a_page_that_was_shown_before_tells_what_came_since() -> None:
    sidechat, caller = workshop(), Caller()
    side = (await sidechat.fork(caller, parent="shelf:r1")).session
    assert "Is it so?" not in await sidechat.markdown(caller, side)
    await sidechat.converse(caller, "Is it so?", session=side)
    page = await sidechat.markdown(caller, side)
    assert "> Is it so?" in page
    assert await sidechat.markdown(caller, side) == page
