"""Looking into a session's folder: read a file or lines of it, list, glob, search text.

Nothing here writes. Every answer is bounded in size and time and says when it was cut."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import anyio.to_thread

from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Header
from sidechat_mcp.ports.tool import Outcome
from sidechat_mcp.tools import confined
from sidechat_mcp.tools.confined import Refused
from sidechat_mcp.tools.patterns import matcher

MOST_BYTES = 256 * 1024
"""Of a file, in one answer."""
MOST_LINES = 2000
MOST_ENTRIES = 500
MOST_WALKED = 50_000
MOST_MATCHES = 200
SECONDS = 3.0
"""After which a walk ends with what it has."""
LONG_FILE = 4 * 1024 * 1024
"""Larger files are not searched."""

Arguments = Mapping[str, Any]
_PATH = {"type": "string", "description": "Below the session's folder, e.g. src/app.py"}


@dataclass(frozen=True, slots=True)
class Looking:
    """One read-only tool: a function of the folder and the arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]
    look: Callable[[str, Arguments], str]

    @property
    def read_only(self) -> bool:
        return True

    async def run(self, input: str, session: Header) -> Outcome:
        if session.cwd is None:
            return _wrong("This session has no folder to look into.")
        try:
            given = json.loads(input or "{}")
        except (ValueError, RecursionError):
            return _wrong("The arguments are no JSON object.")
        if not isinstance(given, dict):
            return _wrong("The arguments are no JSON object.")
        try:
            words = await anyio.to_thread.run_sync(self.look, session.cwd, cast(Arguments, given))
        except Refused as refusal:
            return _wrong(str(refusal))
        except OSError as error:
            return _wrong(f"That cannot be read: {error.strerror}.")
        # A file's name need not be text; what cannot be told is spelled out.
        return Outcome(text(words.encode("utf-8", "backslashreplace").decode()))


def read_file(root: str, given: Arguments) -> str:
    path = _text(given, "path")
    first = _number(given, "from_line", 1)
    count = _number(given, "lines", MOST_LINES)
    found, size = confined.read(root, confined.parts(root, path), MOST_BYTES)
    if b"\0" in found[:8192]:
        raise Refused(f"{path} is a binary file ({size} bytes); it is not shown.")
    lines = found.decode("utf-8", "replace").split("\n")
    shown = lines[first - 1 : first - 1 + min(count, MOST_LINES)]
    if not shown:
        raise Refused(f"{path} has {len(lines)} lines; line {first} is beyond its end.")
    numbered = "\n".join(f"{first + n}\t{line}" for n, line in enumerate(shown))
    whole = size <= len(found) and first + len(shown) > len(lines)
    return numbered if whole else f"{numbered}\n[cut here; the file has {size} bytes]"


def list_folder(root: str, given: Arguments) -> str:
    components = confined.parts(root, str(given.get("path") or "."))
    with confined.folder(root, components) as held:
        found = confined.entries(held, "")
    lines = [f"{one.path}/" if one.is_folder else f"{one.path}\t{one.size}" for one in found]
    return _bounded(lines, MOST_ENTRIES) or "(empty)"


def find_files(root: str, given: Arguments) -> str:
    pattern = _text(given, "pattern")
    start = confined.parts(root, str(given.get("path") or "."))
    if not confined.is_folder(root, start):
        raise Refused(f"{'/'.join(start)} is a file, not a folder.")
    # What is below the start is compared without it, as a shell in that folder would.
    matches, skip = _matcher(root, pattern), sum(len(part) + 1 for part in start)
    walk = confined.Walk(root, start, MOST_WALKED, time.monotonic() + SECONDS)
    found = [one.path for one in walk if matches(one.path[skip:])]
    said = _bounded(sorted(found), MOST_ENTRIES) or f"No file matches {pattern}."
    return said + (_UNFINISHED if walk.cut else "")


def search_text(root: str, given: Arguments) -> str:
    wanted = _text(given, "text")
    matches = _matcher(root, str(given.get("pattern") or "*"))
    start = confined.parts(root, str(given.get("path") or "."))
    if not confined.is_folder(root, start):
        held, size = confined.read(root, start, LONG_FILE)
        return _found(_lines("/".join(start), held, wanted), wanted, 0, size > len(held))
    skip = sum(len(part) + 1 for part in start)
    walk = confined.Walk(root, start, MOST_WALKED, time.monotonic() + SECONDS)
    found, left_out = list[str](), 0
    for entry in walk:
        if not matches(entry.path[skip:]):
            continue
        if entry.size > LONG_FILE or confined.secret(entry.path.split("/")):
            left_out += 1
            continue
        found.extend(_lines(entry.path, _held(root, entry), wanted))
        if len(found) > MOST_MATCHES:
            walk.cut = True
            break
    return _found(found, wanted, left_out, walk.cut)


_UNFINISHED = "\n[not everything was looked at: name a folder or a narrower pattern]"


def _found(lines: list[str], wanted: str, left_out: int, cut: bool) -> str:
    said = "\n".join(lines[:MOST_MATCHES]) or f"{wanted!r} was not found."
    if left_out:
        said += f"\n[files left out as too long or usually holding credentials: {left_out}]"
    return said + (_UNFINISHED if cut else "")


def _held(root: str, entry: confined.Entry) -> bytes:
    try:
        return confined.read(root, entry.path.split("/"), LONG_FILE)[0]
    except (Refused, OSError):
        return b""  # It went away, or became a link, while we looked.


def _lines(name: str, held: bytes, wanted: str) -> list[str]:
    if b"\0" in held[:8192]:
        return []
    folded = wanted.casefold()
    return [
        f"{name}:{number}: {line.strip()[:300]}"
        for number, line in enumerate(held.decode("utf-8", "replace").split("\n"), 1)
        if folded in line.casefold()
    ][: MOST_MATCHES + 1]


def _matcher(root: str, pattern: str) -> Callable[[str], bool]:
    below = pattern.removeprefix(root.rstrip("/") + "/")
    if below.startswith("/"):
        raise Refused(f"{pattern} is outside this session's folder.")
    try:
        return matcher(below)
    except ValueError as error:
        raise Refused(str(error)) from None


def _text(given: Arguments, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(f"Give `{name}` as text.")
    return value


def _number(given: Arguments, name: str, default: int) -> int:
    value = given.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise Refused(f"`{name}` is a whole number from 1.")
    return value


def _bounded(lines: list[str], most: int) -> str:
    shown = "\n".join(lines[:most])
    return shown if len(lines) <= most else f"{shown}\n[cut after {most} of {len(lines)}]"


def _wrong(why: str) -> Outcome:
    return Outcome(text(why.encode("utf-8", "backslashreplace").decode()), is_error=True)


def _object(required: list[str], **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


WORKSPACE = (
    Looking(
        "read_file",
        "Read a text file of this session's folder, or some lines of it.",
        _object(
            ["path"],
            path=_PATH,
            from_line={"type": "integer", "minimum": 1},
            lines={"type": "integer", "minimum": 1, "maximum": MOST_LINES},
        ),
        read_file,
    ),
    Looking("list_folder", "List a folder.", _object([], path=_PATH), list_folder),
    Looking(
        "find_files",
        "Find files by a shell pattern such as *.py or src/**/test_*.py; .git, node_modules, .venv"
        " and caches are left out.",
        _object(["pattern"], pattern={"type": "string"}, path=_PATH),
        find_files,
    ),
    Looking(
        "search_text",
        "Find lines that contain a text (upper and lower case are alike); binary files, .git,"
        " node_modules, .venv and caches are left out.",
        _object(
            ["text"],
            text={"type": "string"},
            path=_PATH,
            pattern={"type": "string", "description": "Only in files that match, e.g. *.py"},
        ),
        search_text,
    ),
)
"""The workspace tools, in the order in which a header lists them."""
