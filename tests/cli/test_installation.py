"""Putting the server into a client, and starting it."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.surfaces.cli.serving import place, read_token, serve
from sidechat_mcp.surfaces.cli.terminal import Terminal
from sidechat_mcp.surfaces.mcp import stdio
from tests.behaviours import behaviour
from tests.cli.acting import Done, Screen, command

SERVER = [sys.executable, "-m", "sidechat_mcp", "serve"]


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called `claude` that writes down how it was called, and ends as told."""
    program, calls = tmp_path / "claude", tmp_path / "calls"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >>{calls}\necho "said by the client"\nexit ${{ENDS:-0}}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SIDECHAT_HOME", "/somewhere/of mine")
    return program


def called(client: Path) -> list[str]:
    calls = client.parent / "calls"
    return calls.read_text().splitlines() if calls.exists() else []


@behaviour("cli:setup")
def test_setup_shows_the_clients_own_command_and_how_to_undo_it_and_then_runs_it(
    client: Path,
) -> None:
    done = command("setup", "claude-code")
    settings = ["--env", "SIDECHAT_HOME=/somewhere/of mine"]
    run = [str(client), "mcp", "add", *settings, "--scope", "user", "sidechat", "--", *SERVER]
    assert done.status == 0
    assert done.err == (
        f"Running: {shlex.join(run)}\nsaid by the client\n"
        "To undo: sidechat setup claude-code --undo\n"
    )
    assert done.out == "claude-code has the server, from its next session on.\n"
    assert called(client) == run[1:]


@behaviour("cli:setup")
def test_print_shows_the_command_and_runs_nothing(client: Path) -> None:
    done = command("setup", "claude-code", "--print")
    assert (done.status, done.err, called(client)) == (0, "", [])
    assert shlex.split(done.out)[0] == str(client)
    assert shlex.split(done.out)[-4:] == SERVER

    document = json.loads(command("setup", "claude-code", "--print", "--json").out)
    assert document["run"] == [shlex.split(done.out)]
    assert document["ran"] is False


def test_print_helps_where_the_client_is_not_installed(client: Path) -> None:
    client.unlink()
    done = command("setup", "claude-code", "--print")
    assert (done.status, shlex.split(done.out)[:3]) == (0, ["claude", "mcp", "add"])


@behaviour("cli:setup")
def test_a_client_that_is_not_there_is_said_to_be_so(client: Path) -> None:
    client.unlink()
    assert command("setup", "claude-code") == Done(
        2,
        "",
        "claude-code is not installed here, or not on the PATH. `setup --print` shows what to run"
        " where it is.\n",
    )


@behaviour("cli:setup")
def test_a_command_that_fails_is_no_success(client: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDS", "7")
    done = command("setup", "claude-code")
    assert (done.status, done.out) == (4, "")
    assert (
        "said by the client\nThe client's command ended with 7; nothing more was done." in done.err
    )
    assert json.loads(command("setup", "claude-code", "--json").out)["error"]["code"] == (
        "outside_error"
    )


def test_another_client_is_refused_with_what_it_takes_by_hand() -> None:
    done = command("setup", "cursor")
    assert (done.status, done.out, done.err) == (
        2,
        "",
        "`setup` cannot add to 'cursor', only to claude-code, codex, opencode, pi."
        f" Add the server by hand there; its command is: {shlex.join(SERVER)}\n",
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("127.0.0.1:8000", ("127.0.0.1", 8000)),
        ("8000", ("127.0.0.1", 8000)),
        (":0", ("127.0.0.1", 0)),
        ("[::1]:8000", ("::1", 8000)),
        ("box.local:80", ("box.local", 80)),
    ],
)
def test_where_to_serve(text: str, found: tuple[str, int]) -> None:
    assert place(text) == found


@pytest.mark.parametrize("text", ["", "host", "host:", "::1:80", "host:65536", "http://host:80"])
def test_what_is_no_place_is_refused(text: str) -> None:
    done = command("serve", "--http", text)
    assert (done.status, done.out) == (2, "")
    assert done.err == f"{text!r} is no HOST:PORT. For example 127.0.0.1:8000.\n"


def test_a_token_is_one_line_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")
    assert read_token(file) == "0123456789abcdef"
    for unusable in ("", "short\n", "two words of some length\n", "0123456789\n0123456789\n"):
        file.write_text(unusable)
        with pytest.raises(InvalidRequest, match="no usable token"):
            read_token(file)
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_token(tmp_path / "none")
    with pytest.raises(InvalidRequest, match="no usable token"):
        read_token(Path("/dev/zero"))


def test_a_text_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sidechat_mcp.surfaces.cli.commands.LONGEST", 9)
    monkeypatch.setattr("sidechat_mcp.surfaces.cli.chat.LONGEST", 9)
    for argv in (["ask", "-"], ["merge", "--note", "-"], ["chat"]):
        assert command(*argv, said="9 letters").status == 0
        done = command(*argv, said="x" * 10)
        assert (done.status, done.out) == (2, "")
        assert "too long" in done.err


def test_a_token_without_http_is_a_mistake() -> None:
    assert command("serve", "--token-file", os.devnull).err.startswith("stdio needs no token.")


def test_a_person_who_starts_the_stdio_server_is_told_what_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, err = Screen(), Screen()
    monkeypatch.setattr(sys, "stdin", Screen())
    monkeypatch.setattr(stdio, "serve", lambda: 0)
    args = Namespace(http=None, token_file=None)
    assert serve(args, Terminal(out, err, {})) == 0
    assert out.getvalue() == ""
    assert "An MCP server listens here on stdin" in err.getvalue()


def test_a_server_that_is_interrupted_has_ended_as_it_should(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(stdio, "serve", interrupted)
    assert command("serve") == Done(0, "", "")


@behaviour("cli:serve")
def test_the_stdio_server_ends_with_its_input_and_says_nothing() -> None:
    done = subprocess.run(SERVER, input="", capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr


@behaviour("cli:serve")
def test_the_http_server_says_where_it_is_and_ends_with_a_signal(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*SERVER, "--http", "127.0.0.1:0"],
        env={**os.environ, "SIDECHAT_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert re.search(r"http://127\.0\.0\.1:[1-9]\d*/mcp", process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, "Traceback" in err) == (0, "", False)


@behaviour("cli:serve")
def test_an_address_that_others_reach_needs_a_token() -> None:
    done = command("serve", "--http", "0.0.0.0:0")
    assert (done.status, done.out) == (2, "")
    assert "--token-file" in done.err


@behaviour("cli:setup")
def test_undo_runs_the_command_that_takes_the_server_away(client: Path) -> None:
    done = command("setup", "claude-code", "--undo")
    assert (done.status, called(client)[:2]) == (0, ["mcp", "remove"])
    assert done.out == "claude-code no longer has the server, from its next session on.\n"


@behaviour("cli:setup")
def test_the_hook_is_a_plugin_in_our_own_folder_that_the_client_installs(
    client: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIDECHAT_HOME", str(tmp_path / "home"))
    shown = json.loads(command("setup", "claude-code", "--hook", "--print", "--json").out)
    assert [argv[1:3] for argv in shown["run"]] == [
        ["mcp", "add"],
        ["plugin", "marketplace"],
        ["plugin", "install"],
    ]
    assert not (tmp_path / "home").exists()
    assert command("setup", "claude-code", "--hook").status == 0
    made = [tmp_path / "home", *(tmp_path / "home").rglob("*")]
    assert {path.stat().st_mode & 0o077 for path in made} == {0}, "for its owner alone"
    (hooks,) = (tmp_path / "home").rglob("hooks.json")
    assert json.loads(hooks.read_text())["hooks"]["UserPromptSubmit"][0]["hooks"][0]["tool"] == (
        "pending_notes"
    )
