"""What a store promises of writing: places, decisions and facts, keys, forgetting."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from sidechat_mcp.core.events import Header
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import (
    HasChildren,
    InvalidRequest,
    KeyReused,
    Moved,
    SessionNotFound,
    SidechatError,
)
from sidechat_mcp.ports.store import LogStore, Once, Query, Receipt
from sidechat_mcp.testing.samples import HOUR, Now, child, draft, drafts, names, native

A, B, C = SessionId("a"), SessionId("b"), SessionId("c")


class Places:
    async def test_a_new_session_begins_at_place_zero(self, store: LogStore) -> None:
        assert await store.create(native(A), drafts("1", "2")) == Receipt(A, 0, 2)
        assert names(await store.read(A)) == ["a:0 1", "a:1 2"]

    async def test_a_session_may_begin_without_events(self, store: LogStore) -> None:
        assert await store.create(native(A), []) == Receipt(A, 0, 0)
        assert await store.read(A) == []
        assert (await store.row(A)).own == 0

    async def test_an_append_takes_the_next_places(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"))
        assert await store.append(A, drafts("2", "3"), expect=1) == Receipt(A, 1, 3)
        assert names(await store.read(A)) == ["a:0 1", "a:1 2", "a:2 3"]

    async def test_a_decision_on_an_old_head_is_refused(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1", "2"))
        with pytest.raises(Moved) as refused:
            await store.append(A, drafts("3"), expect=1)
        assert (refused.value.session, refused.value.expected, refused.value.found) == (A, 1, 2)
        assert names(await store.read(A)) == ["a:0 1", "a:1 2"]

    async def test_a_fact_is_taken_whatever_happened_meanwhile(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"))
        await store.append(A, drafts("2"), expect=1)
        assert await store.append(A, drafts("3"), expect=None) == Receipt(A, 2, 3)

    async def test_of_many_decisions_on_one_head_one_is_taken(self, store: LogStore) -> None:
        await store.create(native(A), [])
        refused: list[int] = []

        async def decide(number: int) -> None:
            try:
                await store.append(A, drafts(f"{number}"), expect=0)
            except Moved:
                refused.append(number)

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(decide, number)
        assert len(refused) == 19
        assert len(await store.read(A)) == 1

    async def test_facts_of_many_stand_one_behind_the_other(self, store: LogStore) -> None:
        await store.create(native(A), [])
        receipts: list[Receipt] = []

        async def tell(number: int) -> None:
            both = drafts(f"{number}", f"{number}+")
            receipts.append(await store.append(A, both, expect=None))

        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(tell, number)
        assert sorted(receipt.seq for receipt in receipts) == list(range(0, 200, 2))
        log = await store.read(A)
        assert [event.seq for event in log] == list(range(200))
        assert all(
            f"{first.id}+" == second.id for first, second in zip(log[::2], log[1::2], strict=True)
        )

    @pytest.mark.parametrize(
        ("header", "refused"),
        [
            (native(A), InvalidRequest),
            (native("Not one word"), InvalidRequest),
            (child(B, "nobody", 1), SessionNotFound),
            (child(B, A, 3), InvalidRequest),
            (Header(B, 0, "native", "local", "scripted", seed_length=1), InvalidRequest),
        ],
        ids=["the id exists", "no id", "no parent", "parent too short", "seed without parent"],
    )
    async def test_a_session_that_cannot_be_leaves_nothing(
        self, store: LogStore, header: Header, refused: type[SidechatError]
    ) -> None:
        await store.create(native(A), drafts("1", "2"))
        before = await store.rows(Query())
        with pytest.raises(refused):
            await store.create(header, drafts("x"), once=Once("key"))
        assert await store.rows(Query()) == before
        assert await store.once("key") is None


class Keys:
    async def test_the_same_key_writes_once_and_answers_the_first_place(
        self, store: LogStore
    ) -> None:
        await store.create(native(A), drafts("1"))
        once = Once("key", "digest")
        assert await store.append(A, drafts("2"), expect=1, once=once) == Receipt(A, 1, 2)
        await store.append(A, drafts("3"), expect=None)
        again = await store.append(A, drafts("2"), expect=1, once=once)
        assert again == Receipt(A, 1, 3, again=True, digest="digest")
        assert names(await store.read(A)) == ["a:0 1", "a:1 2", "a:2 3"]

    async def test_the_same_key_creates_once(self, store: LogStore) -> None:
        once = Once("key", "digest")
        await store.create(native(A), drafts("1"), once=once)
        again = await store.create(native(B), drafts("1"), once=once)
        assert again == Receipt(A, 0, 1, again=True, digest="digest")
        with pytest.raises(SessionNotFound):
            await store.row(B)

    async def test_of_twins_at_the_same_moment_one_writes(self, store: LogStore) -> None:
        await store.create(native(A), [])
        receipts: list[Receipt] = []

        async def twin() -> None:
            receipts.append(await store.append(A, drafts("1"), expect=None, once=Once("key")))

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(twin)
        assert {receipt.seq for receipt in receipts} == {0}
        assert [receipt.again for receipt in receipts].count(False) == 1
        assert len(await store.read(A)) == 1

    async def test_the_same_key_with_other_arguments_is_refused(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"), once=Once("key", "digest"))
        with pytest.raises(KeyReused):
            await store.append(A, drafts("2"), expect=None, once=Once("key", "other"))
        with pytest.raises(KeyReused):
            await store.create(native(B), drafts("2"), once=Once("key", "other"))
        assert len(await store.read(A)) == 1

    async def test_a_refused_decision_does_not_use_its_key_up(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"))
        with pytest.raises(Moved):
            await store.append(A, drafts("2"), expect=0, once=Once("key"))
        assert not (await store.append(A, drafts("2"), expect=1, once=Once("key"))).again

    async def test_a_callers_key_counts_thirty_days_and_an_identity_for_ever(
        self, store: LogStore, now: Now
    ) -> None:
        await store.create(native(A), drafts("1"), once=Once("caller", "digest"))
        await store.append(A, drafts("2"), expect=None, once=Once("ever", "", "identity"))
        now.pass_by(30 * 24 * HOUR)
        assert await store.once("caller") == Receipt(A, 0, 2, again=True, digest="digest")
        now.pass_by(1)
        assert await store.once("caller") is None
        assert [key for key, _ in await store.onces("")] == ["ever"]
        receipt = await store.append(A, drafts("3"), expect=None, once=Once("caller", "other"))
        assert receipt == Receipt(A, 2, 3)
        assert (await store.append(A, drafts("2"), expect=None, once=Once("ever"))).again

    async def test_keys_are_found_by_what_they_begin_with(self, store: LogStore) -> None:
        await store.create(native(A), [])
        keys = ["m/1", "m/2", "m", "m/", "n", "m/é", "m/\U0010ffffx", "m/\ud800", "l"]
        for key in keys:
            await store.append(A, drafts(key), expect=None, once=Once(key))
        found = await store.onces("m/")
        assert [key for key, _ in found] == sorted(k for k in keys if k.startswith("m/"))
        assert found[1] == ("m/1", Receipt(A, 0, 9, again=True))
        assert found[1][1] == await store.once("m/1")


class Forgetting:
    async def test_a_forgotten_session_is_gone_with_its_keys(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"), once=Once("a"))
        await store.create(child(B, A, 1), drafts("x"), once=Once("b", "", "identity"))
        await store.read(B)
        await store.forget(B)
        for question in (store.row, store.read, store.forget):
            with pytest.raises(SessionNotFound):
                await question(B)
        assert await store.once("b") is None
        assert await store.once("a") is not None
        assert await store.append(A, drafts("2"), expect=None, once=Once("b", "other")) == Receipt(
            A, 1, 2
        )
        assert names(await store.read(A)) == ["a:0 1", "a:1 2"]
        assert await store.children(A) == []

    async def test_a_session_with_children_is_kept(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"))
        await store.create(child(B, A, 1), drafts("x"))
        with pytest.raises(HasChildren):
            await store.forget(A)
        assert names(await store.read(B)) == ["a:0 1", "b:1 x"]
        await store.forget(B)
        await store.forget(A)
        assert await store.rows(Query()) == []

    async def test_what_comes_after_a_forgotten_one_starts_clean(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1"))
        await store.create(native(B), drafts("2", "3"))
        await store.read(B)
        await store.forget(B)
        await store.create(native(B), drafts("4"))
        assert names(await store.read(B)) == ["b:0 4"]
        await store.forget(B)
        await store.create(native(C), drafts("5"))
        assert names(await store.read(C)) == ["c:0 5"]


SESSIONS: Sequence[SessionId] = (A, B, C)


async def family(store: LogStore) -> None:
    """`a` with four events, `b` forked behind its third, `c` forked from `b` where `b` had not
    begun; all three go on."""
    await store.create(native(A), drafts("1", "2", "3", "4"))
    await store.create(child(B, A, 3), drafts("5", "6"))
    await store.create(child(C, B, 2), drafts("7"))
    for session in SESSIONS:
        await store.append(session, [draft(f"{session}!")], expect=None)
