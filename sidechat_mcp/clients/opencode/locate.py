"""Which conversation is calling us. opencode sends no id, but it writes a call down, as running,
before it carries it out: the one session of our folder that runs our tool with our arguments."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.opencode.database import Database, Session, consult
from sidechat_mcp.clients.opencode.places import Places, found, spellings
from sidechat_mcp.clients.opencode.records import parsed
from sidechat_mcp.clients.values import instant, mapping, word
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.ports.client import Call, Found

INSIDE = ("OPENCODE", "OPENCODE_PID")
"""What opencode sets for the servers it starts."""
SESSIONS = 50
"""How many of the folder's sessions are looked into, the ones written last first."""
MESSAGES = 10
"""How many of a session's newest messages a running call is looked for in."""
ANCESTORS = 20
"""How deep agents may start agents."""
BEFORE = 60_000
"""Milliseconds before our own first look that we may have begun, where that is not known."""


def _lately() -> int:
    return time.time_ns() // 1_000_000 - BEFORE


@dataclass(frozen=True, slots=True)
class Search:
    """`since` is when we began, in milliseconds since 1970: a call that runs since an earlier
    time was left behind by a client that died."""

    places: Places
    since: int = field(default_factory=_lately)

    def inside(self, call: Call) -> bool:
        """Whether a client of this kind can have made the call."""
        return call.tool is not None and any(name in call.environment for name in INSIDE)

    def calling(self, call: Call) -> Found | None:
        """The conversation that runs exactly this call now; None where none does, or two do."""
        every: dict[tuple[Path, str], Found] = {}
        for path in self.places.databases():
            try:
                for one in consult(path, lambda database: list(self._running(database, call))):
                    every[path, one.id] = found(one, path, iter(()))
            except SidechatError:
                continue
        return next(iter(every.values())) if len(every) == 1 else None

    def _running(self, database: Database, call: Call) -> Iterator[Session]:
        """Whose calls these are: of an agent's session, the conversation that started it."""
        for session in database.working(spellings(call.cwd), SESSIONS):
            if self._runs(database, session, call) and (root := _root(database, session)):
                yield root

    def _runs(self, database: Database, session: Session, call: Call) -> bool:
        tally = Tally()
        for row in database.rows(session.id, MESSAGES):
            message = parsed(row.text, "message", tally) or {}
            if message.get("role") != "assistant":
                continue
            if mapping(message.get("time")).get("completed") is not None:
                continue
            parts = (parsed(text, "part", tally) or {} for _, text in row.parts)
            if any(self._is(part, call) for part in parts):
                return True
        return False

    def _is(self, part: Mapping[str, Any], call: Call) -> bool:
        state = mapping(part.get("state"))
        begun = instant(mapping(state.get("time")).get("start"), 0)
        return (
            part.get("type") == "tool"
            and state.get("status") == "running"
            and begun >= self.since
            and _named(word(part.get("tool")), call.tool)
            and state.get("input", {}) == dict(call.arguments)
        )


def _named(tool: str | None, wanted: str | None) -> bool:
    """opencode puts a server's name, which the person chose, before a tool's own."""
    if tool is None or wanted is None:
        return False
    return tool == wanted or tool.endswith(f"_{wanted}")


def _root(database: Database, session: Session) -> Session | None:
    for _ in range(ANCESTORS):
        if session.parent is None:
            return session
        above = database.session(session.parent)
        if above is None:
            return None
        session = above
    return None
