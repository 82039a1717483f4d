"""How our server gets into opencode."""

from __future__ import annotations

import shlex
from pathlib import Path

from sidechat_mcp.clients.opencode.setup import executable, plan
from tests.behaviours import behaviour
from tests.cli.acting import command


@behaviour("opencode:setup")
def test_the_clients_own_command_adds_the_server_with_absolute_paths_and_no_secret() -> None:
    environ = {"SIDECHAT_HOME": "/data/sidechat", "SIDECHAT_STORE": "postgresql://me:secret@db/x"}
    found = plan("/opt/opencode", "/my venv/bin/python", environ)
    assert shlex.join(found.do) == (
        "/opt/opencode mcp add sidechat --env SIDECHAT_HOME=/data/sidechat --"
        " '/my venv/bin/python' -m sidechat_mcp serve"
    )
    assert list(found.undo) == []


@behaviour("opencode:setup")
def test_how_to_take_the_server_away_again_is_said_in_words() -> None:
    done = command("setup", "opencode", "--undo")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "opencode has no command that takes a server away. Delete `sidechat` from `mcp` in"
        " opencode's opencode.jsonc (or opencode.json); it lies in ~/.config/opencode.\n"
    )


def test_the_program_is_found_on_the_path_or_where_its_installer_puts_it(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    assert executable(environ) is None
    for place in (".opencode/bin/opencode", "bin/opencode"):
        path = tmp_path / place
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        assert executable(environ) == str(path)
