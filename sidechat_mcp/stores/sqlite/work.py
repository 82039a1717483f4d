"""A write between the caller who waits for it and the thread that carries it out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

import anyio

from sidechat_mcp.stores.sqlite.writes import Transaction

T = TypeVar("T")


class Work(Generic[T]):
    """Made in the event loop; `done` is set there too, after `value` or `error` and after the
    writer's own `answer`, which one can stand and wait for."""

    __slots__ = ("_answered", "_claimed", "done", "error", "run", "value")

    def __init__(self, run: Callable[[Transaction], T]) -> None:
        self.run = run
        self.done = anyio.Event()
        self.value: T | None = None
        self.error: Exception | None = None
        self._claimed = threading.Lock()
        self._answered = threading.Lock()
        self._answered.acquire()

    def claim(self) -> bool:
        """True once: for the writer that carries it out, or for the caller who gives it up."""
        return self._claimed.acquire(blocking=False)

    def answer(self) -> None:
        """Called once, by the writer, when `value` or `error` is there."""
        self._answered.release()

    def answered(self, within: float = 0.0) -> bool:
        """Whether it is, waiting up to so many seconds for it without letting others run."""
        if not self._answered.acquire(timeout=within):
            return False
        self._answered.release()
        return True

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
