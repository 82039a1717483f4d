"""Claude Code as a client: finds its conversations and reads them; never writes to its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from sidechat_mcp.clients.bookmarks import Bookmarks
from sidechat_mcp.clients.claude_code.drafting import NAME
from sidechat_mcp.clients.claude_code.going_on import Standing
from sidechat_mcp.clients.claude_code.hosted import Fork, Running
from sidechat_mcp.clients.claude_code.locate import SESSION, Search
from sidechat_mcp.clients.claude_code.places import Places, at
from sidechat_mcp.clients.claude_code.program import Program
from sidechat_mcp.clients.claude_code.transcript import since, whole
from sidechat_mcp.clients.waiting import Waiting
from sidechat_mcp.core.events import TurnStart
from sidechat_mcp.ports.client import Call, Found, Hosted, Point, Transcript

PATIENCE = 2.0
"""Seconds that a file which must come is waited for."""
PAUSE = 0.05


class ClaudeCode:
    """`environ` says where the client keeps its files (`CLAUDE_CONFIG_DIR`, `HOME`)."""

    def __init__(self, environ: Mapping[str, str], patience: float = PATIENCE) -> None:
        self._environ = environ
        self._patience = patience
        self._waiting = Waiting[Running]()
        self._marks = Bookmarks[Standing]()

    @property
    def name(self) -> str:
        return NAME

    async def locate(self, call: Call) -> Found | None:
        """In order: the transcript in which this very call is pending, the session that an
        ancestor process is registered with, the one named in our environment."""
        places = Places({**self._environ, **call.environment})
        search = Search(places, call)
        file = None
        with anyio.move_on_after(self._patience):
            while file is None and (file := await run_sync(_sure, search)) is None:
                if search.tool_use is None and await run_sync(search.registered) is None:
                    break  # Nothing is on its way.
                await anyio.sleep(PAUSE)
        if file is None:
            file = await run_sync(_named, search)
        return await run_sync(at, file) if file is not None else None

    async def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        return await run_sync(Places(self._environ).newest, cwd, limit)

    async def find(self, ref: str, cwd: str | None) -> Found | None:
        return await run_sync(Places(self._environ).find, ref, cwd)

    async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
        return await run_sync(self._read, found.path, found.ref, since_last)

    async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
        return await run_sync(self._read, path, None, since_last)

    def hosted(self, point: Point) -> Hosted | None:
        if Places(self._environ).find(point.ref, point.cwd) is None:
            return None  # Read from a file elsewhere, or gone: the client itself cannot resume it.
        program = Program(self._environ)
        if not program.there(point.ref):
            return None
        started, went_on = partial(program.started, point.ref), partial(self._went_on, point)
        return Fork(point, started, self._environ, went_on, self._waiting)

    def _went_on(self, point: Point) -> bool:
        """Whether anything follows the turn of `point` in its transcript now."""
        found = Places(self._environ).find(point.ref, point.cwd)
        if found is None:
            return False
        told = self._read(found.path, found.ref, False)
        turns = [draft.body.turn for draft in told.drafts if isinstance(draft.body, TurnStart)]
        return bool(told.open_turns) or not turns or turns[-1] != point.turn

    def _read(self, path: Path, ref: str | None, since_last: bool) -> Transcript:
        told, behind = partial(whole, name=path.stem, ref=ref), partial(since, ref=ref)
        return self._marks.read(path, since_last, behind, told)

    async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
        return None


def _sure(search: Search) -> Path | None:
    """What need not be waited for any longer."""
    if search.tool_use is not None:
        return search.waiting(search.tool_use)
    return search.file(search.registered())


def _named(search: Search) -> Path | None:
    """What names itself without a call: a registered session even when its file is missing (the
    environment's is older then), else the environment's."""
    registered = search.registered()
    if registered is not None:
        return search.file(registered)
    return search.file(search.call.environment.get(SESSION))
