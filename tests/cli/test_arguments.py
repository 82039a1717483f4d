"""Words that make a command, and words that do not."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import NoReturn

import pytest

from sidechat_mcp import __main__
from sidechat_mcp.surfaces.cli.arguments import parse, spoken
from sidechat_mcp.surfaces.cli.entry import run
from sidechat_mcp.surfaces.cli.terminal import Terminal
from tests.behaviours import behaviour
from tests.cli.acting import Actor, Screen, command

COMMANDS = [
    "fork",
    "ask",
    "chat",
    "merge",
    "sessions",
    "show",
    "log",
    "forget",
    "replay",
    "setup",
    "serve",
    "doctor",
    "demo",
]


@behaviour("cli:commands")
def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--help").status == 0
    listed = capsys.readouterr().out.partition("commands:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()[1:]] == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_takes_json(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(name, "--help").status == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: sidechat {name} ")
    assert "--json" in shown


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert command().status == 0
    assert capsys.readouterr().out.startswith("usage: sidechat ")


@pytest.mark.parametrize(
    "argv",
    [
        ["frok"],
        ["ask"],
        ["show"],
        ["replay"],
        ["sessions", "--limit", "many"],
        ["fork", "one", "--file", "two"],
        ["fork", "--quest", "shortened"],
    ],
)
@behaviour("cli:exit-codes")
def test_words_that_make_no_command_are_refused_with_the_next_step(argv: list[str]) -> None:
    done = command(*argv)
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "--help` shows how it is used." in done.err


@behaviour("cli:one-document")
def test_words_that_make_no_command_are_a_document_too() -> None:
    done = command("ask", "--json")
    assert (done.status, done.err) == (2, "")
    assert json.loads(done.out) == {
        "error": {
            "code": "invalid_request",
            "message": "The following arguments are required: TEXT.",
            "next": "`sidechat ask --help` shows how it is used.",
        }
    }


@pytest.mark.parametrize("argv", [["--json", "sessions"], ["sessions", "--json"]])
def test_json_is_taken_before_and_after_the_command(argv: list[str]) -> None:
    assert parse(argv).json
    assert list(json.loads(command(*argv).out)) == ["sessions", "next"]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["frok"], "There is no command 'frok'. `sidechat --help` shows how it is used."),
        (
            ["merge", "child"],
            "Unrecognized arguments: child. `sidechat merge --help` shows how it is used.",
        ),
        (["-v"], "Unrecognized arguments: -v. `sidechat --help` shows how it is used."),
    ],
)
def test_what_was_wrong_is_named_and_the_help_that_says_more(argv: list[str], said: str) -> None:
    assert command(*argv).err == f"{said}\n"


def test_a_question_may_come_as_many_words_or_from_stdin() -> None:
    actor = Actor()
    command("ask", "-s", "child", "why", "not", "Redis?", actor=actor)
    command("ask", "-s", "child", "-", actor=actor, said="first line\nsecond\n")
    assert actor.calls == [
        ("converse", "child", "why not Redis?"),
        ("converse", "child", "first line\nsecond"),
    ]


@pytest.mark.parametrize("argv", [["ask", "-"], ["fork", "-q", "-"], ["merge", "--note", "-"]])
def test_an_empty_text_is_refused_before_anybody_is_asked(argv: list[str]) -> None:
    actor = Actor()
    done = command(*argv, actor=actor, said=" \n")
    assert (done.status, actor.calls) == (2, [])
    assert done.err == "There is no text. Give it as an argument, or - for stdin.\n"


@behaviour("cli:ctrl-c")
def test_a_text_is_read_before_anything_is_opened_so_that_ctrl_c_ends_the_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stopped(Screen):
        def read(self, size: int | None = -1) -> str:
            raise KeyboardInterrupt

    def opened() -> NoReturn:
        raise AssertionError("opened")

    monkeypatch.setattr(sys, "stdin", Stopped())
    out, err = io.StringIO(), io.StringIO()
    status = run(["ask", "-"], open=opened, terminal=Terminal(out, err, {}))
    assert (status, out.getvalue()) == (130, "")
    assert err.getvalue() == ("Type the text. Ctrl-D on a line of its own ends it.\nInterrupted.\n")


def test_bytes_that_a_locale_could_not_read_are_read_as_utf_8() -> None:
    assert spoken("gr\udcc3\udcbc\udcc3\udc9fe \udcff") == "grüße \ufffd"


@behaviour("cli:fast-help")
def test_help_loads_nothing_heavy() -> None:
    watched = "import sys; from sidechat_mcp.__main__ import main; main(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", watched, "--help"], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.rpartition("\n\n")[2].split())
    heavy = ("anyio", "asyncio", "pydantic", "mcp", "apsw", "sidechat_mcp.bootstrap")
    assert "argparse" in loaded
    assert [name for name in heavy if name in loaded] == []


def test_the_package_is_a_program_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sidechat_mcp", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("sidechat 0.1.0\n", "")


def test_the_server_program_takes_commands_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sidechat-mcp", "--version"])
    assert __main__.serve() == 0
    assert capsys.readouterr().out == "sidechat 0.1.0\n"
