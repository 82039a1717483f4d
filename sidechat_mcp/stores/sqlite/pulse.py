"""Noticing writes: our own at once, another process's by asking SQLite now and then, and only
while somebody waits. However many wait, one of them asks for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio

EVERY = 0.1
"""Seconds between two questions."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What one takes before looking, so that nothing written since can be missed."""

    beat: anyio.Event
    version: object


class Pulse:
    """`version` answers something that changes with every write to the database."""

    def __init__(self, version: Callable[[], object]) -> None:
        self._version = version
        self._beat = anyio.Event()
        self._asking = False
        self._heeded = False

    def now(self) -> Moment:
        self._heeded = True
        return Moment(self._beat, self._version())

    def beat(self) -> None:
        """Something may have been written: wake all who wait."""
        if not self._heeded:
            return
        self._heeded = False
        beat, self._beat = self._beat, anyio.Event()
        beat.set()

    async def after(self, moment: Moment) -> None:
        """Return once something may have been written after `moment`."""
        if self._asking:
            await moment.beat.wait()
            return
        self._asking = True
        try:
            while not moment.beat.is_set():
                with anyio.move_on_after(EVERY):
                    await moment.beat.wait()
                if self._version() != moment.version:
                    break
        finally:
            self._asking = False
            # Those who relied on us look for themselves; the first of them asks from now on.
            self.beat()
