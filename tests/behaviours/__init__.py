"""What this product must do, as a list. Every id has a test and every test that carries an id
has a line here: `test_behaviours.py` holds the two together.

A room's behaviours are declared in a module of this folder, in a dict named `BEHAVIOURS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Behaviour:
    """`source` says who demands it: `law 6`, `contract: key`, `issue: bar 6`, `case SC-071`, a
    specification's section, or `decision 0001`. `says` is one sentence."""

    source: str
    says: str


TESTED: dict[str, list[str]] = {}
"""Behaviour id → names of the tests that carry it, filled as test modules are imported."""


def behaviour(*ids: str) -> Callable[[F], F]:
    """Marks a test as showing these behaviours."""

    def mark(test: F) -> F:
        for id in ids:
            TESTED.setdefault(id, []).append(f"{test.__module__}.{test.__qualname__}")
        return test

    return mark
