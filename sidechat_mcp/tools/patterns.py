"""Which paths a shell pattern means. Matching takes no longer than pattern times path, whatever
a model writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

MOST_ALTERNATIVES = 64
_BRACES = re.compile(r"\{([^{}]*)\}")


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a path (components joined by `/`) fits `pattern`: without a slash it is compared
    with the name, at any depth, else with the whole path. `**` stands for any folders or none,
    `{a,b}` for either. Raises ValueError, in words for the model."""
    found = [_parts(one) for one in _alternatives(pattern)]
    return lambda path: any(_fits(path.split("/"), parts) for parts in found)


def _parts(pattern: str) -> Sequence[str]:
    if "/" not in pattern:
        return "**", pattern
    return [part for part in pattern.split("/") if part != "."]


def _alternatives(pattern: str) -> Sequence[str]:
    waiting, found = [pattern], list[str]()
    while waiting:
        one = waiting.pop()
        if len(waiting) + len(found) >= MOST_ALTERNATIVES:
            raise ValueError(f"{pattern} has more than {MOST_ALTERNATIVES} alternatives.")
        waiting.extend(_opened(one))
        if not _BRACES.search(one):
            found.append(one)
    return found


def _opened(pattern: str) -> Iterator[str]:
    """`pattern` with its first innermost braces replaced by each of their alternatives."""
    braces = _BRACES.search(pattern)
    if braces is not None:
        for choice in braces[1].split(","):
            yield pattern[: braces.start()] + choice + pattern[braces.end() :]


def _fits(path: Sequence[str], pattern: Sequence[str]) -> bool:
    reached = {0}
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(path) + 1)) if reached else reached
        else:
            reached = {n + 1 for n in reached if n < len(path) and fnmatchcase(path[n], part)}
    return len(path) in reached
