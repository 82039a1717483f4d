"""Folders of ours for the forks of a client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sidechat_mcp.clients.rooms import enter
from tests.behaviours import behaviour


@behaviour("clients:rooms")
def test_nobody_clears_away_a_folder_that_somebody_just_made(tmp_path: Path) -> None:
    rooms = tmp_path / "rooms"
    rooms.mkdir()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(enter, [rooms] * 200))

    assert [path for path, _ in made if not (path / "lock").exists()] == []
    for _, lock in made:
        lock.close()


@behaviour("clients:rooms")
def test_what_nobody_locks_any_more_goes_when_the_next_one_comes(tmp_path: Path) -> None:
    rooms = tmp_path / "rooms"
    rooms.mkdir()
    left, lock = enter(rooms)
    lock.close()

    path, lock = enter(rooms)

    assert (left.exists(), path.exists()) == (False, True)
    lock.close()
