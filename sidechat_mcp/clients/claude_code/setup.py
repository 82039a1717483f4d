"""How our server gets into Claude Code: by the client's own command. Nothing is run here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SERVER = "sidechat"
"""The name our server has in the client; its tools are then called `mcp__sidechat__…`."""
HOME = "SIDECHAT_HOME"
"""The one setting that is passed on, where it is set: all others can stand in that folder, and
an address of a database may hold a password, which no command line should show."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Commands as argument vectors: `do` adds the server for this person in every folder,
    `undo` takes it away again."""

    do: Sequence[str]
    undo: Sequence[str]


def plan(client: str, python: str, environ: Mapping[str, str]) -> Plan:
    """The client's own commands. `client` and `python` are the absolute paths to run."""
    settings = ["--env", f"{HOME}={os.path.abspath(environ[HOME])}"] if environ.get(HOME) else []
    scope = ["--scope", "user"]
    server = [python, "-m", "sidechat_mcp", "serve"]
    return Plan(
        [client, "mcp", "add", *settings, *scope, SERVER, "--", *server],
        [client, "mcp", "remove", *scope, SERVER],
    )


def executable(environ: Mapping[str, str]) -> str | None:
    """The absolute path of the client's program, on the path or where its installers put it."""
    found = shutil.which("claude", path=environ.get("PATH"))
    if found is not None:
        return os.path.abspath(found)
    home = Path(environ.get("HOME") or Path.home())
    for place in (home / ".local" / "bin" / "claude", home / ".claude" / "local" / "claude"):
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    return None
