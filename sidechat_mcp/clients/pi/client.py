"""pi as a client: finds its sessions and reads them; never writes to its files."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from sidechat_mcp.clients.bookmarks import Bookmarks
from sidechat_mcp.clients.pi.drafting import NAME
from sidechat_mcp.clients.pi.hosted import Fork, Running
from sidechat_mcp.clients.pi.locate import Search
from sidechat_mcp.clients.pi.places import Places
from sidechat_mcp.clients.pi.program import program
from sidechat_mcp.clients.pi.transcript import Standing, since, whole
from sidechat_mcp.clients.waiting import Waiting
from sidechat_mcp.ports.client import Call, Found, Hosted, Point, Transcript

PATIENCE = 0.5
"""Seconds that a call is waited for which pi should have written down before it made it."""
PAUSE = 0.05


class Pi:
    """`environ` says where pi keeps its files (`PI_CODING_AGENT_DIR`, `HOME`); `since` is when
    our process began, in milliseconds since 1970, where that can be known."""

    def __init__(
        self, environ: Mapping[str, str], *, since: int | None = None, patience: float = PATIENCE
    ) -> None:
        self._environ = environ
        self._since = since
        self._patience = patience
        self._waiting = Waiting[Running]()
        self._marks = Bookmarks[Standing]()

    @property
    def name(self) -> str:
        return NAME

    async def locate(self, call: Call) -> Found | None:
        """A tool's call: the session that waits for it. Anything else: the session that pi told
        the command of which we are a part."""
        search = Search(Places({**self._environ, **call.environment}), call, self._since)
        if not search.within:
            return None
        if call.tool is None:
            return await run_sync(search.told)
        with anyio.move_on_after(self._patience):
            while True:
                found = await run_sync(search.asking)
                if found is not None:
                    return found
                await anyio.sleep(PAUSE)
        return None

    async def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        return await run_sync(Places(self._environ).newest, cwd, limit)

    async def find(self, ref: str, cwd: str | None) -> Found | None:
        return await run_sync(Places(self._environ).find, ref, cwd)

    async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
        return await run_sync(self._read, found.path, found.ref, since_last)

    async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
        return await run_sync(self._read, path, None, since_last)

    def _read(self, path: Path, ref: str | None, since_last: bool) -> Transcript:
        told = partial(whole, name=path.stem, ref=ref)
        return self._marks.read(path, since_last, since, told)

    def hosted(self, point: Point) -> Hosted | None:
        started = program(self._environ)
        if started is None:
            return None
        return Fork(point, started, self._environ, self._waiting)

    async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
        return None  # A running pi has no door of its own; `setup pi --hook` adds an extension.


def began() -> int | None:
    """When this process began, in milliseconds since 1970, where the system tells."""
    try:
        ticks = int(Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()[19])
        since_boot = ticks / os.sysconf("SC_CLK_TCK")
        return int((time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + since_boot) * 1000)
    except (OSError, ValueError, IndexError, AttributeError):
        return None
