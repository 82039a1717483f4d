"""What reaches a screen, a pipe or a file, whatever the text and the locale."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sidechat_mcp.sidechat.reports import Listing
from sidechat_mcp.surfaces.cli.terminal import Styled, Terminal, escaped
from tests.behaviours import behaviour
from tests.cli.acting import ANSWERED, LISTED, NOTE, Actor, Screen, command

EVIL = "\x1b]0;title\x07\x1b[2Jred\u202egnp.exe\x9b31m\U000e0041"
FULL = Path("/dev/full")
HERE_FULL = pytest.mark.skipif(not FULL.exists(), reason="no disk here is always full")
FULL_SAID = (
    "The answer could not be written (No space left on device). Let it go where there is room,"
    " then try again.\n"
)
GONE = "There is no session 'gone'. `sessions` lists the ones there are.\n"
ACTING = [sys.executable, "-m", "tests.cli.acting"]


def written(out: io.StringIO, **environ: str) -> str:
    Terminal(out, io.StringIO(), environ).say(("a", Styled("b", "red")))
    return out.getvalue()


@behaviour("cli:colours")
def test_colours_are_for_terminals_that_want_them() -> None:
    assert written(Screen()) == "a\x1b[31mb\x1b[0m\n"
    assert written(io.StringIO()) == "ab\n"
    assert written(Screen(), NO_COLOR="1") == "ab\n"
    assert written(Screen(), NO_COLOR="") == "a\x1b[31mb\x1b[0m\n"
    assert written(Screen(), TERM="dumb") == "ab\n"


@behaviour("cli:colours")
@pytest.mark.parametrize("argv", [["fork"], ["ask", "why?"], ["merge"], ["sessions"]])
def test_a_command_without_colours_says_the_same(argv: list[str]) -> None:
    plain = command(*argv)
    assert command(*argv, screen=True, environ={"NO_COLOR": "1"}) == plain
    coloured = command(*argv, screen=True)
    assert "\x1b[" in coloured.out + coloured.err
    assert "\x1b[" not in plain.out + plain.err


@behaviour("cli:harmless")
@pytest.mark.parametrize(
    "argv", [["ask", "why?"], ["merge"], ["sessions"], ["ask", "-s", "child", "w"]]
)
def test_no_text_can_move_the_cursor_or_turn_the_line(argv: list[str]) -> None:
    actor = Actor(
        pieces=["\x1b", "[31m", EVIL],
        answer=replace(ANSWERED, answer="\x1b[31m" + EVIL + " more"),
        note=replace(NOTE, text=EVIL, parent_name=EVIL),
        titles={"child": EVIL},
        listing=Listing((replace(LISTED, title=EVIL),), None),
    )
    done = command(*argv, actor=actor, screen=True, environ={"NO_COLOR": "1"})
    shown = done.out + done.err
    assert "redgnp.exe" in shown
    assert [one for one in "\x1b\x07\x9b\u202e\U000e0041" if one in shown] == []


@behaviour("cli:harmless")
def test_json_keeps_every_character_and_shows_none_that_deceives() -> None:
    done = command("ask", "w", "--json", actor=Actor(answer=replace(ANSWERED, answer=EVIL)))
    assert done.out.isascii()
    assert json.loads(done.out)["answer"] == EVIL


@behaviour("cli:harmless")
def test_a_log_keeps_every_value_and_shows_no_character_that_deceives() -> None:
    line = json.dumps({"seq": 0, "text": "né\u202e\U000e0041\ud800"}, ensure_ascii=False)
    assert json.loads(escaped(line)) == json.loads(line)
    assert escaped(line) == '{"seq": 0, "text": "né\\u202e\\udb40\\udc41\\ud800"}'
    assert json.loads(escaped(line, ascii=True)) == json.loads(line)
    assert escaped(line, ascii=True).isascii()


def test_a_log_comes_as_lines_or_as_one_document() -> None:
    actor = Actor(log='{"seq":0}\n{"seq":1}\n')
    assert command("log", "child", actor=actor).out == '{"seq":0}\n{"seq":1}\n'
    document = json.loads(command("log", "child", "--json", actor=actor).out)
    assert document == {"session": "child", "events": [{"seq": 0}, {"seq": 1}]}


@behaviour("cli:broken-pipe")
@pytest.mark.parametrize("argv", [["--help"], ["log", "child"], ["ask", "-s", "child", "w"]])
def test_a_reader_that_has_left_is_no_error(argv: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*ACTING, *argv], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert done.returncode == 0
    assert "rror" not in done.stderr


@HERE_FULL
@behaviour("cli:full-disk")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        (["sessions"], 4, FULL_SAID),
        (["sessions", "--json"], 4, FULL_SAID),
        (["log", "child"], 4, FULL_SAID),
        (["--help"], 4, FULL_SAID),
        (["fork", "--help"], 4, FULL_SAID),
        (["--version"], 4, FULL_SAID),
        (["chat", "child"], 4, f"— turn 13 · answered\n\n{FULL_SAID}"),
        (["show", "gone"], 2, GONE),
        (["show", "gone", "--json"], 2, GONE),
    ],
)
def test_a_full_disk_is_said_in_one_line(
    argv: list[str], status: int, said: str, unbuffered: str
) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [*ACTING, *argv],
            stdout=full,
            stderr=subprocess.PIPE,
            input="first\nsecond\n",
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (status, said)


@HERE_FULL
@behaviour("cli:full-disk")
@pytest.mark.parametrize(("argv", "status"), [(["sessions"], 0), (["show", "gone"], 2)])
def test_what_cannot_be_said_about_an_answer_changes_nothing(argv: list[str], status: int) -> None:
    with FULL.open("w") as full:
        done = subprocess.run([*ACTING, *argv], stdout=subprocess.DEVNULL, stderr=full, check=False)
    assert done.returncode == status


@behaviour("cli:any-locale")
@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
    ],
)
def test_text_survives_any_locale(locale: dict[str, str]) -> None:
    environ = {**os.environ, **locale}
    asked = [*ACTING, "ask", "-s", "child", "größe 😀?"]
    done = subprocess.run(asked, env=environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"Because readers never wait.\n")

    document = subprocess.run([*asked, "--json"], env=environ, capture_output=True, check=True)
    assert json.loads(document.stdout)["turn"] == 13
