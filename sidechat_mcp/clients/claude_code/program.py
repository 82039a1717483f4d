"""Claude Code's program: the one that runs a conversation now, or the one on the path.

What the live parent was started with shapes its requests (model, MCP servers, folders), so a
fork that is to continue them is started with the same."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.claude_code.places import Places
from sidechat_mcp.clients.lodging import fields

NAME = "claude"
INTERACTIVE = "cli"
TAIL = 256 * 1024
"""Bytes at the end of a transcript in which is looked for how its client was started."""
_ENTRYPOINT = re.compile(rb'"entrypoint":"([a-z-]{1,32})"')
_DISPLAY = re.compile(rb'"thinking":\{"type":"[a-z]{1,16}","display":"([a-z]{1,16})"')
_REQUEST = b'"type":"api-request",'
_WITH_VALUE = frozenset({"--model", "--mcp-config", "--add-dir", "--agents", "--plugin-dir"})
_ALONE = frozenset({"--strict-mcp-config"})


@dataclass(frozen=True, slots=True)
class Started:
    """How to start a fork: the command so far, the parent's entry point (`cli` is the interactive
    one), on which its system prompt and its tools depend, and how its last request had thinking
    shown, where that was said and noted (it depends on how a headless one prints)."""

    command: Sequence[str]
    entrypoint: str
    display: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    environ: Mapping[str, str]

    def there(self, ref: str) -> bool:
        """Whether `started` will find one; nearly always known at once."""
        return self._on_path() is not None or self._pid(ref) is not None

    def started(self, ref: str) -> Started | None:
        """The program, and the live parent's own switches that a fork must repeat; None where
        there is no program."""
        entrypoint, display = self._noted(ref)
        pid = self._pid(ref)
        if pid is not None:
            argv = _argv(pid)
            program = _executable(pid)
            if argv and program is not None:
                return Started([program, *_switches(argv)], entrypoint, display)
        found = self._on_path()
        return Started([found], entrypoint, display) if found is not None else None

    def _on_path(self) -> str | None:
        return shutil.which(NAME, path=self.environ.get("PATH", ""))

    def _noted(self, ref: str) -> tuple[str, str | None]:
        """Entry point and display of thinking, as the conversation's latest records say."""
        found = Places(self.environ).find(ref, None)
        if found is None:
            return INTERACTIVE, None
        with found.path.open("rb") as file:
            file.seek(max(0, found.path.stat().st_size - TAIL))
            tail = file.read()
        said = _ENTRYPOINT.findall(tail)
        requests = [line for line in tail.splitlines() if _REQUEST in line[:64]]
        shown = _DISPLAY.search(requests[-1]) if requests else None
        entrypoint = said[-1].decode() if said else INTERACTIVE
        return entrypoint, shown[1].decode() if shown is not None else None

    def _pid(self, ref: str) -> int | None:
        """The process that runs the conversation `ref` now, as the client registers it."""
        folder = Places(self.environ).home / "sessions"
        for file in sorted(folder.glob("*.json")) if folder.is_dir() else []:
            known = _json(file)
            pid = known.get("pid")
            if known.get("sessionId") == ref and isinstance(pid, int) and _runs(pid):
                return pid
        return None


def _json(file: Path) -> dict[str, Any]:
    try:
        return fields(json.loads(file.read_text("utf-8")))
    except (OSError, ValueError):
        return {}


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _argv(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")[:-1]
    except OSError:
        return []


def _executable(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def _switches(argv: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(argv):
        name, equals, _ = word.partition("=")
        if word in _ALONE or (equals and name in _WITH_VALUE):
            yield word
        elif word in _WITH_VALUE and place + 1 < len(argv):
            yield word
            yield argv[place + 1]
