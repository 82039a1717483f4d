"""How much is measured: all of it, or what fits into a minute and a half."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    quick: bool = False

    def times(self, full: int) -> int:
        """How often, given how often in the full run; never so few that a median means little."""
        return max(9, full // 2) if self.quick else full

    @property
    def forks(self) -> int:
        """How many forks a file's growth is measured over."""
        return 500 if self.quick else 2_000

    @property
    def rounds(self) -> int:
        """Of what is itself many measurements."""
        return 3 if self.quick else 5

    @property
    def bounded(self) -> int:
        """Sessions of 250 turns that are read through a small cache."""
        return 12 if self.quick else 24
