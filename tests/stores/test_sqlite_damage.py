"""A byte that changed in the file is found, and the session and the place are named."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from sidechat_mcp.core.events import Draft
from sidechat_mcp.core.ids import EventId, SessionId
from sidechat_mcp.errors import DamagedLog, StoreError
from sidechat_mcp.ports.store import Query
from sidechat_mcp.stores.sqlite.schema import event_id
from sidechat_mcp.stores.sqlite.store import SqliteStore, open_sqlite
from sidechat_mcp.testing.samples import child, drafts, mirror, native
from sidechat_mcp.testing.store_reading import BODIES
from tests.behaviours import behaviour
from tests.stores.raw import ask

A, B = SessionId("a"), SessionId("b")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
async def store(path: Path) -> AsyncGenerator[SqliteStore]:
    store = await open_sqlite(path)
    yield store
    await store.close()


async def _refused(store: SqliteStore, session: SessionId, *, verify: bool) -> tuple[str, int]:
    with pytest.raises(DamagedLog) as damaged:
        await store.read(session, verify=verify)
    return damaged.value.session, damaged.value.seq


@behaviour("stores:damage")
@pytest.mark.parametrize("seq", range(len(BODIES)), ids=[body.kind for body in BODIES])
async def test_a_flipped_byte_of_any_kind_of_event_is_found(
    store: SqliteStore, path: Path, seq: int
) -> None:
    await store.create(native(A), [Draft(EventId(f"{n}"), n, b) for n, b in enumerate(BODIES)])
    await store.create(child(B, A, len(BODIES)), drafts("own"))
    length = ask(path, "SELECT length(body) FROM event WHERE id = ?", event_id(1, seq))
    for at in (0, length // 3, length // 2, length - 1):
        flipped = _flip(path, seq, at)
        assert await _refused(store, B, verify=True) == (A, seq)
        ask(path, "UPDATE event SET body = ? WHERE id = ?", flipped, event_id(1, seq))
    assert len(await store.read(B, verify=True)) == len(BODIES) + 1


def _flip(path: Path, seq: int, at: int) -> bytes:
    """Changes one byte of a body; returns what stood there."""
    body = ask(path, "SELECT body FROM event WHERE id = ?", event_id(1, seq))
    changed = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
    ask(path, "UPDATE event SET body = ? WHERE id = ?", changed, event_id(1, seq))
    return body


@behaviour("stores:damage")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE event SET at = at + 1 WHERE id = (1 << 32) + 1", (A, 1)),
        ("UPDATE event SET eid = 'other' WHERE id = (1 << 32) + 1", (A, 1)),
        ("UPDATE event SET sum = x'0011223344556677' WHERE id = (1 << 32) + 2", (A, 2)),
        (
            "UPDATE session SET header = CAST(replace(header, 'local', 'lokal') AS BLOB)"
            " WHERE id = 1",
            (A, 0),
        ),
        ("UPDATE session SET seed = 2 WHERE id = 2", (B, 2)),
        ("UPDATE session SET parent = 3 WHERE id = 2", (B, 3)),
    ],
)
async def test_every_other_change_is_found_on_verifying(
    store: SqliteStore, path: Path, change: str, found: tuple[str, int]
) -> None:
    await store.create(native(A), drafts("1", "2", "3"))
    await store.create(child(B, A, 3), drafts("4"))
    await store.create(native("c"), drafts("1", "2", "3"))
    ask(path, change)
    assert await _refused(store, B, verify=True) == found


@behaviour("stores:damage")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE event SET body = 'no json' WHERE id = (1 << 32) + 1", (A, 1)),
        ("UPDATE event SET eid = CAST(x'ff' AS TEXT) WHERE id = (1 << 32) + 1", (A, 1)),
        ("DELETE FROM event WHERE id = 1 << 32", (A, 0)),
        ("DELETE FROM event WHERE id = (1 << 32) + 1", (A, 1)),
        ("DELETE FROM event WHERE id = (1 << 32) + 2", (A, 2)),
        ("DELETE FROM event WHERE id >= 2 << 32", (B, 3)),
        ("DELETE FROM session WHERE id = 1", (B, 2)),
    ],
)
async def test_what_cannot_be_read_is_found_without_verifying(
    store: SqliteStore, path: Path, change: str, found: tuple[str, int]
) -> None:
    await store.create(native(A), drafts("1", "2", "3"))
    await store.create(child(B, A, 3), drafts("4"))
    ask(path, change)
    assert await _refused(store, B, verify=False) == found


@behaviour("stores:damage")
async def test_a_damaged_header_is_found_wherever_it_is_shown(
    store: SqliteStore, path: Path
) -> None:
    await store.create(native(A), drafts("1"))
    ask(path, "UPDATE session SET header = '{}'")
    with pytest.raises(DamagedLog, match="header"):
        await store.row(A)
    assert "header" in (await store.row(A, damaged=True)).damaged


@behaviour("stores:damage")
async def test_a_damaged_header_spoils_no_list_and_keeps_what_the_columns_say(
    store: SqliteStore, path: Path
) -> None:
    await store.create(mirror(A, "codex", "\ud800ref"), drafts("1"))
    await store.create(child(B, A, 1), drafts("2"))
    await store.create(native("c", cwd="/here"), drafts("3"))
    before = await store.rows(Query())
    ask(path, "UPDATE session SET header = '{}', sum = x'00' WHERE uid != 'c'")
    whole, *damaged = await store.rows(Query())
    assert whole == before[0]
    assert [row.damaged.partition(":")[0] for row in damaged] == [
        "Session 'b' is damaged at event 0",
        "Session 'a' is damaged at event 0",
    ]
    known = [replace(row.header, created_at=0, agent="") for row in before[1:]]
    assert [(row.header, row.head, row.active) for row in damaged] == [
        (header, row.head, row.active) for header, row in zip(known, before[1:], strict=True)
    ]
    for query in (Query(owner="local"), Query(parent=A), Query(client_ref="\ud800ref")):
        assert any(row.damaged for row in await store.rows(query))


@behaviour("stores:damage")
@pytest.mark.parametrize("wrong", [b"b", b"\xff"])
async def test_an_id_that_was_changed_spoils_no_list(
    store: SqliteStore, path: Path, wrong: bytes
) -> None:
    await store.create(mirror("lost", "codex", "r"), drafts("1"))
    await store.create(native("c"), drafts("2"))
    lost, kept = await store.row(SessionId("lost")), await store.row(SessionId("c"))
    assert await store.rows(Query()) == [kept, lost]
    _change(path, b"lost", wrong)

    assert await store.rows(Query()) == await store.rows(Query(owner="local")) == [kept]
    assert len(await store.read(SessionId("lost"), verify=True)) == 1


def _change(path: Path, id: bytes, wrong: bytes) -> None:
    """In the table alone, as a flipped byte does; its index still says what it was."""
    ask(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    page = ask(path, "PRAGMA page_size")
    root = ask(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'session'") - 1
    at = path.read_bytes().index(id, root * page, (root + 1) * page)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(wrong)


@behaviour("stores:forget")
async def test_forgetting_leaves_no_event_behind_whatever_the_head_says(
    store: SqliteStore, path: Path
) -> None:
    await store.create(native(A), drafts("1", "2", "3"))
    ask(path, "UPDATE session SET head = 1, header = '{}'")
    await store.forget(A)
    assert ask(path, "SELECT count(*) FROM event") == 0
    await store.create(native(B), drafts("1", "2", "3"))
    assert len(await store.read(B)) == 3


async def test_a_damaged_file_is_told_in_plain_words(store: SqliteStore, path: Path) -> None:
    await store.create(native(A), [Draft(EventId(f"{n}"), n, BODIES[2]) for n in range(400)])
    await store.close()
    _scribble(path)
    again = await open_sqlite(path)
    with pytest.raises(StoreError, match="damaged"):
        await again.read(A)
    await again.close()


def _scribble(path: Path) -> None:
    """Overwrite all pages behind the schema and the sessions."""
    whole = path.read_bytes()
    kept = 12 * 4096
    path.write_bytes(whole[:kept] + b"\xff" * (len(whole) - kept))
