"""When a request may be sent again. A provider's word on it is kept, by all who use the key."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime

import anyio


@dataclass(frozen=True, slots=True)
class Pace:
    """At most `attempts`, waiting `first` seconds, then twice as long, never over `longest`, and
    each time up to half as long again at random, so that those who failed together do not
    return together. `deadline` is for all attempts up to the first byte of an answer."""

    attempts: int = 4
    first: float = 0.5
    longest: float = 30.0
    deadline: float = 600.0
    spread: float = 0.5
    chance: Callable[[], float] = random.random

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds until the attempt after number `attempt` (from 1); never less than `asked`."""
        own = min(self.first * 2 ** (attempt - 1), self.longest)
        return max(own, asked or 0.0) * (1 + self.spread * self.chance())


@dataclass(slots=True)
class Turnstile:
    """Shared by all requests under one key: closed until the time that the provider named."""

    _opens: float = 0.0

    def close(self, seconds: float) -> None:
        self._opens = max(self._opens, time.monotonic() + seconds)

    def remaining(self) -> float:
        """Seconds that it is still closed."""
        return max(0.0, self._opens - time.monotonic())

    async def pass_through(self, pace: Pace) -> None:
        """Wait until it is open, and a little longer: not all at the same instant."""
        if (left := self.remaining()) > 0:
            await anyio.sleep(left * (1 + pace.spread * pace.chance()))
            await self.pass_through(pace)  # It may have been closed again meanwhile.


@dataclass(slots=True)
class Turnstiles:
    """One for each key at each host, for as long as the process lives."""

    _known: dict[tuple[str, str], Turnstile] = field(
        default_factory=dict[tuple[str, str], Turnstile]
    )

    def at(self, origin: str, key: str) -> Turnstile:
        return self._known.setdefault((origin, key), Turnstile())


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` (seconds or a date) or `retry-after-ms` asks for."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if (seconds := _number(given)) is not None:
        return seconds
    try:
        date = parsedate_to_datetime(given or "")
        return max(0.0, date.replace(tzinfo=date.tzinfo or UTC).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 10**7 else None
