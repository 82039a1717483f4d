"""Codex's program: the one that started us, or the one on the path.

What the live client was started with shapes its requests (features, MCP servers), so a fork that
is to continue them is started with the same settings."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NAME = "codex"
ABOVE = 5
"""How many processes above us may be the client."""
_GIVEN = ("-c", "--config", "--enable", "--disable")
_OURS = ("hooks", "features.hooks", "sandbox", "approval", "mcp_servers.sidechat.env")
"""Settings of the live client that a fork does not take over: they are what the gate sets."""


@dataclass(frozen=True, slots=True)
class Program:
    environ: Mapping[str, str]

    def command(self) -> Sequence[str] | None:
        """The program and the settings that it was given, as switches of `app-server`."""
        for pid in _above():
            program = _executable(pid)
            if program is not None:
                return [program, *settings(_argv(pid))]
        found = on_path(self.environ)
        return [found] if found is not None else None


def on_path(environ: Mapping[str, str]) -> str | None:
    """The absolute path of the program that a person would start."""
    found = shutil.which(NAME, path=environ.get("PATH"))
    return os.path.abspath(found) if found is not None else None


def _above() -> Iterator[int]:
    pid = os.getppid()
    for _ in range(ABOVE):
        if pid <= 1:
            return
        yield pid
        try:
            status = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
            pid = int(status.rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return


def _executable(pid: int) -> str | None:
    try:
        found = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None
    return found if os.path.basename(found) == NAME and os.access(found, os.X_OK) else None


def _argv(pid: int) -> Sequence[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")[:-1]
    except OSError:
        return ()


def settings(argv: Sequence[str]) -> Iterator[str]:
    """The settings among the switches of a running client, each as a switch and its value."""
    for place, given in enumerate(argv):
        name, equals, value = given.partition("=")
        if name not in _GIVEN or (not equals and place + 1 == len(argv)):
            continue
        value = value if equals else argv[place + 1]
        if not value.startswith(_OURS):
            yield from (name, value)
