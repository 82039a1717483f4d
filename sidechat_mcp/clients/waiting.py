"""The forks of a client that wait for a next question: the last few that were talked with. What is
put out of the way is ended cleanly; its session's next turn starts another one, which is told again
what was said (`briefing`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import anyio

from sidechat_mcp.ports.client import Point

MOST = 4
"""Forks of one client that wait at once: each is a program with the person's servers below it."""


class Waiter(Protocol):
    """A fork at work."""

    @property
    def runs(self) -> bool:
        """Whether its process is still there."""
        ...

    async def leave(self) -> None:
        """Let it end by itself if it does so soon, and take away what was made for it."""
        ...

    async def gone(self) -> None:
        """End it, if it has not ended, and take away what was made for it."""
        ...

    def end(self) -> None:
        """The same at once; `gone` then waits until nothing of it is left."""
        ...


W = TypeVar("W", bound=Waiter)


@dataclass(slots=True)
class Waiting(Generic[W]):
    """One for all forks of a client, whatever their points: a session belongs to one point."""

    most: int = MOST
    _kept: dict[tuple[Point, str], W] = field(default_factory=dict[tuple[Point, str], W])
    _ended: list[tuple[Point, W]] = field(default_factory=list[tuple[Point, W]])

    async def take(self, point: Point, session: str) -> W | None:
        """The one that waits for `session`, now its caller's; None when there is none that runs."""
        found = self._kept.pop((point, session), None)
        if found is None or found.runs:
            return found
        await found.gone()
        return None

    async def keep(self, point: Point, session: str, fork: W) -> None:
        """Let `fork` wait for the next turn of `session`. Of two that answered one session at once
        the later one is kept, and of too many the ones that were talked with last."""
        former = self._kept.pop((point, session), None)
        self._kept[point, session] = fork
        over = [former] if former is not None else []
        while len(self._kept) > self.most:
            over.append(self._kept.pop(next(iter(self._kept))))
        with anyio.CancelScope(shield=True):  # Nobody else knows them any more.
            for one in over:
                await one.leave()

    def close(self, point: Point) -> None:
        """End all that wait at `point`, at once."""
        for place in [place for place in self._kept if place[0] == point]:
            fork = self._kept.pop(place)
            fork.end()
            self._ended.append((point, fork))

    async def gone(self, point: Point) -> None:
        """Wait until nothing is left of what `close` ended."""
        for one in [one for one in self._ended if one[0] == point]:
            self._ended.remove(one)
            await one[1].gone()
