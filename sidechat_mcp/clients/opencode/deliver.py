"""A note into a live conversation: a message of the client's own that asks for no reply.

It is written while the conversation waits for its person and only then: a message that comes in
mid-turn would be answered, and one that comes after an undo would make that undo final."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
from anyio.to_thread import run_sync

from sidechat_mcp.clients.opencode.database import Database, consult
from sidechat_mcp.clients.opencode.places import Places
from sidechat_mcp.clients.opencode.program import executable
from sidechat_mcp.clients.opencode.server import ask, serve
from sidechat_mcp.clients.opencode.transcript import told
from sidechat_mcp.clients.opencode.tree import rooted
from sidechat_mcp.clients.opencode.voice import Voice, voice
from sidechat_mcp.core.handback import seen
from sidechat_mcp.errors import OutsideError, SidechatError

DOOR = "noReply"
IN_TIME = 60.0
"""Seconds after which a client that does not answer has not taken the note."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A conversation that waits for its person, in the folder `cwd`. `there` says that it shows
    the note already; `voice` is who answers in it."""

    cwd: str
    voice: Voice
    there: bool = False


async def note(environ: Mapping[str, str], ref: str, text: str) -> str | None:
    """Write `text` into the conversation `ref`: the door's name when it stands there (also when
    it stood there before), else None."""
    program = executable(environ)
    moment = await run_sync(_moment, environ, ref, text)
    if moment is None or (program is None and not moment.there):
        return None
    if moment.there or program is None:
        return DOOR
    try:
        with anyio.fail_after(IN_TIME):
            served = await serve(program, moment.cwd, environ, {"autoupdate": False})
            try:
                body = {**moment.voice.prompt(text, synthetic=True), "noReply": True}
                async with served.client() as client:
                    await ask(client, "POST", f"/session/{ref}/message", body)
            finally:
                await served.gone()
    except (OutsideError, httpx2.HTTPError, TimeoutError):
        return None
    return DOOR


def _moment(environ: Mapping[str, str], ref: str, text: str) -> Moment | None:
    """None when it is not the time to write a note."""
    found = Places(environ).find(ref, None)
    if found is None or found.cwd is None or rooted(found.path) is not None:
        return None
    cwd = found.cwd

    def look(database: Database) -> Moment | None:
        session = database.session(ref)
        if session is None or session.parent is not None or session.revert is not None:
            return None
        read = told(session, database.rows(ref))
        notes = seen(text)
        there = bool(notes) and all(one in read.delivered for one in notes)
        waits = not read.open_turns and bool(read.drafts)
        return Moment(cwd, voice(database.line(ref)), there) if there or waits else None

    try:
        return consult(found.path, look) if Path(cwd).is_dir() else None
    except SidechatError:
        return None
