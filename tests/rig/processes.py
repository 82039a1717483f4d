"""The processes of this rig's own namespace, as /proc tells of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Known:
    """A process that cannot be taken for a later one of the same number; `words` started it."""

    pid: int
    born: str
    words: str


def known(pid: int) -> Known | None:
    """None when it is gone, or ended and only waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return None
    return None if fields[0] in "ZX" else Known(pid, fields[19], words.decode("utf-8", "replace"))


def alive(one: Known) -> bool:
    now = known(one.pid)
    return now is not None and now.born == one.born


def everyone() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdecimal() and known(int(name))}


def children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):
                told = Path(f"/proc/{pid}/task/{task}/children").read_text()
                found += map(int, told.split())
    return found


def below(pid: int) -> list[Known]:
    """All that a process started, and what that started."""
    found: list[Known] = []
    for child in children(pid):
        one = known(child)
        found += [*([one] if one is not None else []), *below(child)]
    return found


def first_below(pid: int, words: Sequence[str]) -> Known | None:
    """The nearest one below whose command holds some of `words`."""
    level = children(pid)
    while level:
        for child in level:
            one = known(child)
            if one is not None and any(word in one.words for word in words):
                return one
        level = [grandchild for child in level for grandchild in children(child)]
    return None
