"""opencode keeps the contract of clients."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from sidechat_mcp.testing.client_contract import ClientContract, House
from tests.clients.cabin import Home, Talk, call, tool, write


def now() -> int:
    """Asked when a test runs: a call counts as running for some minutes only."""
    return time.time_ns() // 1_000_000


@pytest.fixture
def house(tmp_path: Path) -> House:
    home = Home(tmp_path)
    cwd, elsewhere = home.folder("work/ferryline"), home.folder("work/other")
    arguments: dict[str, dict[str, str]] = {}
    # A channel has a database of its own, so that each file here is one conversation's.
    for n, ref in enumerate(("ses_1", "ses_2", "ses_3")):
        talk = Talk(ref, cwd, updated=1000 + n)
        talk.turn(f"First words of {ref}", "An answer")
        talk.turn("And some more", "Another answer")
        arguments[ref] = {"question": f"of {ref}"}
        talk.says("Fork it, please.")
        waiting = tool("c1", "sidechat_fork", "running", dict(arguments[ref]), start=now())
        talk.answers(waiting, finish=None)
        home.put(talk, channel=f"-{n}")
    alien = tmp_path / "alien.db"
    with sqlite3.connect(alien) as database:
        database.execute("CREATE TABLE messages (id, body)")
    moments = _moments(tmp_path)
    return House(
        client=home.client(),
        home=home.root,
        cwd=cwd,
        elsewhere=elsewhere,
        refs=["ses_3", "ses_2", "ses_1"],
        calling=lambda ref: call(cwd, "fork", arguments[ref]),
        stray=call(cwd, "fork", {"question": "of somebody else"}),
        moments=moments,
        torn=moments[5],
        alien=alien.read_bytes(),
    )


def _moments(folder: Path) -> list[bytes]:
    """A database after each message, and in the middle of some."""
    talk = Talk("ses_growing")
    found: list[bytes] = []

    def keep() -> None:
        file = folder / "moment.db"
        file.unlink(missing_ok=True)
        write(file, talk, wal=False)
        found.append(file.read_bytes())

    for n in range(3):
        talk.says(f"Question {n}")
        keep()
        talk.answers("Let me", finish=None)
        keep()
        talk.rows.pop()
        talk.answers("Let me look.", tool(f"c{n}"), finish="tool-calls")
        keep()
        talk.answers(f"Answer {n}")
        keep()
    talk.compacts()
    keep()
    talk.says("A note", synthetic=True)
    keep()
    talk.turn("After all that", "An answer")
    keep()
    return found


class TestOpencode(ClientContract):
    pass
