"""Which conversation is calling us: only what is sure, in the order of the contract."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.claude_code.blocks import mapping, outcomes, sequence, word
from sidechat_mcp.clients.claude_code.places import Places, newest_files, subagents
from sidechat_mcp.ports.client import Call

TOOL_USE = "claudecode/toolUseId"
SESSION = "CLAUDE_CODE_SESSION_ID"
PROJECT = "CLAUDE_PROJECT_DIR"
ANCESTORS = 5
"""How far up a wrapper process may stand between the client and us."""
TAIL = 2 * 1024 * 1024
"""Bytes at the end of a file that a pending call is looked for in."""
NEAR, FAR = 8, 20
"""How many of the newest files are looked into: of the folder, then of all folders."""

_ENTRY = 64 * 1024


@dataclass(slots=True)
class Search:
    """One call's search, repeated while files may still be written; a file that did not change
    is read once."""

    places: Places
    call: Call
    looked: dict[Path, tuple[tuple[int, int], bool]] = field(
        default_factory=dict[Path, tuple[tuple[int, int], bool]]
    )

    @property
    def tool_use(self) -> str | None:
        """The client's own id of this call."""
        found = word(self.call.meta.get(TOOL_USE))
        return found if found is not None and len(found) <= 200 else None

    def registered(self) -> str | None:
        """The session that the nearest ancestor's registry entry names."""
        for pid in self.call.ancestors[:ANCESTORS]:
            entry = _entry(self.places.home / "sessions" / f"{pid}.json")
            named = word(entry.get("sessionId"))
            if named is not None and entry.get("pid", pid) == pid:
                return named
        return None

    def file(self, ref: str | None) -> Path | None:
        """The file of a session, once it exists."""
        found = self.places.find(ref, self.call.cwd) if ref else None
        return found.path if found is not None else None

    def waiting(self, tool_use: str) -> Path | None:
        """The one conversation in which `tool_use` is asked for and unanswered."""
        for files in self._files():
            found = {whose for file, whose in files if self._pending(file, tool_use)}
            if found:
                return found.pop() if len(found) == 1 else None
        return None

    def _files(self) -> Iterable[Sequence[tuple[Path, Path]]]:
        """What to look into, likely places first: a file, and whose conversation it is."""
        environ = self.places.environ
        named = (self.file(self.registered()), self.file(environ.get(SESSION)))
        files = [file for file in dict.fromkeys(named) if file is not None]
        yield [(file, file) for file in files]
        yield [(agent, file) for file in files for agent in subagents(file, NEAR)]
        folders: list[Path] = []
        for cwd in dict.fromkeys((self.call.cwd, environ.get(PROJECT))):
            folders += self.places.folders(cwd) if cwd else ()
        yield [(file, file) for file in newest_files(dict.fromkeys(folders), NEAR)]
        yield [(file, file) for file in newest_files(self.places.all_folders(), FAR)]

    def _pending(self, file: Path, tool_use: str) -> bool:
        try:
            status = file.stat()
            state = (status.st_mtime_ns, status.st_size)
            known = self.looked.get(file)
            if known is None or known[0] != state:
                known = (state, pending(_tail(file, status.st_size), tool_use))
                self.looked[file] = known
        except OSError:
            return False
        return known[1]


def pending(tail: bytes, tool_use: str) -> bool:
    """Whether the end of a transcript asks for the call `tool_use` and does not answer it."""
    wanted = tool_use.encode("utf-8", "surrogatepass")
    if wanted not in tail:
        return False
    asked = False
    for line in tail.split(b"\n"):
        if wanted not in line:
            continue
        try:
            record = mapping(json.loads(line)) or {}
        except (ValueError, RecursionError):
            continue
        blocks = (mapping(record.get("message")) or {}).get("content")
        if any(one.call == tool_use for one in outcomes(blocks)):
            return False
        asked = asked or any(
            (mapping(one) or {}).get("type") == "tool_use"
            and (mapping(one) or {}).get("id") == tool_use
            for one in sequence(blocks)
        )
    return asked


def _tail(file: Path, size: int) -> bytes:
    with file.open("rb") as open_file:
        open_file.seek(max(0, size - TAIL), os.SEEK_SET)
        return open_file.read(TAIL)


def _entry(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            return mapping(json.loads(file.read(_ENTRY))) or {}
    except (OSError, ValueError, RecursionError):
        return {}
