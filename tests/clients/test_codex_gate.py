"""What a fork of Codex's is held by, and what it takes over from the live client."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Sequence
from typing import Any

from sidechat_mcp.clients.codex import gate
from sidechat_mcp.clients.codex.gate import Trust
from sidechat_mcp.clients.codex.program import settings
from tests.behaviours import behaviour


def switched(given: Sequence[str]) -> dict[str, Any]:
    """What the switches `-c NAME=VALUE` set, by name."""
    pairs = [one.partition("=") for one in given[1::2]]
    assert given[::2] == ["-c"] * len(pairs)
    return {name: tomllib.loads(f"it = {value}")["it"] for name, _, value in pairs}


@behaviour("hosted:denied")
def test_the_hook_is_for_every_tool_and_says_deny() -> None:
    given = switched(gate.switches(Trust('a "key"', "sha256:1", True)))
    (entry,) = given["hooks.PreToolUse"]
    assert entry["matcher"] == ".*"
    (hook,) = entry["hooks"]
    shown = subprocess.run(hook["command"], shell=True, capture_output=True, text=True)
    decided = json.loads(shown.stdout)["hookSpecificOutput"]
    assert (decided["hookEventName"], decided["permissionDecision"]) == ("PreToolUse", "deny")
    assert given["hooks.state"] == {'a "key"': {"trusted_hash": "sha256:1", "enabled": True}}
    assert given["features.hooks"] is True
    assert "hooks.state" not in switched(gate.switches(None))


@behaviour("hosted:denied")
def test_only_our_own_hook_from_our_own_switches_is_vouched_for() -> None:
    command = switched(gate.switches(None))["hooks.PreToolUse"][0]["hooks"][0]["command"]
    ours = {"key": "k", "currentHash": "h", "source": "sessionFlags", "enabled": True}
    ours |= {"command": command, "trustStatus": "untrusted"}

    def found(**other: object) -> Trust | None:
        return gate.found({"data": [{"hooks": ["odd", {**ours, **other}]}]})

    assert found() == Trust("k", "h", False)
    assert found(trustStatus="trusted") == Trust("k", "h", True)
    assert found(command=f"{command}; rm -rf .") is None
    assert found(source="project") is None
    assert found(enabled=False) is None
    assert gate.found({"data": None}) is None


@behaviour("hosted:guard")
def test_every_mcp_tool_needs_leave_and_our_own_server_is_told_where_it_is() -> None:
    config: dict[str, Any] = {
        "mcp_servers": {
            "sidechat": {"command": "uvx", "args": ["it"]},
            "x": {"command": "python", "args": ["-m", "sidechat_mcp"], "tools": {"a": {}}},
            "far": {"url": "https://sidechat.example"},
            "odd": 7,
        }
    }
    prompt = {"default_tools_approval_mode": "prompt"}
    env = {"env": {"SIDECHAT_HOSTED": "1"}}
    assert gate.servers(config) == {
        "sidechat": {**prompt, **env},
        "x": {**prompt, **env, "tools": {"a": {"approval_mode": "prompt"}}},
        "far": prompt,
        "odd": prompt,
    }
    assert gate.servers({"mcp_servers": None}) == {}


@behaviour("codex:fork-as-it-stood")
def test_a_fork_takes_over_the_settings_of_the_live_client_but_not_its_leave() -> None:
    argv = ["codex", "-c", 'model="m"', "exec", "--config=a.b=1", "--enable", "apps", "-c"]
    assert list(settings(argv)) == ["-c", 'model="m"', "--config", "a.b=1", "--enable", "apps"]
    wide = ["codex", "-c", "sandbox_mode=off", "-c", "approval_policy=never", "-c", "hooks.x=1"]
    assert list(settings(wide)) == []
