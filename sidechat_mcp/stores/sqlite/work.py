"""A write between the caller who waits for it and the thread that carries it out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

import anyio

from sidechat_mcp.stores.sqlite.writes import Transaction

T = TypeVar("T")


class Work(Generic[T]):
    """Made in the event loop; `done` is set there too, after `value` or `error`."""

    __slots__ = ("_claimed", "done", "error", "run", "value")

    def __init__(self, run: Callable[[Transaction], T]) -> None:
        self.run = run
        self.done = anyio.Event()
        self.value: T | None = None
        self.error: Exception | None = None
        self._claimed = threading.Lock()

    def claim(self) -> bool:
        """True once: for the writer that carries it out, or for the caller who gives it up."""
        return self._claimed.acquire(blocking=False)

    async def settled(self) -> bool:
        """Whether it was carried out; it will not be after False. Waits for one under way."""
        if not self.done.is_set():
            if self.claim():
                return False
            with anyio.CancelScope(shield=True):
                await self.done.wait()
        return True

    def result(self) -> T:
        if self.error is not None:
            raise self.error
        return cast("T", self.value)
