"""How our server and our hook get into Codex."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from sidechat_mcp.clients.codex.setup import executable, hook, plan
from tests.behaviours import behaviour


@behaviour("codex:setup")
def test_the_clients_own_command_adds_the_server_and_takes_it_away() -> None:
    found = plan("/opt/codex", "/my venv/bin/python", {})
    assert shlex.join(found.do) == (
        "/opt/codex mcp add sidechat -- '/my venv/bin/python' -m sidechat_mcp serve"
    )
    assert shlex.join(found.undo) == "/opt/codex mcp remove sidechat"


@behaviour("codex:setup")
def test_only_where_things_lie_is_passed_on_and_no_secret() -> None:
    environ = {
        "SIDECHAT_HOME": "/data/sidechat",
        "CODEX_HOME": "/data/codex",
        "OPENAI_API_KEY": "sk-secret",
    }
    found = plan("/opt/codex", "/venv/bin/python", environ)
    passed = ["--env", "SIDECHAT_HOME=/data/sidechat", "--env", "CODEX_HOME=/data/codex", "--"]
    assert list(found.do[4:9]) == passed
    assert "secret" not in " ".join([*found.do, *found.undo]).replace("sidechat", "")


@behaviour("codex:setup")
def test_the_hook_is_a_plugin_in_our_own_folder(tmp_path: Path) -> None:
    found = hook("/opt/codex", tmp_path)
    root = tmp_path / "plugins" / "codex"
    assert all(path.is_relative_to(root) for path in found.files)
    held = {str(path.relative_to(root)): json.loads(text) for path, text in found.files.items()}
    (entry,) = held["sidechat-notes/hooks/hooks.json"]["hooks"]["UserPromptSubmit"][0]["hooks"]
    assert (entry["type"], entry["server"], entry["tool"]) == (
        "mcp_tool",
        "sidechat",
        "pending_notes",
    )
    (listed,) = held[".agents/plugins/marketplace.json"]["plugins"]
    assert (root / listed["source"]["path"] / ".codex-plugin" / "plugin.json") in found.files
    assert [shlex.join(one) for one in found.do] == [
        f"/opt/codex plugin marketplace add {root}",
        "/opt/codex plugin add sidechat-notes@sidechat",
    ]
    assert [shlex.join(one) for one in found.undo] == [
        "/opt/codex plugin remove sidechat-notes@sidechat",
        "/opt/codex plugin marketplace remove sidechat",
    ]


def test_the_program_is_found_on_the_path(tmp_path: Path) -> None:
    assert executable({"PATH": str(tmp_path)}) is None
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert executable({"PATH": str(tmp_path)}) == str(program)
