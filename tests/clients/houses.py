"""A made-up home of a person who works with Claude Code."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients.claude_code.client import ClaudeCode
from sidechat_mcp.clients.claude_code.places import key
from sidechat_mcp.ports.client import Call
from tests.clients.scribe import Scribe

FIXTURES = Path(__file__).parent.parent / "fixtures" / "claude"
FORK = "mcp__sidechat__fork"


@dataclass
class Home:
    """`config` is the client's folder; `written` the seconds at which the next file was."""

    root: Path
    written: float = 1_796_000_000.0

    @property
    def config(self) -> Path:
        return self.root / "home" / ".claude"

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.root / "home")}

    def client(self, patience: float = 0.2, **environ: str) -> ClaudeCode:
        return ClaudeCode({**self.environ, **environ}, patience)

    def folder(self, name: str) -> str:
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    def put(self, cwd: str, ref: str, text: bytes) -> Path:
        """A conversation's file; each is written a minute after the one before."""
        project = key(os.path.realpath(cwd))
        project = project if len(project) <= 200 else f"{project[:200]}-1x2y3z"
        path = self.config / "projects" / project / f"{ref}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        self.written += 60
        os.utime(path, (self.written, self.written))
        return path

    def register(self, pid: int, session: str, *, says: int | None = None) -> None:
        """The entry of a running client; `says` is the pid inside, where it is another one."""
        path = self.config / "sessions" / f"{pid}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"pid": says or pid, "sessionId": session, "status": "busy"}))


def talk(session: str, cwd: str, *words: str) -> Scribe:
    """A conversation of one turn for each of `words`."""
    scribe = Scribe(session, cwd)
    for said in words or ("Hello there, general question.",):
        scribe.prompt(said)
        scribe.says(f"An answer to: {said}")
        scribe.over()
    return scribe


def calling(scribe: Scribe) -> str:
    """Adds an open turn that calls our `fork`; the id of the call."""
    scribe.prompt("Fork this, please.")
    return scribe.calls((FORK, {}))[0]


def call(cwd: str, tool_use: str | None = None, *ancestors: int, **environ: str) -> Call:
    meta = {"claudecode/toolUseId": tool_use} if tool_use is not None else {}
    return Call(meta, environ, ancestors, cwd)
