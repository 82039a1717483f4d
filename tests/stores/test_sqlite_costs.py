"""What things cost, counted in bytes, pages and steps, which no busy machine can change."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from sidechat_mcp.core import codec, framing
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import ContextMessage, Draft, Header, TurnEnd, TurnStart
from sidechat_mcp.core.ids import EventId, SessionId, TurnId
from sidechat_mcp.ports.store import Once, Query
from sidechat_mcp.stores.sqlite import listing, reads
from sidechat_mcp.stores.sqlite.connection import LOG_SIZE, Connection, for_reading
from sidechat_mcp.stores.sqlite.store import SqliteStore, open_sqlite
from sidechat_mcp.testing.samples import HOUR, Now, child, draft, drafts, mirror, native
from tests.behaviours import behaviour
from tests.stores.raw import ask, opened

A = SessionId("a")
FORKS = 400


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
async def store(path: Path, now: Now) -> AsyncGenerator[SqliteStore]:
    store = await open_sqlite(path, durability="NORMAL", now=now)
    yield store
    await store.close()


def _word(number: int, kind: str) -> str:
    """As long as the words that name things, and in no order, as they are."""
    return codec.checksum(number, kind, 0, b"").hex() + "abcdefghij"


def _fork(number: int, seed_length: int) -> Header:
    return Header(
        *(SessionId(_word(number, "s")), 1_790_000_000_000, "sidechat", "local", "quoting"),
        parent_session=A,
        seed_length=seed_length,
        cwd="/home/someone/projects/something",
    )


def _framing(number: int) -> Sequence[Draft]:
    turn = TurnId(_word(number, "t"))
    bodies = (
        TurnStart(turn, "injection"),
        ContextMessage(turn, text(framing.FRAMING), framing.SOURCE),
        TurnEnd(turn, "injection"),
    )
    return [
        Draft(EventId(_word(number * 3 + n, "e")), 1_790_000_000_000, body)
        for n, body in enumerate(bodies)
    ]


def _size(path: Path) -> int:
    """Bytes of the database in use, with the log's pages brought in."""
    with opened(path) as connection:
        connection.wal_checkpoint()
        pages: int = connection.execute("PRAGMA page_count").get
        free: int = connection.execute("PRAGMA freelist_count").get
        return (pages - free) * 4096


@behaviour("stores:fork-bytes")
@pytest.mark.parametrize("history", [10, 3_000])
async def test_a_fork_takes_two_kilobytes_at_most_whatever_its_history(
    store: SqliteStore, path: Path, history: int
) -> None:
    await store.create(native("a"), [draft(f"{n}") for n in range(history)])
    before = _size(path)
    for number in range(FORKS):
        once = Once(f"local/fork/{A}/{_word(number, 'k')}", "0" * 64)
        await store.create(_fork(number, history), _framing(number), once=once)
    assert (_size(path) - before) / FORKS <= 2048


@behaviour("stores:fork-bytes")
async def test_the_address_of_a_fork_takes_two_hundred_bytes_at_most(
    store: SqliteStore, path: Path
) -> None:
    await store.create(native("a"), drafts("1"))
    before = _size(path)
    for number in range(FORKS):
        await store.create(_fork(number, 1), [])
    header = len(codec.dump_header(_fork(0, 1)))
    assert (_size(path) - before) / FORKS - header <= 200


def _steps(path: Path, question: Callable[..., object], *arguments: object) -> int:
    """How many steps SQLite's machine takes to answer."""
    connection = for_reading(path)
    taken = 0

    def step() -> bool:
        nonlocal taken
        taken += 1
        return False

    cast("Any", connection).set_progress_handler(step, 1)
    question(connection, *arguments)
    connection.close()
    return taken


LISTS = [
    Query(owner="local", origin="sidechat"),
    Query(owner="local"),
    Query(parent=A),
    Query(parent=A, owner="local", origin="sidechat"),
    Query(parent=SessionId("m-7"), owner="other", origin="sidechat"),
    Query(client="claude-code", client_ref="ref-7"),
    Query(client="claude-code", client_ref="ref-7", owner="local"),
    Query(),
]


@behaviour("stores:lists")
@pytest.mark.parametrize("query", LISTS, ids=range(len(LISTS)))
async def test_a_list_costs_the_same_however_many_sessions_there_are(
    store: SqliteStore, path: Path, query: Query
) -> None:
    await store.create(native("a"), drafts("1"))

    async def fill(start: int, stop: int) -> None:
        for number in range(start, stop):
            await store.create(child(f"s-{number}", A, 1), [])
            await store.create(mirror(f"m-{number}", "claude-code", f"ref-{number}"), [])
            await store.create(child(f"o-{number}", f"m-{number}", 0, owner="other"), [])

    await fill(0, 50)
    few = _steps(path, listing.rows, query)
    await fill(50, 1_000)
    assert _steps(path, listing.rows, query) <= few * 1.1


@behaviour("stores:lists")
async def test_another_owners_list_costs_the_same_as_well(store: SqliteStore, path: Path) -> None:
    await store.create(native("mine", owner="ann"), [])
    alone = _steps(path, listing.rows, Query(owner="ann"))
    for number in range(500):
        await store.create(native(f"s-{number}", owner="bob"), [])
    assert _steps(path, listing.rows, Query(owner="ann")) <= alone * 1.1


async def test_the_end_of_a_deep_line_is_found_without_walking_it(
    store: SqliteStore, path: Path
) -> None:
    await store.create(native("s-0"), drafts("0"))
    for depth in range(1, 200):
        await store.create(child(f"s-{depth}", f"s-{depth - 1}", depth), drafts(f"{depth}"))
    near = _steps(path, reads.pieces, SessionId("s-5"), 4, None)
    assert _steps(path, reads.pieces, SessionId("s-199"), 198, None) <= near * 1.1
    whole = _steps(path, reads.pieces, SessionId("s-199"), 0, None)
    assert whole > near * 20, "this test can tell a walk from none"


async def test_expired_keys_go_away_by_and_by(store: SqliteStore, path: Path, now: Now) -> None:
    await store.create(native("a"), [])
    for number in range(1_200):
        kept = "identity" if number % 100 == 0 else "caller"
        await store.append(A, [], expect=None, once=Once(f"key-{number}", "", kept))
    assert ask(path, "SELECT count(*) FROM once") == 1_200
    now.pass_by(31 * 24 * HOUR)
    for _ in range(64 * 5):
        await store.append(A, drafts("x"), expect=None)
    assert ask(path, "SELECT count(*) FROM once") == 12


async def test_the_write_ahead_log_stays_bounded(store: SqliteStore, path: Path) -> None:
    await store.create(native("a"), [])
    for number in range(1_500):
        await store.append(A, [draft(f"{number}" * 300)], expect=None)
    assert _file_size(path.with_name("log.db-wal")) < LOG_SIZE


async def test_a_large_import_leaves_no_large_log(store: SqliteStore, path: Path) -> None:
    await store.create(native("a"), [draft(f"{n}" * 1_000) for n in range(4_000)])
    assert _file_size(path.with_name("log.db-wal")) > LOG_SIZE
    for number in range(3):
        await store.append(A, drafts(f"{number}"), expect=None)
    assert _file_size(path.with_name("log.db-wal")) <= LOG_SIZE


def _file_size(path: Path) -> int:
    return path.stat().st_size


async def test_a_reader_that_stays_holds_no_writer_up(store: SqliteStore, path: Path) -> None:
    await store.create(native("a"), drafts("0"))
    with opened(path) as other:
        _pin(other)
        for number in range(1_200):
            await store.append(A, [draft(f"{number}" * 300)], expect=None)
    assert len(await store.read(A, verify=True)) == 1_201


def _pin(connection: Connection) -> None:
    """Begin to read and do not end."""
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM event").fetchall()
