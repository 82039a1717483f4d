"""One damaged session hides no other, and there is a way out for it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.core.events import Event
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import DamagedLog, HasChildren, SessionNotFound, StoreError
from sidechat_mcp.ports.store import Query
from sidechat_mcp.sidechat.reports import Caller, Listed
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.sqlite.store import SqliteStore, open_sqlite
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, shelved, workshop
from tests.stores.raw import ask

ME = Caller()
EVENTS = """id >= (SELECT id FROM session WHERE uid = ?1) << 32
  AND id < (SELECT id + 1 FROM session WHERE uid = ?1) << 32"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
async def store(path: Path) -> AsyncGenerator[SqliteStore]:
    store = await open_sqlite(path, cache_bytes=0)
    yield store
    await store.close()


def fresh(store: SqliteStore, shelf: Shelf | None = None) -> Sidechat:
    """The feature with nothing read yet."""
    return workshop(store, shelf=shelf)


def spoil(path: Path, session: str, what: str) -> None:
    """Damage a session's `header` or `events`, or let it be `gone`."""
    match what:
        case "header":
            ask(path, "UPDATE session SET header = '{}' WHERE uid = ?", session)
        case "events":
            ask(path, f"UPDATE event SET body = 'x' WHERE {EVENTS}", session)
        case "line":
            ask(path, "UPDATE session SET client_ref = 'lost' WHERE uid = ?", session)
        case "newer":
            body = 'CAST(\'{"kind":"turn/paused"}\' AS BLOB)'
            ask(path, f"UPDATE event SET body = {body} WHERE {EVENTS}", session)
        case _:
            ask(path, "DELETE FROM session WHERE uid = ?", session)


async def lines(sidechat: Sidechat, parent: str | None = None) -> dict[str, Listed]:
    return {one.session: one for one in (await sidechat.sessions(ME, parent=parent)).sessions}


@behaviour("list:damaged")
@pytest.mark.parametrize("talked", [True, False])
@pytest.mark.parametrize("what", ["header", "events", "newer"])
async def test_a_damaged_session_is_listed_as_such_beside_the_others(
    store: SqliteStore, path: Path, what: str, talked: bool
) -> None:
    sidechat = fresh(store)
    sound = (await sidechat.fork(ME, parent="shelf:r1", question="Why?")).session
    damaged = (await sidechat.fork(ME, parent="shelf:r1")).session
    if talked:
        await sidechat.converse(ME, "Hm?", session=damaged)
    spoil(path, damaged, what)
    found = await lines(fresh(store))
    assert list(found) == [damaged, sound]
    assert (found[sound].title, found[sound].turns, found[sound].damaged) == ("Why?", 1, "")
    assert damaged in found[damaged].damaged
    said = "newer version" if what == "newer" else f"`forget {damaged}`"
    assert said in found[damaged].damaged
    assert await fresh(store).complete(ME, "") == [damaged, sound]


@behaviour("list:damaged")
@pytest.mark.parametrize("retryable", [False, True])
async def test_a_page_of_the_file_that_is_damaged_is_told_like_damage_and_a_failing_disk_is_not(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, retryable: bool
) -> None:
    sidechat = fresh(store)
    sound = (await sidechat.fork(ME, parent="shelf:r1", question="Why?")).session
    damaged = (await sidechat.fork(ME, parent="shelf:r1", question="Hm?")).session
    read = store.read

    async def failing(session: SessionId, *place: Any, **more: Any) -> Sequence[Event]:
        if session == damaged:
            raise StoreError("The database file is damaged.", retryable=retryable)
        return await read(session, *place, **more)

    monkeypatch.setattr(store, "read", failing)
    if retryable:
        with pytest.raises(StoreError):
            await lines(fresh(store))
    else:
        found = await lines(fresh(store))
        assert (found[sound].damaged, "file is damaged" in found[damaged].damaged) == ("", True)


@behaviour("list:damaged")
@pytest.mark.parametrize("what", ["header", "events", "gone"])
async def test_the_children_of_a_damaged_parent_are_listed_and_say_so(
    store: SqliteStore, path: Path, what: str
) -> None:
    shelf = Shelf({"r1": shelved(("Q?", "A.")), "r2": shelved(("R?", "B."), ref="r2")})
    sidechat = fresh(store, shelf)
    sound = (await sidechat.fork(ME, parent="shelf:r2", question="Why?")).session
    child = await sidechat.fork(ME, parent="shelf:r1")
    spoil(path, child.parent, what)
    found = await lines(fresh(store, shelf))
    assert list(found) == [child.session, sound]
    assert found[sound].damaged == ""
    assert "damaged" in found[child.session].damaged
    if what != "gone":
        assert child.parent in found[child.session].damaged
        assert child.session in await lines(fresh(store, shelf), child.parent)


@behaviour("forget:damaged")
@pytest.mark.parametrize("what", ["header", "events"])
async def test_a_damaged_mirror_can_be_forgotten_once_nothing_inherits_from_it(
    store: SqliteStore, path: Path, what: str
) -> None:
    sidechat = fresh(store)
    child = await sidechat.fork(ME, parent="shelf:r1", question="Hm?")
    with pytest.raises(SessionNotFound):
        await sidechat.forget(ME, child.parent)
    spoil(path, child.parent, what)
    sidechat = fresh(store)
    with pytest.raises(HasChildren, match=child.session) as refused:
        await sidechat.forget(ME, child.parent)
    assert refused.value.then == f"Forget those first: {child.session}."
    await sidechat.forget(ME, child.session)
    assert await sidechat.forget(ME, f"sidechat://sessions/{child.parent}") == child.parent
    again = await sidechat.fork(ME, parent="shelf:r1")
    assert (again.turns, again.parent != child.parent) == (2, True)


@behaviour("list:damaged")
async def test_what_was_said_in_a_child_of_a_damaged_parent_can_be_read_before_it_is_forgotten(
    store: SqliteStore, path: Path
) -> None:
    child = await fresh(store).fork(ME, parent="shelf:r1", question="Hm?")
    spoil(path, child.parent, "events")
    page = await fresh(store).markdown(ME, child.session)
    assert "> Hm?" in page
    assert f"> Session '{child.parent}' is damaged" in page
    spoil(path, child.session, "events")
    with pytest.raises(DamagedLog, match=child.session):
        await fresh(store).markdown(ME, child.session)


@behaviour("mirror:damaged")
@pytest.mark.parametrize("what", ["header", "first", "last", "events", "line"])
async def test_the_conversation_behind_a_damaged_mirror_is_adopted_anew(
    store: SqliteStore, path: Path, what: str
) -> None:
    sidechat = fresh(store)
    before = await sidechat.fork(ME, parent="shelf:r1", question="Hm?")
    if what in ("first", "last"):
        row = ask(path, "SELECT id FROM session WHERE uid = ?", before.parent)
        place = row << 32 | (1 if what == "first" else before.seed_length - 1)
        ask(path, "UPDATE event SET body = 'x' WHERE id = ?", place)
    else:
        spoil(path, before.parent, what)
    for again in (fresh(store), fresh(store)):
        after = await again.fork(ME, parent="shelf:r1", question="And?")
        assert (after.turns, after.parent != before.parent) == (2, True)
        assert (await again.merge(ME, session=after.session, note="Kept.")).seq is not None
    mirrors = await store.rows(Query(origin="mirror"))
    assert {row.header.id for row in mirrors} == {before.parent, after.parent}
    assert (await again.read(ME, after.session)).turns != []


@behaviour("deliver:once")
async def test_a_note_that_a_delivered_one_replaced_is_not_offered_any_more() -> None:
    shelf = Shelf({"r1": shelved(("Q1?", "A1."))})
    sidechat = workshop(shelf=shelf)
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Hm?")
    await sidechat.merge(ME, session=fork.session, note="Wrong.")
    right = await sidechat.merge(ME, session=fork.session, note="Right.")
    shelf.transcripts["r1"] = shelved(
        ("Q1?", "A1."), ("Q2?", "A2."), delivered={right.note: "record-7"}
    )
    await sidechat.fork(ME, parent="shelf:r1")
    assert await sidechat.pending_notes(ME, "r1", None) == "{}"


@behaviour("forget:damaged")
async def test_a_damaged_native_session_can_be_forgotten_and_a_whole_one_cannot(
    store: SqliteStore, path: Path
) -> None:
    sidechat = fresh(store)
    damaged, whole = await sidechat.native(ME), await sidechat.native(ME)
    for one in (damaged, whole):
        await sidechat.converse(ME, "Hi?", session=one.id)
    spoil(path, damaged.id, "events")
    await sidechat.forget(ME, damaged.id)
    with pytest.raises(SessionNotFound):
        await sidechat.forget(ME, whole.id)
    with pytest.raises(SessionNotFound):
        await sidechat.forget(Caller("somebody"), whole.id)


@behaviour("forget:damaged")
async def test_what_a_whole_conversation_goes_on_from_stays(store: SqliteStore, path: Path) -> None:
    shelf = Shelf({"r1": shelved(("Q1?", "A1."), ("Q2?", "A2."))})
    sidechat = fresh(store, shelf)
    before = await sidechat.fork(ME, parent="shelf:r1")
    shelf.transcripts["r1"] = shelved(("Q1?", "A1."), ("Q3?", "A3."))
    after = await sidechat.fork(ME, parent="shelf:r1", question="Hm?")
    row = ask(path, "SELECT id FROM session WHERE uid = ?", before.parent)
    ask(path, "UPDATE event SET body = 'x' WHERE id = ?", row << 32 | 7)
    sidechat = fresh(store, shelf)
    await sidechat.forget(ME, before.session)
    with pytest.raises(HasChildren, match=f"{after.parent} goes on from it and is whole"):
        await sidechat.forget(ME, before.parent)
    assert "Hm?" in await sidechat.markdown(ME, after.session)


@behaviour("list:damaged")
@pytest.mark.parametrize("what", ["header", "events"])
async def test_a_damaged_session_fails_its_own_check_and_no_other(
    store: SqliteStore, path: Path, what: str
) -> None:
    sidechat = fresh(store)
    sound = (await sidechat.fork(ME, parent="shelf:r1", question="Why?")).session
    damaged = (await sidechat.fork(ME, parent="shelf:r1", question="Hm?")).session
    spoil(path, damaged, what)
    sidechat = fresh(store)
    verdicts = {one.session: one.verdict for one in await sidechat.replay(ME)}
    assert (verdicts[damaged], verdicts[sound]) == ("failed", "verified")
    assert [one.verdict for one in await sidechat.replay(ME, damaged)] == ["failed"]
    with pytest.raises(DamagedLog, match=damaged):
        await sidechat.read(ME, damaged)


@behaviour("list:damaged")
async def test_a_damaged_mirror_keeps_no_note_of_another_from_its_client(
    store: SqliteStore, path: Path
) -> None:
    shelf = Shelf({"r1": shelved(("Q1?", "A1."), ("Q2?", "A2."))})
    sidechat = fresh(store, shelf)
    before = await sidechat.fork(ME, parent="shelf:r1", question="Hm?")
    await sidechat.merge(ME, session=before.session, note="Lost.")
    shelf.transcripts["r1"] = shelved(("Q3?", "A3."))
    after = await sidechat.fork(ME, parent="shelf:r1", question="Hm?")
    await sidechat.merge(ME, session=after.session, note="Kept.")
    row = ask(path, "SELECT id FROM session WHERE uid = ?", before.parent)
    ask(path, "UPDATE event SET body = 'x' WHERE id > ? AND id < ?", row << 32, (row + 1) << 32)
    hook = json.loads(await fresh(store, shelf).pending_notes(ME, "r1", None))
    assert "Kept." in hook["hookSpecificOutput"]["additionalContext"]


async def test_a_damaged_session_is_not_taken_for_another_when_none_is_named(
    store: SqliteStore, path: Path
) -> None:
    sidechat = fresh(store)
    await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    damaged = (await sidechat.fork(ME, parent="shelf:r1", question="Hm?")).session
    spoil(path, damaged, "header")
    with pytest.raises(DamagedLog, match=damaged):
        await fresh(store).converse(ME, "And?")
    assert await fresh(store).parts.store.children(SessionId(damaged)) == []
