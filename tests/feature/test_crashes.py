"""Processes that die, and bytes that change, under the whole feature over one SQLite file."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import apsw
import pytest

from sidechat_mcp.core import handback
from sidechat_mcp.core.content import Text, ToolUse, text
from sidechat_mcp.core.events import ContextCompacted, Draft, MirrorSeen, Unknown
from sidechat_mcp.core.ids import EventId, SessionId
from sidechat_mcp.ports.provider import Done, Spent, Whole
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.sqlite.store import open_sqlite
from tests.behaviours import behaviour
from tests.feature.test_converse import Chest, Hammer
from tests.feature.workshop import Speaker, workshop

ME = Caller()
TOP = Path(__file__).resolve().parent.parent.parent


@asynccontextmanager
async def opened(log: Path, speaker: Speaker) -> AsyncGenerator[Sidechat]:
    store = await open_sqlite(log)
    try:
        yield workshop(store, agents={"speaker": speaker}, tools=Chest(Hammer()))
    finally:
        await store.close()


async def prepared(log: Path) -> tuple[SessionId, SessionId]:
    async with opened(log, Speaker(["Parent's.", "Side's."])) as sidechat:
        native = await sidechat.native(ME)
        await sidechat.converse(ME, "Parent?", session=native.id)
        fork = await sidechat.fork(ME, parent=native.id, question="Side?")
        return native.id, fork.session


MOMENTS = ("before condense", "after condense", "before commit", "after commit")


def race(log: Path, child: str, moment: str) -> list[str]:
    """What eight merging processes said: four that die at `moment` go first, and four that do
    not join as soon as one of those is dead. Processes wait for files, so this one may block."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.feature.merger", str(log), child, when],
            cwd=TOP,
            stdout=subprocess.PIPE,
            text=True,
        )
        for when in [moment] * 4 + ["never"] * 4
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    log.with_suffix(".first").touch()
    while all(process.poll() is None for process in started[:4]):
        time.sleep(0.002)
    log.with_suffix(".second").touch()
    said = [process.communicate(timeout=60)[0].strip() for process in started]
    assert any(process.returncode == -signal.SIGKILL for process in started[:4])
    assert all(process.returncode == 0 for process in started[4:])
    return said


@behaviour("merge:crash")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("moment", MOMENTS)
async def test_racing_merges_with_killed_processes_end_in_one_note(
    moment: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.db"
    parent, child = await prepared(log)
    said = await anyio.to_thread.run_sync(race, log, child, moment)
    told = {tuple(json.loads(one)) for one in said if one}
    assert len(told) == 1
    async with opened(log, Speaker(["Never said."])) as sidechat:
        receipt = await sidechat.merge(ME, session=child)
        assert (receipt.note, receipt.text) == told.pop()
        assert receipt.again
        events = await sidechat.parts.store.read(parent)
        assert sum(handback.read(event) is not None for event in events) == 1
        assert {one.verdict for one in await sidechat.replay(ME)} == {"verified"}


async def every_kind(log: Path) -> None:
    """A log that has every kind of event, of a parent and of its child."""
    calls = [Whole(ToolUse("c1", "hammer", "{}")), Spent(1, 1), Done("tool_use")]
    answer = [Whole(Text("Done.")), Spent(2, 2), Done()]
    async with opened(log, Speaker([calls, answer, "Side.", "Note."])) as sidechat:
        native = await sidechat.native(ME, system="Be brief.", tools=True)
        await sidechat.converse(ME, "Hit.", session=native.id)
        fork = await sidechat.fork(ME, parent=native.id, question="Side?")
        await sidechat.merge(ME, session=fork.session)
        more = [
            ContextCompacted(text("In short."), 1),
            MirrorSeen("n", "record"),
            Unknown("later/kind", {"kind": "later/kind", "ignorable": True, "x": 1}, True),
        ]
        drafts = [Draft(EventId(f"m{n}"), n, body) for n, body in enumerate(more)]
        await sidechat.parts.store.append(fork.session, drafts, expect=None)


@behaviour("replay:damage")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_changed_byte_in_any_event_is_found_and_named(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    await every_kind(log)
    db: Any = apsw.Connection(str(log))
    uids = dict(db.execute("select id, uid from session").fetchall())
    rows = db.execute("select id, body from event order by id").fetchall()
    kinds: set[str] = set()
    for place, body in rows:
        kinds.add(json.loads(body)["kind"])
        spot = len(body) // 2
        changed = body[:spot] + bytes([body[spot] ^ 1]) + body[spot + 1 :]
        db.execute("update event set body = ? where id = ?", (changed, place))
        async with opened(log, Speaker(["x"])) as sidechat:
            failed = [one for one in await sidechat.replay(ME) if one.verdict == "failed"]
        session, seq = uids[place >> 32], place & 0xFFFFFFFF
        assert any(f"{session}" in one.why and one.seq == seq for one in failed), (body, failed)
        db.execute("update event set body = ? where id = ?", (body, place))
    async with opened(log, Speaker(["x"])) as sidechat:
        assert {one.verdict for one in await sidechat.replay(ME)} == {"verified"}
    assert len(kinds) == 13
