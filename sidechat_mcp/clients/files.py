"""The files that a client keeps conversations in: which there are, and one read whole.

Everything here only looks; lists are made from names and times, and heads are read of few."""

from __future__ import annotations

import heapq
import io
import json
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.jsonl import Shape, Tally, objects
from sidechat_mcp.clients.values import mapping, sequence
from sidechat_mcp.core.content import Content, plain
from sidechat_mcp.errors import ParentNotFound, UnknownFormat
from sidechat_mcp.ports.client import Found, Skipped

TITLE = 80
"""Code points of a title."""
LARGEST = 128 * 1024 * 1024
"""Bytes of the largest document that is read whole."""
DIGITS = 4000
THEN = "Name another one, or the file itself where it lies elsewhere (`--file`)."

_REF = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?")
_TAGGED = re.compile(r"<(\w[\w-]*)[^<>]*>|</\w[\w-]*>")


def is_ref(ref: str) -> bool:
    """Whether `ref` has the form of an id that can be (a part of) a file's name."""
    return _REF.fullmatch(ref) is not None


def dated(folders: Iterable[Path], endings: Sequence[str]) -> Iterator[tuple[int, Path]]:
    """The files of `folders` whose names end so, each with when it was last written."""
    for folder in folders:
        for entry in entries(folder):
            when = active(Path(entry.path)) if entry.name.endswith(tuple(endings)) else None
            if when is not None:
                yield when, Path(entry.path)


def newest(
    files: Iterable[tuple[int, Path]],
    look: Callable[[Path, int], Found | None],
    limit: int,
) -> Sequence[Found]:
    """The conversations written last, newest first; `look` is had at those files alone."""
    heap = [(-when, str(path)) for when, path in files]
    heapq.heapify(heap)
    found: list[Found] = []
    while heap and len(found) < limit:
        when, path = heapq.heappop(heap)
        one = look(Path(path), -when)
        if one is not None:
            found.append(one)
    return found


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """What stands in a folder, by name; nothing when it cannot be read."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda one: one.name)
    except OSError:
        return []


def folders(folder: Path) -> list[Path]:
    return [Path(one.path) for one in entries(folder) if one.is_dir()]


def active(path: Path) -> int | None:
    """When a file was last written, in milliseconds since 1970; None when there is none."""
    try:
        return path.stat().st_mtime_ns // 1_000_000 if path.is_file() else None
    except (OSError, ValueError):
        return None


def same(recorded: str | None, cwd: str) -> bool:
    """Whether the folder `recorded` is `cwd`, however the two are spelled."""
    if recorded is None:
        return False
    if unicodedata.normalize("NFC", recorded) == unicodedata.normalize("NFC", cwd):
        return True
    return os.path.realpath(recorded) == os.path.realpath(cwd)


def spellings(cwd: str) -> Sequence[str]:
    """The paths that a client may have called `cwd` by."""
    return list(dict.fromkeys((cwd.rstrip("/\\") or cwd, os.path.realpath(cwd))))


def title(content: Content) -> str | None:
    """The first words of a message, on one line, without the tags that clients put around."""
    words = " ".join(_TAGGED.sub(" ", plain(content)[: TITLE * 50]).split())
    return words[:TITLE].rstrip() or None


def home(environ: Mapping[str, str]) -> Path:
    named = environ.get("HOME") or environ.get("USERPROFILE")
    return Path(named) if named else Path.home()


def peek(path: Path, size: int) -> bytes:
    """The beginning of a file; nothing when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def ending(path: Path, size: int) -> bytes:
    """The end of a file; nothing when it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read(size)
    except OSError:
        return b""


def whole(path: Path) -> bytes:
    """All of a file. Raises: ParentNotFound, UnknownFormat (too large)."""
    try:
        with path.open("rb") as file:
            found = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if len(found) > LARGEST:
        raise UnknownFormat(
            f"{path.name} is larger than {LARGEST // 2**20} MB, too large to be read at once.",
            then="Name another conversation.",
        )
    return found


def unreadable(path: Path, error: Exception) -> ParentNotFound:
    why = getattr(error, "strerror", None) or str(error)
    return ParentNotFound(f"The conversation in {path.name} cannot be read: {why}.", then=THEN)


def alien(what: str, why: str) -> UnknownFormat:
    """The refusal of a file that is no conversation of `what`, or one of an unknown version."""
    return UnknownFormat(
        f"This is no conversation of {what} that this version can read: {why}.",
        then="Upgrade sidechat-mcp, or name another conversation.",
    )


def document(text: bytes) -> Any:
    """The JSON value in `text`, or None. Numbers that JSON cannot spell are text."""
    spelled = text.decode("utf-8", "replace").lstrip("\ufeff")
    for integer in (None, _int):  # Python reads no integer of more than 4,300 digits.
        try:
            return json.loads(
                spelled, parse_float=_finite, parse_constant=_nothing, parse_int=integer
            )
        except json.JSONDecodeError:
            return None
        except ValueError:
            continue
        except RecursionError:
            return None
    return None


def items(
    text: bytes, member: str | None, shape: Shape, tally: Tally
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A document and the objects in the list that is its `member` (None: that it is). Of one
    that is broken, or being written at this moment, the whole objects of that `shape`; of a
    file with an object a line, which is no document, nothing."""
    found = document(text)
    listed = sequence(found if member is None else mapping(found).get(member))
    if found is None and not isinstance(document(text.partition(b"\n")[0]), dict):
        line = text.replace(b"\n", b" ").replace(b"\r", b" ")
        listed = [*objects(io.BytesIO(line), shape, tally)]
    kept = [mapping(one) for one in listed if isinstance(one, dict)]
    if len(kept) < len(listed):
        tally.unreadable["not an object"] += len(listed) - len(kept)
    return mapping(found), kept


def skipped(tally: Tally) -> Skipped:
    """What was left out, for the report."""
    named = {f"unknown record {kind!r}": times for kind, times in tally.unknown.items()}
    return Skipped(dict(tally.unreadable), {**tally.ignored, **named})


def _finite(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number


def _int(number: str) -> int | str:
    return int(number) if len(number) < DIGITS else number


def _nothing(_: str) -> None:
    return None
