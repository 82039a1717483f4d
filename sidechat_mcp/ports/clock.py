"""Time and randomness, handed in so that everything below them can be replayed."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...

    def word(self) -> str:
        """A new random word of 26 characters `[a-z2-7]`, 128 bits."""
        ...
