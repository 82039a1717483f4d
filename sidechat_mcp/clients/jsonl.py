"""Bytes of a file with a JSON object a line → those objects, one at a time, in bounded memory.

A line ends at byte 0x0A and nowhere else. What cannot be read is counted, never raised."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

from pydantic_core import from_json

LONGEST = 32 * 1024 * 1024
"""Bytes of the longest line that is read."""

_EFFORT = 4
"""How often the text of a broken line is gone through, at most, to find whole records in it."""
_ATTEMPT = 20
_DIGITS = 4000


class Source(Protocol):
    """What a binary file is to this reader."""

    def readline(self, size: int, /) -> bytes: ...


class Upto:
    """The next so many bytes of a source."""

    def __init__(self, source: Source, left: int) -> None:
        self._source = source
        self._left = left

    def readline(self, size: int, /) -> bytes:
        line = self._source.readline(min(size, self._left)) if self._left > 0 else b""
        self._left -= len(line)
        return line


@dataclass(frozen=True, slots=True)
class Shape:
    """How a record of a format looks: what its text begins with, and members that each has."""

    start: re.Pattern[str]
    members: Set[str]


@dataclass(slots=True)
class Tally:
    """What was left out so far, by reason, and how many lines were read or understood. `line` is
    the one that the latest object stood in, `end` the byte after it in its file; a last line that
    is still being written has none. `objects` counts what was given."""

    unreadable: Counter[str] = field(default_factory=Counter[str])
    ignored: Counter[str] = field(default_factory=Counter[str])
    unknown: Counter[str] = field(default_factory=Counter[str])
    lines: int = 0
    understood: int = 0
    line: bytes = b""
    end: int = 0
    objects: int = 0

    @property
    def seen(self) -> Seen:
        return Seen(self.end, dict(self.unreadable))


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a file was read: up to the byte `end`, of which `unreadable` could not be."""

    end: int
    unreadable: Mapping[str, int]


R = TypeVar("R")


def once_more(
    source: Source, seen: Seen, tally: Tally, each: Callable[[Source], Iterable[R]]
) -> Iterator[R]:
    """What `each` finds in `source`, which stands at `tally.end`. What could not be read up to
    where it was `seen` is counted already, and not twice."""
    yield from each(Upto(source, seen.end - tally.end))
    tally.unreadable = Counter(seen.unreadable)
    yield from each(source)


def readable(
    source: Source, shape: Shape, tally: Tally, read: Callable[[dict[str, Any]], R | None]
) -> Iterator[R]:
    """What `read` makes of the objects of `source`, in their order; what it cannot, because it is
    nested too deeply, is counted."""
    for one in objects(source, shape, tally):
        try:
            found = read(one)
        except RecursionError:
            tally.unreadable["nested too deeply"] += 1
        else:
            if found is not None:
                yield found


def objects(source: Source, shape: Shape, tally: Tally) -> Iterator[dict[str, Any]]:
    """The JSON objects of `source` in their order."""
    for line in _lines(source, tally):
        if line.isspace():
            tally.end += len(line)
            continue
        tally.lines += 1
        tally.line = line
        tally.end += len(line)
        for value in _parsed(line, shape, tally):
            if isinstance(value, dict):
                tally.objects += 1
                yield cast("dict[str, Any]", value)
            else:
                tally.unreadable["not an object"] += 1


def _lines(source: Source, tally: Tally) -> Iterator[bytes]:
    while line := source.readline(LONGEST + 1):
        if len(line) <= LONGEST or line.endswith(b"\n"):
            yield line
            continue
        tally.lines += 1
        tally.unreadable["line too long"] += 1
        tally.end += len(line)
        while rest := source.readline(LONGEST):
            tally.end += len(rest)
            if rest.endswith(b"\n"):
                break


def _finite(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number


def _int(number: str) -> int | str:
    return int(number) if len(number) < _DIGITS else number


def _nothing(_: str) -> None:
    return None


# NaN and Infinity are no JSON: whatever passes on what is read here could not be written again.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_nothing)
_WIDE = json.JSONDecoder(parse_float=_finite, parse_constant=_nothing, parse_int=_int)


def _parsed(line: bytes, shape: Shape, tally: Tally) -> list[Any]:
    try:
        return [from_json(line, allow_inf_nan=False)]
    except ValueError:
        return _lenient(line, shape, tally)


def _lenient(line: bytes, shape: Shape, tally: Tally) -> list[Any]:
    """What the quick reader refuses: damage, and what JSON or Python allow beyond it."""
    text = line.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    try:
        found = [_decoded(text)]
    except RecursionError:
        tally.unreadable["nested too deeply"] += 1
        return []
    except ValueError:
        return _recovered(text, line.endswith(b"\n"), shape, tally)
    if "\ufffd" in text and not _is_utf8(line):
        tally.unreadable["not UTF-8, shown as U+FFFD"] += 1
    return found


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python reads no integer of more than 4,300 digits.
        return _WIDE.decode(text)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _recovered(text: str, ended: bool, shape: Shape, tally: Tally) -> list[Any]:
    """The whole records of a line that is no JSON: one that was cut off by a crash has the next
    one glued to it, without a newline between them."""
    found: list[Any] = []
    torn, at, left = False, 0, _EFFORT * len(text)
    for start in shape.start.finditer(text):
        if start.start() < at:
            continue
        left -= _ATTEMPT
        if left < 0:
            break
        try:
            value, end = _WIDE.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            left -= error.pos - start.start()
            continue
        except RecursionError:
            left -= len(text)
            continue
        if isinstance(value, dict) and shape.members <= cast("dict[str, Any]", value).keys():
            torn = torn or bool(text[at : start.start()].strip())
            found.append(value)
            at = end
    if not found and not ended:
        tally.ignored["unfinished last line"] += 1
        tally.lines -= 1
        tally.end -= len(tally.line)
    elif not found:
        tally.unreadable["not JSON"] += 1
    elif torn or text[at:].strip():
        tally.unreadable["torn record"] += 1
    return found
