"""What keeps Codex's own fork read-only. Pure.

Three walls, each enough by itself for what it covers: a hook that denies every call there is,
trusted for this one process; a read-only sandbox without approvals; and approval for each MCP
tool, which nobody is there to give. Whatever is carried out all the same ends the fork."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.clients.lodging import GUARD
from sidechat_mcp.clients.values import mapping, sequence, word

REFUSAL = "This side conversation is read-only: no tool is carried out."
CARRIED_OUT = frozenset(
    {"commandExecution", "fileChange", "mcpToolCall", "dynamicToolCall", "collabAgentToolCall"}
)
"""Kinds of items that begin when a call is carried out."""
_DENIAL = {
    "hookEventName": "PreToolUse",
    "permissionDecision": "deny",
    "permissionDecisionReason": REFUSAL,
}
_COMMAND = f"printf '%s' '{json.dumps({'hookSpecificOutput': _DENIAL})}'"
_PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Trust:
    """Our hook as the client knows it, by the key and the digest that it gave it."""

    key: str
    digest: str
    trusted: bool


def switches(trust: Trust | None) -> Sequence[str]:
    """Switches of `app-server` that put the hook in. Only with `trust` is it carried out: a
    client runs no hook that nobody vouched for."""
    hook = f'[{{matcher=".*",hooks=[{{type="command",command={json.dumps(_COMMAND)}}}]}}]'
    given = ["-c", "features.hooks=true", "-c", f"hooks.PreToolUse={hook}"]
    if trust is not None:
        state = f"{{trusted_hash={json.dumps(trust.digest)},enabled=true}}"
        given += ["-c", f"hooks.state={{{json.dumps(trust.key)}={state}}}"]
    return given


def found(listed: Mapping[str, Any]) -> Trust | None:
    """Our hook in what `hooks/list` tells, or None where it is not in force at all."""
    for folder in sequence(listed.get("data")):
        for one in sequence(mapping(folder).get("hooks")):
            hook = mapping(one)
            key, digest = word(hook.get("key")), word(hook.get("currentHash"))
            ours = hook.get("command") == _COMMAND and hook.get("source") == "sessionFlags"
            if ours and key is not None and digest is not None and hook.get("enabled") is True:
                return Trust(key, digest, hook.get("trustStatus") == "trusted")
    return None


def servers(config: Mapping[str, Any]) -> dict[str, Any]:
    """For each configured MCP server what a fork changes of it: every call needs approval, and
    our own server is told that it runs inside a fork. Neither changes what the model sees."""
    changed: dict[str, Any] = {}
    for name, given in mapping(config.get("mcp_servers")).items():
        server = mapping(given)
        tools = {tool: {"approval_mode": _PROMPT} for tool in mapping(server.get("tools"))}
        changed[name] = {"default_tools_approval_mode": _PROMPT}
        if tools:
            changed[name]["tools"] = tools
        if _ours(name, server):
            changed[name]["env"] = {GUARD: "1"}
    return changed


def started(config: Mapping[str, Any]) -> frozenset[str]:
    """The MCP servers that a thread starts."""
    every = mapping(config.get("mcp_servers")).items()
    return frozenset(name for name, one in every if mapping(one).get("enabled") is not False)


def _ours(name: str, server: Mapping[str, Any]) -> bool:
    """Whether a server that is started as a program is ours, however it is called."""
    if "command" not in server:
        return False
    argv = [server.get("command"), *sequence(server.get("args"))]
    return any("sidechat" in str(part) for part in (name, *argv))
