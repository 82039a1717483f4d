"""Nobody but the owner reads a conversation, whatever the umask says."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from pathlib import Path

import pytest

from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.stores.sqlite.files import Files
from sidechat_mcp.stores.sqlite.schema import STEPS
from sidechat_mcp.stores.sqlite.store import open_sqlite
from sidechat_mcp.testing.samples import drafts, native
from tests.behaviours import behaviour

A = SessionId("a")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=[0o000, 0o002, 0o022, 0o777], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Generator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def _modes(folder: Path) -> dict[str, int]:
    found = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in found}


@behaviour("stores:private")
@pytest.mark.usefixtures("_umask")
async def test_files_and_folders_are_private(tmp_path: Path) -> None:
    home = tmp_path / "some" / "home"
    await (await open_sqlite(home / "log.db")).close()
    store = await open_sqlite(home / "log.db", steps=(*STEPS, ("SELECT 1",)))
    await store.create(native(A), drafts("1"))
    async with store.hold(A):
        assert _modes(home) == {
            ".": 0o700,
            "lock": 0o600,
            "log.db": 0o600,
            "log.db-shm": 0o600,
            "log.db-wal": 0o600,
            "log.db.v1.backup": 0o600,
            "turns": 0o700,
            "turns/a": 0o600,
        }
    await store.close()
    assert _modes(tmp_path / "some")["."] == 0o700


def _open_up(folder: Path) -> None:
    for path in folder.iterdir():
        path.chmod(0o777)


@pytest.fixture
def _public(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)


@behaviour("stores:private")
@pytest.mark.parametrize("mode", [0o755, 0o777, 0o2775, 0o705], ids=oct)
async def test_a_home_that_was_there_before_us_is_closed_to_others(
    tmp_path: Path, mode: int
) -> None:
    (tmp_path / "config.toml").touch()
    tmp_path.chmod(mode)
    await (await open_sqlite(tmp_path / "log.db")).close()
    assert _modes(tmp_path)["."] == 0o700


@behaviour("stores:private")
@pytest.mark.usefixtures("_public")
async def test_what_its_owner_took_from_himself_is_not_given_back(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    await (await open_sqlite(path)).close()
    path.chmod(0o440)
    Files(path).make()
    assert _modes(tmp_path)["log.db"] == 0o400


@behaviour("stores:private")
@pytest.mark.usefixtures("_public")
async def test_wider_modes_are_tightened_and_a_folder_of_others_is_not(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    (tmp_path / "novel.txt").touch(0o644)
    store = await open_sqlite(path)
    await store.create(native(A), drafts("1"))
    _open_up(tmp_path)
    again = await open_sqlite(path)
    assert _modes(tmp_path) == {
        ".": 0o755,
        "lock": 0o600,
        "log.db": 0o600,
        "log.db-shm": 0o600,
        "log.db-wal": 0o600,
        "novel.txt": 0o777,
        "turns": 0o700,
    }
    await again.close()
    await store.close()


async def test_a_log_kept_elsewhere_takes_no_name_but_its_own(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("somebody's")
    (tmp_path / "turns").mkdir(mode=0o755)
    store = await open_sqlite(tmp_path / "mine.db")
    await store.close()
    assert (tmp_path / "lock").read_text() == "somebody's"
    assert stat.S_IMODE((tmp_path / "turns").stat().st_mode) == 0o755
    assert {"mine.db", "mine.db.lock", "mine.db.turns"} <= {one.name for one in tmp_path.iterdir()}
