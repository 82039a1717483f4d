"""How our server gets into opencode: by the client's own command. Nothing is run here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients.opencode.program import PROGRAM

SERVER = "sidechat"
"""The name our server has in the client; its tools are then called `sidechat_…`."""
HOME = "SIDECHAT_HOME"
"""The one setting that is passed on, where it is set: all others can stand in that folder."""
BY_HAND = (
    f"Delete `{SERVER}` from `mcp` in opencode's opencode.jsonc (or opencode.json); it lies in"
    " ~/.config/opencode."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The command, as an argument vector, that adds the server for this person in every folder.
    opencode has none that takes one away, so `undo` is empty."""

    do: Sequence[str]
    undo: Sequence[str] = ()


def plan(client: str, python: str, environ: Mapping[str, str]) -> Plan:
    """The client's own command. `client` and `python` are the absolute paths to run."""
    settings = ["--env", f"{HOME}={os.path.abspath(environ[HOME])}"] if environ.get(HOME) else []
    server = [python, "-m", "sidechat_mcp", "serve"]
    return Plan([client, "mcp", "add", SERVER, *settings, "--", *server])


def executable(environ: Mapping[str, str]) -> str | None:
    """The absolute path of the client's program, on the path or where its installer puts it."""
    found = shutil.which(PROGRAM, path=environ.get("PATH"))
    if found is not None:
        return os.path.abspath(found)
    place = Path(environ.get("HOME") or Path.home()) / ".opencode" / "bin" / PROGRAM
    return str(place) if place.is_file() and os.access(place, os.X_OK) else None
