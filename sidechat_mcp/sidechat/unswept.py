"""Making many objects at once without the cyclic collector looking through them over and over.

A long conversation is a million objects that hold no cycles; looking for some in them takes
longer than making them. What does become a cycle meanwhile is collected afterwards."""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class _Held:
    """How many are inside, and whether collections were on before the first one came."""

    inside: int = 0
    were_on: bool = True


_held = _Held()
_lock = threading.Lock()


@contextmanager
def unswept() -> Generator[None]:
    """No automatic collection in this process until the last one who is inside has left."""
    with _lock:
        if _held.inside == 0:
            _held.were_on = gc.isenabled()
            gc.disable()
        _held.inside += 1
    try:
        yield
    finally:
        with _lock:
            _held.inside -= 1
            if _held.inside == 0 and _held.were_on:
                gc.enable()
