"""How our server gets into Codex: by the client's own commands. Nothing is run here.

The hook that brings waiting notes before the live model comes as a plugin, which the client
installs and removes itself; its files lie in our own folder. Codex runs a hook only once the
person has said in it (`/hooks`) that they trust it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from sidechat_mcp.clients.claude_code.setup import (
    HOME,
    HOOK_VERSION,
    NOTES,
    SERVER,
    Hook,
    Plan,
)
from sidechat_mcp.clients.codex.program import on_path

PASSED_ON = (HOME, "CODEX_HOME")
"""Settings that are passed on, where they are set: Codex hands its servers nothing else."""
HOOK = {
    "type": "mcp_tool",
    "server": SERVER,
    "tool": "pending_notes",
    "input": {"session_id": "${session_id}", "prompt": "${prompt}"},
    "timeout": 10,
}
"""The hook's own definition, as it stands under `hooks.UserPromptSubmit`."""


def plan(client: str, python: str, environ: Mapping[str, str]) -> Plan:
    """The client's own commands. `client` and `python` are the absolute paths to run."""
    given = [f"{name}={os.path.abspath(environ[name])}" for name in PASSED_ON if environ.get(name)]
    settings = [word for one in given for word in ("--env", one)]
    server = [python, "-m", "sidechat_mcp", "serve"]
    return Plan(
        [client, "mcp", "add", SERVER, *settings, "--", *server],
        [client, "mcp", "remove", SERVER],
    )


def hook(client: str, home: Path) -> Hook:
    """A plugin with one `UserPromptSubmit` hook that asks our server for waiting notes. `home` is
    our own folder; the plugin's files are put below it."""
    root = home / "plugins" / "codex"
    plugin = {
        "name": NOTES,
        "version": HOOK_VERSION,
        "description": "Shows notes of your side conversations to the model with your next prompt.",
    }
    source = {"source": "local", "path": f"./{NOTES}"}
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    market = {
        "name": SERVER,
        "interface": {"displayName": SERVER},
        "plugins": [
            {"name": NOTES, "source": source, "policy": policy, "category": "Productivity"}
        ],
    }
    files = {
        root / ".agents" / "plugins" / "marketplace.json": market,
        root / NOTES / ".codex-plugin" / "plugin.json": plugin,
        root / NOTES / "hooks" / "hooks.json": {"hooks": {"UserPromptSubmit": [{"hooks": [HOOK]}]}},
    }
    named = f"{NOTES}@{SERVER}"
    return Hook(
        {path: json.dumps(held, indent=2) + "\n" for path, held in files.items()},
        [[client, "plugin", "marketplace", "add", str(root)], [client, "plugin", "add", named]],
        [
            [client, "plugin", "remove", named],
            [client, "plugin", "marketplace", "remove", SERVER],
        ],
    )


def executable(environ: Mapping[str, str]) -> str | None:
    """The absolute path of the client's program."""
    return on_path(environ)
