"""The tree of small JSON files in which opencode kept its conversations before its database:
`session/PROJECT/SESSION.json`, `message/SESSION/*.json`, `part/MESSAGE/*.json`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.opencode.database import LONGEST, Session
from sidechat_mcp.clients.opencode.records import Row
from sidechat_mcp.clients.values import instant, mapping, word

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


@dataclass(frozen=True, slots=True)
class Tree:
    """`root` is the folder that holds the other three."""

    root: Path

    def session(self, id: str) -> Session | None:
        """The session `id`, with its own file or without."""
        if _ID.fullmatch(id) is None or not _is_folder(self.root / "message" / id):
            return None
        written = _written(self.root / "message" / id)
        for file in self.root.glob(f"session/*/{id}.json"):
            return _session(id, _object(file), max(written, _written(file)))
        return Session(id, updated=written)

    def sessions(self) -> Sequence[Session]:
        """Every conversation that has messages, newest first."""
        names = (file.name for file in _files(self.root / "message"))
        found = [one for name in names if (one := self.session(name)) is not None]
        return sorted(found, key=lambda one: (-one.updated, one.id))

    def rows(self, id: str) -> Iterator[Row]:
        """All messages of a conversation in the client's own order."""
        dated: list[tuple[int, str, Path]] = []
        for file in _files(self.root / "message" / id):
            if file.suffix == ".json":
                created = mapping(_object(file).get("time")).get("created")
                dated.append((instant(created, 0), file.stem, file))
        for at, message, file in sorted(dated):
            yield Row(message, at, _text(file), self._parts(message))

    def _parts(self, message: str) -> Sequence[tuple[str, bytes | None]]:
        if _ID.fullmatch(message) is None:
            return ()
        files = _files(self.root / "part" / message)
        return [(file.stem, _text(file)) for file in files if file.suffix == ".json"]


def rooted(path: Path) -> tuple[Tree, str | None] | None:
    """The tree that a path names, and the conversation when it names one: the tree's root, or a
    conversation's folder of messages."""
    if _is_folder(path / "message"):
        return Tree(path), None
    if path.parent.name == "message" and _is_folder(path):
        return Tree(path.parent.parent), path.name
    return None


def _session(id: str, found: dict[str, Any], updated: int) -> Session:
    revert = found.get("revert")
    return Session(
        id,
        word(found.get("parentID")),
        word(found.get("directory")),
        word(found.get("title")),
        word(found.get("version")),
        json.dumps(revert) if revert is not None else None,
        updated,
    )


def _object(file: Path) -> dict[str, Any]:
    try:
        return mapping(json.loads(_text(file) or b"{}"))
    except (ValueError, RecursionError):
        return {}


def _text(file: Path) -> bytes | None:
    """A file's bytes; None for one that is too long, or gone."""
    try:
        return file.read_bytes() if file.stat().st_size <= LONGEST else None
    except OSError:
        return None


def _files(folder: Path) -> Sequence[Path]:
    try:
        return sorted(Path(entry.path) for entry in os.scandir(folder))
    except (OSError, ValueError):
        return []


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except (OSError, ValueError):
        return 0


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
