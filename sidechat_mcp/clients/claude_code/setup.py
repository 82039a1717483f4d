"""How our server gets into Claude Code: by the client's own commands. Nothing is run here.

The hook that brings waiting notes before the live model comes as a plugin, which the client
installs and removes itself; its files lie in our own folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SERVER = "sidechat"
"""The name our server has in the client; its tools are then called `mcp__sidechat__…`."""
HOOK_VERSION = "1.0.0"
"""Of the plugin's own contents, which change more rarely than we do."""
NOTES = "sidechat-notes"
"""The plugin that holds the hook."""
HOME = "SIDECHAT_HOME"
"""The one setting that is passed on, where it is set: all others can stand in that folder, and
an address of a database may hold a password, which no command line should show."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Commands as argument vectors: `do` adds the server for this person in every folder,
    `undo` takes it away again."""

    do: Sequence[str]
    undo: Sequence[str]


@dataclass(frozen=True, slots=True)
class Hook:
    """What installs the hook: `files` (path → text) to be written first, then the commands of
    `do` in order; `undo` are those that take it away."""

    files: Mapping[Path, str]
    do: Sequence[Sequence[str]]
    undo: Sequence[Sequence[str]]


def plan(client: str, python: str, environ: Mapping[str, str]) -> Plan:
    """The client's own commands. `client` and `python` are the absolute paths to run."""
    settings = ["--env", f"{HOME}={os.path.abspath(environ[HOME])}"] if environ.get(HOME) else []
    scope = ["--scope", "user"]
    server = [python, "-m", "sidechat_mcp", "serve"]
    return Plan(
        [client, "mcp", "add", *settings, *scope, SERVER, "--", *server],
        [client, "mcp", "remove", *scope, SERVER],
    )


def hook(client: str, home: Path) -> Hook:
    """A plugin with one `UserPromptSubmit` hook that asks our server for waiting notes. `home` is
    our own folder; the plugin's files are put below it."""
    root = home / "plugins" / "claude-code"
    entry = {
        "type": "mcp_tool",
        "server": SERVER,
        "tool": "pending_notes",
        "input": {"session_id": "${session_id}", "prompt": "${prompt}"},
        "timeout": 10,
    }
    plugin = {
        "name": NOTES,
        "version": HOOK_VERSION,
        "description": "Shows notes of your side conversations to the model with your next prompt.",
        "author": {"name": "sidechat"},
    }
    market = {
        "name": SERVER,
        "owner": {"name": "sidechat"},
        "plugins": [{"name": NOTES, "source": f"./{NOTES}"}],
    }
    files = {
        root / ".claude-plugin" / "marketplace.json": market,
        root / NOTES / ".claude-plugin" / "plugin.json": plugin,
        root / NOTES / "hooks" / "hooks.json": {
            "hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}
        },
    }
    named = f"{NOTES}@{SERVER}"
    return Hook(
        {path: json.dumps(held, indent=2) + "\n" for path, held in files.items()},
        [
            [client, "plugin", "marketplace", "add", str(root)],
            [client, "plugin", "install", named],
        ],
        [
            [client, "plugin", "uninstall", named],
            [client, "plugin", "marketplace", "remove", SERVER],
        ],
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
