"""How our server, and the extension that brings notes, get into pi."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from sidechat_mcp.clients.pi.setup import executable, hook, plan
from tests.behaviours import behaviour


@behaviour("pi:setup")
def test_pis_own_command_adds_the_server_and_takes_it_away() -> None:
    found = plan("/opt/pi", "/my venv/bin/python", {"ANTHROPIC_API_KEY": "sk-secret"})
    assert shlex.join(found.do) == (
        "/opt/pi mcp add sidechat --exposure direct -- '/my venv/bin/python' -m sidechat_mcp serve"
    )
    assert shlex.join(found.undo) == "/opt/pi mcp remove sidechat"


@behaviour("pi:setup")
def test_only_the_home_is_passed_on() -> None:
    environ = {"SIDECHAT_HOME": "/data/sidechat", "SIDECHAT_STORE": "postgresql://me:secret@db/log"}
    found = plan("/opt/pi", "/venv/bin/python", environ)
    assert found.do[6:8] == ["--env", "SIDECHAT_HOME=/data/sidechat"]
    assert "secret" not in " ".join(found.do)


@behaviour("pi:setup")
def test_the_extension_lies_in_our_folder_and_pi_installs_and_removes_it() -> None:
    home = Path('/data/"our" place')
    found = hook("/opt/pi", home)
    ((path, text),) = found.files.items()
    assert path == home / "plugins" / "pi" / "sidechat.ts"
    assert (found.do, found.undo) == (
        [["/opt/pi", "install", str(path)]],
        [["/opt/pi", "remove", str(path)]],
    )
    served = json.dumps([sys.executable, "-m", "sidechat_mcp", "serve"])
    assert f"const SERVER = {served};" in text
    assert f"const ENVIRONMENT = {json.dumps({'SIDECHAT_HOME': str(home)})};" in text
    assert "@" not in text


def test_the_program_is_the_one_on_the_path(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    assert executable(environ) is None
    program = tmp_path / "pi"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert executable(environ) == str(program)
