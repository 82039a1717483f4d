"""An answer's text as it arrives, told to a client that asked for progress.

Told at most ten times a second, and never waited for: a client that reads slowly hears less, and
the answer is not held up by it. What was told is always a beginning of the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from anyio.lowlevel import checkpoint

from sidechat_mcp.harness.loop import Emit
from sidechat_mcp.surfaces.mcp.errors import Context
from sidechat_mcp.surfaces.mcp.words import sound

R = TypeVar("R")
PAUSE = 0.1
"""Seconds between two notifications."""


class _Teller:
    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._waiting: list[str] = []
        self._heard = anyio.Event()
        self._told = 0
        self._over = False

    async def emit(self, text: str) -> None:
        if not self._over:
            self._waiting.append(text)
            self._heard.set()
        await checkpoint()

    async def run(self) -> None:
        """Tell until cancelled. A client that cannot be told is told no more; its answer, which
        comes another way, is not lost for that."""
        try:
            await self._tell()
        except Exception:
            self._over = True
            self._waiting.clear()

    async def _tell(self) -> None:
        while True:
            await self._heard.wait()
            self._heard = anyio.Event()
            text = "".join(self._waiting)
            self._waiting.clear()
            self._told += len(text)
            await self._ctx.session.report_progress(self._told, message=sound(text))
            await anyio.sleep(PAUSE)


async def telling(ctx: Context, work: Callable[[Emit], Awaitable[R]]) -> R:
    """Do `work` and meanwhile tell the client what it emits."""
    outcome: list[R] = []
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        teller = _Teller(ctx)
        tasks.start_soon(teller.run)
        try:
            outcome.append(await work(teller.emit))
        except Exception as error:
            # Kept apart, so that it does not come out wrapped in a group.
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return outcome[0]
