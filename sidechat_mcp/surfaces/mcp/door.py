"""The way to the feature: opened once, at first need, so that a start costs nothing.

It is opened and closed by one task of its own, because what it opens may own tasks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from sidechat_mcp.errors import OutsideError
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp.errors import unexpected

Open = Callable[[], AbstractAsyncContextManager[Sidechat]]


@dataclass(slots=True)
class _Attempt:
    """One try at opening, that any number of callers wait for."""

    done: anyio.Event = field(default_factory=anyio.Event)
    error: Exception | None = None


class Door:
    def __init__(self, open: Open) -> None:
        self._open = open
        self._service: Sidechat | None = None
        self._attempt: _Attempt | None = None
        self._wanted = anyio.Event()
        self._closing = anyio.Event()
        self._leaving = False

    async def __call__(self) -> Sidechat:
        """The feature, opened if it is not yet. A failed opening fails for those who waited for
        it; the next call tries again.

        Raises: whatever opening raises; OutsideError once the process is leaving."""
        if self._service is not None:
            return self._service
        if self._closing.is_set():
            raise OutsideError("The server is shutting down.", retryable=True)
        if self._attempt is None:
            self._attempt = _Attempt()
            self._wanted.set()
        attempt = self._attempt
        await attempt.done.wait()
        if attempt.error is not None:
            raise attempt.error
        return await self()

    @property
    def is_open(self) -> bool:
        return self._service is not None

    def leave(self) -> None:
        """The process is about to end: turns that are cut from now on are `interrupted`."""
        self._leaving = True
        if self._service is not None:
            self._service.leave()

    def close(self) -> None:
        """Let `run` close what was opened, and end."""
        self._closing.set()
        self._wanted.set()

    async def run(self) -> None:
        """Open when somebody asks, and close when told to."""
        while not self._closing.is_set():
            await self._wanted.wait()
            self._wanted = anyio.Event()
            attempt = self._attempt
            if attempt is None:
                continue
            try:
                await self._hold(attempt)
            except Exception as error:
                if attempt.done.is_set():
                    unexpected(error)  # It failed while closing; those who waited are served.
                attempt.error = error
            finally:
                self._service = self._attempt = None
                attempt.done.set()

    async def _hold(self, attempt: _Attempt) -> None:
        async with self._open() as service:
            self._service = service
            if self._leaving:
                service.leave()
            attempt.done.set()
            await self._closing.wait()


@asynccontextmanager
async def opening(open: Open) -> AsyncGenerator[Door]:
    """A door, whose feature is closed when the context ends."""
    async with anyio.create_task_group() as tasks:
        door = Door(open)
        tasks.start_soon(door.run)
        try:
            yield door
        finally:
            door.close()
