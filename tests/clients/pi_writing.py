"""Session files as pi writes them, in a few words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

START = 1_796_000_000_000
"""When the first entry of every session is written, in milliseconds since 1970."""
TOOL = {"name": "read", "description": "Read a file.", "parameters": {"type": "object"}}


@dataclass
class Session:
    """A session that grows entry by entry; `tip` is what the next entry hangs on."""

    ref: str = "s-1"
    cwd: str = "/srv/ferry"
    version: int | None = 3
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tip: str | None = None
    calls: int = 0

    def __post_init__(self) -> None:
        header: dict[str, Any] = {"type": "session", "id": self.ref, "timestamp": _iso(0)}
        version = {} if self.version is None else {"version": self.version}
        self.lines.append({**header, **version, "cwd": self.cwd})

    @property
    def bytes(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)

    @property
    def moments(self) -> list[bytes]:
        """The file after each entry."""
        lines = self.bytes.splitlines(keepends=True)
        return [b"".join(lines[: stop + 1]) for stop in range(len(lines))]

    def entry(self, type: str, **more: Any) -> str:
        """Append an entry and stand on it; its id."""
        number = len(self.lines)
        id = more.pop("id", f"{number:08x}")
        places = {} if self.version is None else {"id": id, "parentId": self.tip}
        self.lines.append({"type": type, **places, "timestamp": _iso(number), **more})
        self.tip = id
        return id

    def message(self, role: str, **more: Any) -> str:
        return self.entry("message", message={"role": role, **more})

    def system(self, **more: Any) -> str:
        return self.message("system", **{"content": "", **more})

    def user(self, words: str) -> str:
        return self.message("user", content=[{"type": "text", "text": words}])

    def answer(self, words: str, stop: str = "stop", *calls: dict[str, Any], **more: Any) -> str:
        said: list[dict[str, Any]] = [{"type": "text", "text": words}] if words else []
        usage = {"input": 10, "output": 5, "cacheRead": 4, "cacheWrite": 0}
        about = {"model": "m-1", "usage": usage, "stopReason": stop, **more}
        return self.message("assistant", content=[*said, *calls], **about)

    def call(self, name: str = "read", **arguments: Any) -> dict[str, Any]:
        self.calls += 1
        id = f"call_{self.calls}"
        return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}

    def result(self, call: dict[str, Any], words: str = "42", error: bool = False) -> str:
        about = {"toolCallId": call["id"], "toolName": call["name"], "isError": error}
        return self.message("toolResult", content=[{"type": "text", "text": words}], **about)

    def turn(self, asked: str, answered: str = "Fine.") -> str:
        self.user(asked)
        return self.answer(answered)

    def working(self, asked: str, tool: str = "read", **arguments: Any) -> dict[str, Any]:
        """A turn that waits for the result of a call."""
        self.user(asked)
        call = self.call(tool, **arguments)
        self.answer("I look.", "toolUse", call)
        return call


def _iso(number: int) -> str:
    moment = datetime.fromtimestamp((START + number * 1000) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def talk(ref: str = "s-1", cwd: str = "/srv/ferry") -> Session:
    """Two whole turns, one with a call."""
    session = Session(ref, cwd)
    session.entry("model_change", provider="stub", modelId="m-1")
    session.system(sections={"preamble": "You are pi."}, toolsAdded=[TOOL])
    session.result(session.working("Where is the ferry?", path="a.txt"))
    session.answer("In the port.")
    session.turn("When does it leave?", "At 14:00 UTC.")
    return session
