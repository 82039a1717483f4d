"""What tells that a call comes from one client and not from another.

A client passes its own environment on to whatever it starts, other clients among them: what an
environment says of one client is only believed while nothing speaks for another one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from sidechat_mcp.clients.values import mapping, word
from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.ports.client import Call, Found

ENVIRONMENT: Mapping[str, Sequence[str]] = {
    "claude-code": ("CLAUDECODE",),
    "opencode": ("OPENCODE",),
    "pi": ("PI_CODING_AGENT",),
    "gemini": ("GEMINI_CLI",),
    "qwen": ("QWEN_CODE_SESSION_ID",),
    "copilot": ("COPILOT_AGENT_SESSION_ID",),
    "cline": ("CLINE_BUILD_ENV", "CLINE_CONNECTOR_CLI_LAUNCH"),
}
META: Mapping[str, str] = {
    "claudecode/toolUseId": "claude-code",
    "threadId": "codex",
    "vscode.conversationId": "vscode",
    "agent-session-id": "goose",
}
CALLERS: Mapping[str, str] = {
    "claude-code": "claude-code",
    "codex-mcp-client": "codex",
    "copilot-cli": "copilot",
    "gemini-cli-mcp-client": "gemini",
    "opencode": "opencode",
    "pi": "pi",
}
"""What clients call themselves, where they say so with each request."""
_CALLER = "io.modelcontextprotocol/clientInfo"

Fit = Literal["whole", "name"]
Asked = ToolUse
"""A call that a transcript shows no result of."""


def alone(call: Call, client: str) -> bool:
    """Whether nothing in what is known of `call` speaks for another client than this one."""
    marked = {name for name, marks in ENVIRONMENT.items() if any(map(call.environment.get, marks))}
    marked |= {name for key, name in META.items() if key in call.meta}
    says = word(mapping(call.meta.get(_CALLER)).get("name"))
    if says is not None:
        marked.add(CALLERS.get(says, says))
    return marked <= {client}


def fit(asked: ToolUse, call: Call) -> Fit | None:
    """How a call that a transcript waits for fits the one we got: by its tool's name, which a
    client puts its server's before, with the same arguments or with others; or it is another
    tool's (which calls those that are not listed) that names ours."""
    if call.tool is None:
        return None
    if re.search(rf"(?:^|[^A-Za-z0-9]){re.escape(call.tool)}$", asked.name):
        return "whole" if _arguments(asked) == dict(call.arguments) else "name"
    within = re.search(rf"(?:^|[^A-Za-z0-9]){re.escape(call.tool)}\b", asked.input)
    return "name" if within else None


def waiting(
    call: Call,
    named: Found,
    others: Sequence[Path],
    waits: Callable[[Path], Sequence[Asked]],
    at: Callable[[Path], Found | None],
) -> Found | None:
    """The conversation that waits for a tool's call: the `named` one before all `others`, and of
    these one only when no other fits as well. `waits` gives the calls that a file has open."""
    if _best(waits(named.path), call) is not None:
        return named
    fits: dict[Fit, list[Path]] = {"whole": [], "name": []}
    for path in others:
        how = _best(waits(path), call)
        if how is not None:
            fits[how].append(path)
    found = fits["whole"] or fits["name"]
    return at(found[0]) if len(found) == 1 else None


def _best(asked: Sequence[Asked], call: Call) -> Fit | None:
    fits = [fit(one, call) for one in asked]
    return "whole" if "whole" in fits else "name" if "name" in fits else None


def _arguments(asked: ToolUse) -> object:
    try:
        return json.loads(asked.input)
    except (ValueError, RecursionError):
        return None
