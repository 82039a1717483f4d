"""Which session is calling us. pi says nothing of itself to a server, but it writes a call down
before it makes it: the session whose last answer asks for this very call, still without a result,
is the one. Where two fit, none is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sidechat_mcp.clients.pi.places import Places, at, same
from sidechat_mcp.clients.values import compact, instant, mapping, sequence, word
from sidechat_mcp.ports.client import Call, Found

SESSION, FILE = "PI_SESSION_ID", "PI_SESSION_FILE"
"""What pi tells the commands that it runs for its model; servers are told nothing."""
TAIL = 2 * 1024 * 1024
"""Bytes at the end of a file that a pending call is looked for in."""
NEAR = 20
"""How many of a folder's newest sessions are looked into."""
SLACK = 1000
"""Milliseconds by which two readings of one clock may differ."""

Fit = Literal["whole", "name"]


@dataclass(frozen=True, slots=True)
class Search:
    """`since`, where it is known, is when our process began, in milliseconds since 1970: what was
    asked before is not asked of us."""

    places: Places
    call: Call
    since: int | None = None

    @property
    def within(self) -> bool:
        """Whether a pi started us, or something that was started by one."""
        environ = self.call.environment
        return environ.get("PI_CODING_AGENT") == "true" or environ.get("AI_AGENT") == "pi"

    def told(self) -> Found | None:
        """The session that pi told a command of its model about."""
        environ = self.call.environment
        ref, file = environ.get(SESSION), environ.get(FILE)
        found = at(Path(file)) if ref and file else None
        return found if found is not None and found.ref == ref else None

    def asking(self) -> Found | None:
        """The one session of our folder that waits for this call of a tool."""
        fits: dict[Fit, list[Path]] = {"whole": [], "name": []}
        for path in self.places.newest_files(self.call.cwd, NEAR):
            fit = self._fit(path)
            if fit is not None:
                fits[fit].append(path)
        found = [at(path) for path in fits["whole"] or fits["name"]]
        ours = [one for one in found if one is not None and same(one.cwd, self.call.cwd)]
        return ours[0] if len(ours) == 1 else None

    def _fit(self, path: Path) -> Fit | None:
        try:
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - TAIL))
                asked, written = pending(file.read(TAIL))
        except OSError:
            return None
        if self.since is not None and written < self.since - SLACK:
            return None
        fits = [fit(one, self.call) for one in asked]
        return "whole" if "whole" in fits else "name" if "name" in fits else None


def pending(tail: bytes) -> tuple[Sequence[Mapping[str, Any]], int]:
    """The calls that the end of a session asks for and has no result of, and when they were
    written (0 without any)."""
    answered: set[str] = set()
    for line in reversed(tail.split(b"\n")):
        entry = _entry(line)
        message = mapping(entry.get("message"))
        match message.get("role") if entry.get("type") == "message" else None:
            case "toolResult":
                answered.add(str(message.get("toolCallId")))
            case "assistant" if message.get("stopReason") in ("aborted", "error"):
                break  # Its calls were never made.
            case "assistant":
                calls = [mapping(one) for one in sequence(message.get("content"))]
                asked = [one for one in calls if one.get("type") == "toolCall"]
                left = [one for one in asked if str(one.get("id")) not in answered]
                return left, instant(entry.get("timestamp"), 0)
            case "user":
                break
            case _:
                pass
    return (), 0


def fit(asked: Mapping[str, Any], call: Call) -> Fit | None:
    """How a call that is waited for fits the one we got: its tool is `mcp__SERVER__TOOL` and its
    arguments are ours, or it is another tool's (a script's) that names ours."""
    name, tool = word(asked.get("name")), call.tool
    if name is None or tool is None:
        return None
    named = re.compile(rf"(?:^|_){re.escape(tool)}$")
    if named.search(name):
        return "whole" if asked.get("arguments") == dict(call.arguments) else "name"
    within = re.search(rf"_{re.escape(tool)}\b", compact(asked.get("arguments", {})))
    return "whole" if within else None


def _entry(line: bytes) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(line))
    except (ValueError, RecursionError):
        return {}
