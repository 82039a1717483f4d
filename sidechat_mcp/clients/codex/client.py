"""Codex as a client: finds its threads and reads them; never writes to its files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO

import anyio
from anyio.to_thread import run_sync

from sidechat_mcp.clients.bookmarks import Bookmarks
from sidechat_mcp.clients.codex import deliver, locate
from sidechat_mcp.clients.codex.drafting import NAME
from sidechat_mcp.clients.codex.hosted import Fork, Running
from sidechat_mcp.clients.codex.places import Places, opened, packed
from sidechat_mcp.clients.codex.program import Program
from sidechat_mcp.clients.codex.standing import turn_of
from sidechat_mcp.clients.codex.transcript import Standing, since, whole
from sidechat_mcp.clients.waiting import Waiting
from sidechat_mcp.ports.client import Call, Found, Hosted, Point, Transcript

PATIENCE = 2.0
"""Seconds that a file which must come is waited for."""
PAUSE = 0.05

_TURN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Codex:
    """`environ` says where the client keeps its files (`CODEX_HOME`, `HOME`)."""

    def __init__(self, environ: Mapping[str, str], patience: float = PATIENCE) -> None:
        self._environ = environ
        self._patience = patience
        self._waiting = Waiting[Running]()
        self._marks = Bookmarks[Standing]()

    @property
    def name(self) -> str:
        return NAME

    async def locate(self, call: Call) -> Found | None:
        """The thread that the call itself names; a subagent's call comes from the conversation
        that it works for. One without a file is no conversation that could be read."""
        ref = locate.thread(call)
        if ref is None:
            return None
        places = Places({**self._environ, **call.environment})
        with anyio.move_on_after(self._patience):
            while True:
                path = await run_sync(locate.file, places, ref)
                if path is not None:
                    return await run_sync(places.at, path)
                await anyio.sleep(PAUSE)
        return None

    async def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        return await run_sync(Places(self._environ).newest, cwd, limit)

    async def find(self, ref: str, cwd: str | None) -> Found | None:
        return await run_sync(Places(self._environ).find, ref)

    async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
        return await run_sync(self._read, found.path, found.ref, since_last)

    async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
        return await run_sync(self._read, path, None, since_last)

    def hosted(self, point: Point) -> Hosted | None:
        """Codex's own ephemeral fork, where its program is here and the turn is one that it
        knows by an id: turns of old files have none."""
        if _TURN.fullmatch(turn_of(point.turn)) is None:
            return None
        command = Program(self._environ).command()
        if command is None:
            return None
        return Fork(point, command, self._environ, self._waiting)

    async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
        """By the client's daemon, where the person opened that door and it has the thread."""
        if not deliver.wanted(self._environ):
            return None
        path = deliver.socket(Places(self._environ).home)
        return deliver.DOOR if await deliver.inject(path, ref, text) else None

    def _read(self, path: Path, ref: str | None, since_last: bool) -> Transcript:
        return self._marks.read(path, since_last, since, partial(self._whole, path, ref))

    def _whole(
        self, path: Path, ref: str | None, plain: IO[bytes]
    ) -> tuple[Transcript, Standing | None]:
        elsewhere = partial(Places(self._environ).elsewhere, beside=path)
        with opened(path) as file:
            read, standing = whole(file, path.stem, elsewhere, ref)
        # What is compressed is written anew when it grows.
        return read, None if packed(plain) else standing
