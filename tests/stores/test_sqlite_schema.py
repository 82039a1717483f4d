"""How a database comes to this version, and what happens where it must not."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import NewerSchema, StoreError
from sidechat_mcp.ports.store import Once, Query
from sidechat_mcp.stores.sqlite.connection import check_version
from sidechat_mcp.stores.sqlite.files import Files, network, refuse_network
from sidechat_mcp.stores.sqlite.locks import LockFile
from sidechat_mcp.stores.sqlite.migrate import bring_up
from sidechat_mcp.stores.sqlite.reader import AT_ONCE
from sidechat_mcp.stores.sqlite.schema import STEPS
from sidechat_mcp.stores.sqlite.store import open_sqlite
from sidechat_mcp.testing.samples import drafts, names, native
from tests.behaviours import behaviour
from tests.stores.raw import ask, content

A = SessionId("a")
NEXT: Sequence[Sequence[str]] = (
    *STEPS,
    ("ALTER TABLE session ADD COLUMN note TEXT", "UPDATE session SET note = 'moved'"),
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


async def _fill(path: Path) -> None:
    store = await open_sqlite(path)
    await store.create(native(A), drafts("1", "2"))
    await store.close()


class Deadly(tuple[str, ...]):
    """Statements of which the first few are carried out; then the process is killed."""

    kills_at = 0

    def __iter__(self) -> Iterator[str]:
        for number in range(len(self)):
            if number == self.kills_at:
                os.kill(os.getpid(), signal.SIGKILL)
            yield self[number]


def _killed_while_migrating(path: Path, after: int) -> int:
    """How a process ended that was killed after so many statements of a migration."""
    pid = os.fork()
    if pid == 0:
        statements = Deadly((*NEXT[-1], "SELECT 1", "SELECT 2"))
        statements.kills_at = after
        bring_up(Files(path), (*STEPS, statements))
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@behaviour("stores:migration")
async def test_an_older_database_is_brought_up_and_a_copy_is_left(path: Path) -> None:
    await _fill(path)
    store = await open_sqlite(path, steps=NEXT)
    await store.append(A, drafts("3"), expect=2)
    assert names(await store.read(A, verify=True)) == ["a:0 1", "a:1 2", "a:2 3"]
    await store.close()
    assert ask(path, "SELECT note FROM session") == "moved"
    assert ask(path, "PRAGMA user_version") == 2
    copy = path.with_name("log.db.v1.backup")
    assert ask(copy, "PRAGMA user_version") == 1
    assert ask(copy, "SELECT count(*) FROM event") == 2
    assert ask(copy, "PRAGMA integrity_check") == "ok"


@behaviour("stores:migration")
async def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    await _fill(path)
    with pytest.raises(StoreError):
        await open_sqlite(path, steps=(*NEXT[:-1], (*NEXT[-1], "SELECT nonsense")))
    assert ask(path, "PRAGMA user_version") == 1
    store = await open_sqlite(path)
    assert len(await store.read(A, verify=True)) == 2
    await store.close()


@behaviour("stores:migration")
@pytest.mark.parametrize("statement", range(4))
async def test_a_kill_at_any_statement_of_a_migration_leaves_it_to_the_next(
    path: Path, statement: int
) -> None:
    await _fill(path)
    assert _killed_while_migrating(path, statement) == -signal.SIGKILL
    assert ask(path, "PRAGMA user_version") == 1
    store = await open_sqlite(path, steps=NEXT)
    assert len(await store.read(A, verify=True)) == 2
    await store.close()
    assert ask(path, "SELECT note FROM session") == "moved"


@behaviour("stores:migration")
async def test_of_many_who_migrate_at_once_all_come_up(path: Path) -> None:
    await _fill(path)
    found: list[int] = []
    barrier = threading.Barrier(8)

    def one() -> None:
        barrier.wait()
        found.append(bring_up(Files(path), NEXT))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(to_thread.run_sync, one)
    assert found == [2] * 8
    assert sorted(os.listdir(path.parent)) == ["lock", "log.db", "log.db.v1.backup", "turns"]
    assert ask(path, "SELECT note FROM session") == "moved"


@behaviour("stores:newer-schema")
async def test_a_newer_database_is_read_and_not_written(path: Path) -> None:
    await _fill(path)
    await (await open_sqlite(path, steps=NEXT)).close()
    before = content(path)
    store = await open_sqlite(path)
    assert names(await store.read(A, verify=True)) == ["a:0 1", "a:1 2"]
    assert len(await store.rows(Query())) == 1
    for write in (
        lambda: store.append(A, drafts("3"), expect=None),
        lambda: store.create(native("b"), []),
        lambda: store.forget(A),
    ):
        with pytest.raises(NewerSchema, match="restart the client"):
            await write()
    await store.close()
    assert content(path) == before


@behaviour("stores:newer-schema")
async def test_a_process_that_runs_on_while_another_migrates_stops_writing(path: Path) -> None:
    await _fill(path)
    old = await open_sqlite(path)
    await old.append(A, drafts("3"), expect=2)
    new = await open_sqlite(path, steps=NEXT)
    with pytest.raises(NewerSchema, match="restart the client"):
        await old.append(A, drafts("4"), expect=None)
    await new.append(A, drafts("5"), expect=3)
    assert names(await old.read(A)) == ["a:0 1", "a:1 2", "a:2 3", "a:3 5"]
    await old.close()
    await new.close()


@behaviour("stores:newer-schema")
@pytest.mark.parametrize(
    "step",
    [
        ("ALTER TABLE session RENAME COLUMN head TO tip", "ALTER TABLE event RENAME TO happening"),
        ("UPDATE event SET body = 'compressed'", "UPDATE session SET header = 'compressed'"),
        ("UPDATE once SET kept = 7",),
    ],
    ids=["names", "bodies", "numbers"],
)
async def test_what_this_version_cannot_read_of_a_newer_database_is_not_called_damage(
    path: Path, step: Sequence[str]
) -> None:
    store = await open_sqlite(path)
    await store.create(native(A), drafts(*map(str, range(AT_ONCE + 1))), once=Once("key"))
    running, new = await open_sqlite(path), await open_sqlite(path, steps=(*STEPS, step))
    late = await open_sqlite(path)
    assert (running.unwritable, type(late.unwritable)) == (None, NewerSchema)
    for old in (running, late):
        for read in (old.read(A), old.read(A, 0, 1), old.row(A), old.once("key")):
            with suppress(NewerSchema):
                await read
    with pytest.raises(NewerSchema, match="restart the client"):
        await (late.once("key") if "once" in step[0] else late.read(A))
    for one in (store, running, new, late):
        await one.close()


async def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    ask(path, "CREATE TABLE theirs (x)")
    before = content(path)
    with pytest.raises(StoreError, match="another program"):
        await open_sqlite(path)
    assert content(path) == before
    ask(path, "PRAGMA user_version=7")
    with pytest.raises(StoreError, match="another program"):
        await open_sqlite(path)
    assert ask(path, "PRAGMA journal_mode") == "delete"


@pytest.fixture
def _novel(path: Path) -> None:
    path.write_text("It was a dark and stormy night. " * 200)


@pytest.mark.usefixtures("_novel")
async def test_what_is_no_database_is_said_to_be_none(path: Path) -> None:
    with pytest.raises(StoreError, match="no database"):
        await open_sqlite(path)


async def test_a_migration_waits_for_a_lock_only_so_long(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidechat_mcp.stores.sqlite.migrate.PATIENCE", 0.05)
    lock = LockFile(path.with_name("lock"))
    with lock.held(), pytest.raises(StoreError) as refused:
        await open_sqlite(path)
    lock.close()
    assert refused.value.retryable


@behaviour("stores:sqlite-version")
@pytest.mark.parametrize("found", ["3.40.1", "3.51.2", "3.7.17"])
def test_an_sqlite_that_can_lose_data_is_refused(found: str) -> None:
    with pytest.raises(StoreError, match=r"at least 3\.51\.3"):
        check_version(found)


@pytest.mark.parametrize("found", ["3.51.3", "3.54.1", "3.100.0", "4.0.0"])
def test_a_current_sqlite_is_taken(found: str) -> None:
    check_version(found)


MOUNTS = r"""/dev/vda / ext4 rw 0 0
tmpfs /dev/shm tmpfs rw 0 0
server:/export /mnt/far nfs4 rw 0 0
//server/share /mnt/a\040share cifs rw 0 0
host /mnt/host 9p rw 0 0
x@y:/ /mnt/far/ssh fuse.sshfs rw 0 0
/dev/vdb /mnt/far/disk ext4 rw 0 0
"""


@behaviour("stores:network")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ann/log.db", None),
        ("/dev/shm/log.db", None),
        ("/mnt/far/log.db", "nfs4"),
        ("/mnt/a share/x/log.db", "cifs"),
        ("/mnt/host/log.db", "9p"),
        ("/mnt/far/ssh/log.db", "fuse.sshfs"),
        ("/mnt/far/disk/log.db", None),
        ("/mnt/farther/log.db", None),
    ],
)
def test_a_network_file_system_is_recognised(path: str, kind: str | None) -> None:
    assert network(Path(path), MOUNTS) == kind


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/export {tmp_path.resolve()} nfs rw 0 0\n")
    monkeypatch.setattr("sidechat_mcp.stores.sqlite.files._MOUNTS", mounts)
    return mounts


@behaviour("stores:network")
@pytest.mark.usefixtures("mounts")
async def test_a_network_file_system_is_refused_and_a_local_disk_advised(path: Path) -> None:
    with pytest.raises(StoreError, match="local disk"):
        await open_sqlite(path)
    assert content(path) is None


@behaviour("stores:network")
def test_without_a_list_of_mounts_nothing_is_refused(path: Path, mounts: Path) -> None:
    mounts.unlink()
    refuse_network(path)
