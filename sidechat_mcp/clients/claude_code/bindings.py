"""Claude Code's reading tools, as far as our workspace tools can stand in for them.

Arguments that only lay an answer out, or narrow it, are passed over: it then has more in it than
was asked for. Lines around a match are left to Read. What would make an answer wrong is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sidechat_mcp.ports.tool import Arguments, Binding

_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
_MEANS_MORE = re.compile(r"[.^$*+?{}\[\]|()\\]")


def plain(pattern: str) -> str:
    """The text that a regular expression stands for, where it stands for one text and no other.
    Raises ValueError."""
    if _MEANS_MORE.search(_ESCAPED.sub("", pattern)):
        raise ValueError(
            f"Grep finds plain text here, and {pattern} is a regular expression. Search for some"
            r" words of it, or write \ before each sign that stands for itself."
        )
    found = _ESCAPED.sub(r"\1", pattern)
    if "\n" in found:
        raise ValueError("Grep finds text within one line here.")
    return found


def _read(given: Arguments) -> Arguments:
    ours: dict[str, Any] = {"path": _text(given, "file_path")}
    if given.get("offset") is not None:
        ours["from_line"] = given["offset"] or 1
    if given.get("limit") is not None:
        ours["lines"] = given["limit"]
    return ours


def _grep(given: Arguments) -> Arguments:
    ours = {"text": plain(_text(given, "pattern")), **_place(given)}
    return {**ours, "pattern": _text(given, "glob")} if given.get("glob") else ours


def _glob(given: Arguments) -> Arguments:
    return {"pattern": _text(given, "pattern"), **_place(given)}


def _list(given: Arguments) -> Arguments:
    return _place(given)


def _place(given: Arguments) -> dict[str, Any]:
    return {"path": _text(given, "path")} if given.get("path") else {}


def _text(given: Arguments, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"Give `{name}` as text.")
    return value


def _object(required: str, **kinds: str) -> Mapping[str, Any]:
    properties = {name: {"type": kind} for name, kind in kinds.items()}
    return {"type": "object", "properties": properties, "required": required.split()}


BINDINGS: Sequence[Binding] = (
    Binding(
        "Read",
        "read_file",
        "Reads a text file of the session's folder, or `limit` lines of it from line `offset` on.",
        _object("file_path", file_path="string", offset="integer", limit="integer"),
        _read,
    ),
    Binding(
        "Grep",
        "search_text",
        "Finds lines that contain a plain text; regular expressions are refused.",
        _object("pattern", pattern="string", path="string", glob="string"),
        _grep,
    ),
    Binding(
        "Glob",
        "find_files",
        "Finds files by a shell pattern such as src/**/*.py.",
        _object("pattern", pattern="string", path="string"),
        _glob,
    ),
    Binding("LS", "list_folder", "Lists a folder.", _object("", path="string"), _list),
)
