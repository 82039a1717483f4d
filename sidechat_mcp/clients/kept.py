"""A client of which we know how it keeps its conversations, and no more: found and read, with no
fork and no door of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import anyio
from anyio.to_thread import run_sync

from sidechat_mcp.ports.client import Call, Found, Hosted, Point, Transcript

PATIENCE = 0.5
"""Seconds that a call is waited for which the client writes down before it makes it."""
PAUSE = 0.05


class Keeping(Protocol):
    """How a client keeps its conversations. It only looks, and waits for nothing."""

    @property
    def name(self) -> str: ...

    def calling(self, call: Call) -> Found | None:
        """The conversation that this call surely comes from, by what is written now."""
        ...

    def awaited(self, call: Call) -> bool:
        """Whether what says so may still be on its way to the disk."""
        ...

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]: ...
    def find(self, ref: str, cwd: str | None) -> Found | None: ...

    def read(self, path: Path, ref: str | None) -> Transcript:
        """`ref` None: it is taken from the file. Raises: UnknownFormat, ParentNotFound."""
        ...


class Kept:
    def __init__(self, keeping: Keeping, patience: float = PATIENCE) -> None:
        self._keeping = keeping
        self._patience = patience

    @property
    def name(self) -> str:
        return self._keeping.name

    async def locate(self, call: Call) -> Found | None:
        found = await run_sync(self._keeping.calling, call)
        if found is not None or not self._keeping.awaited(call):
            return found
        with anyio.move_on_after(self._patience):
            while found is None:
                await anyio.sleep(PAUSE)
                found = await run_sync(self._keeping.calling, call)
        return found

    async def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        return await run_sync(self._keeping.newest, cwd, limit)

    async def find(self, ref: str, cwd: str | None) -> Found | None:
        return await run_sync(self._keeping.find, ref, cwd)

    async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
        return await run_sync(self._keeping.read, found.path, found.ref)

    async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
        return await run_sync(self._keeping.read, path, None)

    def hosted(self, point: Point) -> Hosted | None:
        return None

    async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
        return None
