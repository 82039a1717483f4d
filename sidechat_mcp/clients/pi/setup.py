"""How our server gets into pi: by pi's own commands. Nothing is run here.

pi shows a note to its live model only through an extension; `notes.ts` is one, which pi installs
and removes itself. It is there for those who ask for it: without it a note comes as the result of
the tool that merges it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from sidechat_mcp.clients.claude_code.setup import HOME, SERVER, Hook, Plan
from sidechat_mcp.clients.pi.program import program

NOTES = "notes.ts"


def plan(client: str, python: str, environ: Mapping[str, str]) -> Plan:
    """pi's own commands. `client` and `python` are the absolute paths to run. The tools are
    declared to the model: by default they would be there for its scripts alone."""
    settings = ["--env", f"{HOME}={os.path.abspath(environ[HOME])}"] if environ.get(HOME) else []
    return Plan(
        [client, "mcp", "add", SERVER, "--exposure", "direct", *settings, "--", *_served(python)],
        [client, "mcp", "remove", SERVER],
    )


def hook(client: str, home: Path) -> Hook:
    """An extension that asks a server of ours for waiting notes. `home` is our own folder; the
    extension lies below it."""
    path = home / "plugins" / "pi" / "sidechat.ts"
    text = Path(__file__).with_name(NOTES).read_text("utf-8")
    filled = {"@SERVER@": _served(sys.executable), "@ENVIRONMENT@": {HOME: str(home)}}
    for place, value in filled.items():
        text = text.replace(f'"{place}"', json.dumps(value))
    return Hook({path: text}, [[client, "install", str(path)]], [[client, "remove", str(path)]])


def executable(environ: Mapping[str, str]) -> str | None:
    """The absolute path of pi's program."""
    return program(environ)


def _served(python: str) -> list[str]:
    return [python, "-m", "sidechat_mcp", "serve"]
