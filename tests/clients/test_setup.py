"""How our server gets into Claude Code."""

from __future__ import annotations

import shlex
from pathlib import Path

from sidechat_mcp.clients.claude_code.setup import executable, plan
from tests.behaviours import behaviour


@behaviour("clients:setup")
def test_the_clients_own_command_adds_the_server_and_takes_it_away() -> None:
    found = plan("/opt/claude", "/my venv/bin/python", {})
    assert shlex.join(found.do) == (
        "/opt/claude mcp add --scope user sidechat -- '/my venv/bin/python' -m sidechat_mcp serve"
    )
    assert shlex.join(found.undo) == "/opt/claude mcp remove --scope user sidechat"


@behaviour("clients:setup")
def test_only_the_home_is_passed_on_and_no_secret() -> None:
    environ = {
        "SIDECHAT_HOME": "/data/sidechat",
        "SIDECHAT_STORE": "postgresql://me:secret@db/log",
        "ANTHROPIC_API_KEY": "sk-secret",
    }
    found = plan("/opt/claude", "/venv/bin/python", environ)
    assert found.do[3:6] == ["--env", "SIDECHAT_HOME=/data/sidechat", "--scope"]
    assert "secret" not in " ".join([*found.do, *found.undo]).replace("/data/sidechat", "")


def test_the_program_is_found_on_the_path_or_where_installers_put_it(tmp_path: Path) -> None:
    def program(place: str) -> str:
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    environ = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home")}
    assert executable(environ) is None
    old = program("home/.claude/local/claude")
    assert executable(environ) == old
    native = program("home/.local/bin/claude")
    assert executable(environ) == native
    first = program("bin/claude")
    assert executable(environ) == first
