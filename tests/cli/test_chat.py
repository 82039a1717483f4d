"""A talk, typed at a terminal or written into a pipe."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from sidechat_mcp.core.events import Reason
from sidechat_mcp.errors import NothingToMerge, ProviderError
from sidechat_mcp.sidechat.reports import Answer
from tests.behaviours import behaviour
from tests.cli.acting import ANSWERED, Actor, command
from tests.cli.screens import terminal

CHAT = ("-m", "tests.cli.acting", "chat")
WAITING = {"SIDECHAT_ACTING": "waiting"}
PROMPT = "Why WAL? › "


@behaviour("cli:chat-pipes", "cli:answers-on-stdout")
def test_in_a_pipe_each_line_is_a_message_and_stdout_holds_the_answers_alone() -> None:
    actor = Actor(pieces=["Because "])
    done = command("chat", said="first\n\n  second  \n", actor=actor)
    assert (done.status, done.out) == (0, "Because readers never wait.\n" * 2)
    assert done.err == "In “Why WAL?” (child):\n" + "— turn 13 · answered\n\n" * 2
    assert actor.calls == [("converse", "child", "first"), ("converse", "child", "second")]


@behaviour("cli:chat-pipes")
def test_in_a_pipe_a_note_is_taken_back_at_once() -> None:
    actor = Actor()
    done = command(
        "chat", "child", said="/note\n/merge\n/note My own.\n/quit\nno more\n", actor=actor
    )
    assert done.status == 0
    assert done.out == "WAL: readers never wait.\n" * 3
    assert actor.calls == [
        ("merge", "child", None, True),
        ("merge", "child", None, False),
        ("merge", "child", "My own.", False),
    ]


@behaviour("cli:chat-pipes", "cli:exit-codes")
def test_in_a_pipe_the_first_failure_ends_the_talk_with_its_exit_code() -> None:
    actor = Actor(answer=ProviderError("The model is overloaded.", then="Try again."))
    done = command("chat", said="first\nsecond\n", actor=actor)
    assert (done.status, done.out) == (4, "")
    assert done.err == "In “Why WAL?” (child):\nThe model is overloaded. Try again.\n"
    assert len(actor.calls) == 1


@behaviour("cli:failed-turn")
@pytest.mark.parametrize("last", ["error", "completed"])
def test_a_talk_whose_last_turn_failed_is_no_success(last: Reason) -> None:
    class Ending(Actor):
        async def converse(self, *asked: Any, **more: Any) -> Answer:
            self.answer = replace(ANSWERED, reason=reasons.pop(0))
            return await super().converse(*asked, **more)

    other: Reason = "completed" if last == "error" else "error"
    for switches in ([], ["--json"]):
        reasons: list[Reason] = [other, last]
        done = command("chat", *switches, said="first\nsecond\n/note\n", actor=Ending())
        assert (done.status, reasons) == (4 if last == "error" else 0, [])
        if switches:
            said = [one.get("reason") for one in json.loads(done.out)["said"]]
            assert said == [other, last, None]


@behaviour("cli:one-document")
def test_with_json_a_talk_is_one_document() -> None:
    done = command("chat", "--json", said="first\n/merge\n", screen=True)
    said = json.loads(done.out)
    assert (done.status, done.err, said["session"]) == (0, "", "child")
    assert [one.get("turn") or one.get("note") for one in said["said"]] == [13, "n1"]

    failing = Actor(note=NothingToMerge("Nothing said yet.", then="`converse`."))
    done = command("chat", "--json", said="/merge\n", actor=failing)
    refused = {
        "code": "nothing_to_merge",
        "message": "Nothing said yet.",
        "next": "Ask it something first.",
    }
    assert (done.status, json.loads(done.out)) == (2, {"error": refused})


def test_a_word_with_a_slash_is_a_command_and_a_path_is_not() -> None:
    actor = Actor()
    done = command("chat", said="/etc/hosts is what?\n /merge is what?\n/frob\n", actor=actor)
    assert [call[2] for call in actor.calls] == ["/etc/hosts is what?", "/merge is what?"]
    assert done.status == 2
    assert done.err.endswith(
        "There is no command '/frob' like that. /help lists them; a space before the / makes it"
        " part of a question.\n"
    )


def test_where_there_is_no_side_session_yet_the_conversation_is_forked_first() -> None:
    class Fresh(Actor):
        async def fork(self, *asked: object, **more: object):  # type: ignore[no-untyped-def]
            self.titles = {"child": "Why WAL?"}
            return await super().fork(*asked, **more)  # type: ignore[arg-type]

    actor = Fresh(titles={})
    done = command("chat", said="first\n", actor=actor)
    assert (done.status, done.out) == (0, "Because readers never wait.\n")
    assert done.err.startswith("Answers are quotes.\nForked: sidechat://sessions/child\n")
    assert actor.calls == [("fork", None, None), ("converse", "child", "first")]


def test_a_session_that_is_not_there_is_not_replaced_by_another() -> None:
    done = command("chat", "gone", said="first\n")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("There is no session 'gone'.")


@behaviour("cli:chat-prompt")
def test_the_prompt_shows_where_a_message_goes_and_an_answer_streams() -> None:
    with terminal(*CHAT) as typist:
        typist.reads("Side session child.\n/merge takes a note back, /help says more")
        typist.reads(PROMPT)
        typist.types("why \\\n")
        typist.reads("… ")
        typist.types("really?\n")
        typist.reads("Because readers never wait.\n— turn 13 · answered\n\n" + PROMPT)
        typist.types("/help\n")
        typist.reads("Ctrl-C")
        typist.reads(PROMPT)
        typist.types("\x04")
        assert typist.leaves() == 0
        assert "Traceback" not in typist.seen


@behaviour("cli:colours")
def test_a_prompt_has_colours_where_the_terminal_has() -> None:
    with terminal(*CHAT, environ={"TERM": "xterm"}) as typist:
        typist.reads("\x1b[36m" + PROMPT)
    with terminal(*CHAT, environ={"TERM": "xterm", "NO_COLOR": "1"}) as typist:
        typist.reads(PROMPT)
        assert "\x1b[36m" not in typist.seen


@behaviour("cli:note-shown-first")
def test_a_note_is_shown_before_it_is_taken_back() -> None:
    with terminal(*CHAT) as typist:
        typist.reads(PROMPT)
        typist.types("/merge\n")
        typist.reads("WAL: readers never wait.\nTake this note back to claude-code:one?\n[Y/n] ")
        typist.types("n\n")
        typist.reads("Kept as a draft; nothing was merged.\n")
        typist.reads(PROMPT)
        typist.types("/merge\n")
        typist.reads("[Y/n] ")
        typist.types("\n")
        typist.reads("Merged into claude-code:one.\n")
        typist.types("/quit\n")
        assert typist.leaves() == 0


@behaviour("cli:ctrl-c")
def test_ctrl_c_stops_the_answer_closes_its_turn_and_the_talk_goes_on() -> None:
    with terminal(*CHAT, environ=WAITING) as typist:
        for _ in range(2):
            typist.reads(PROMPT)
            typist.types("why?\n")
            typist.reads("Because readers ")
            typist.types("\x03")
            typist.reads("[turn closed]\n")
            typist.reads("Stopped; that turn is closed.\n")
        typist.reads(PROMPT)
        typist.types("half a line")
        typist.reads("half a line")
        typist.insists(lambda: typist.types("\x03"), "Ctrl-D leaves.\n" + PROMPT)
        typist.types("\x04")
        assert typist.leaves() == 0
        assert "Traceback" not in typist.seen


@contextmanager
def answering(argv: list[str], mood: str) -> Generator[subprocess.Popen[str]]:
    """The program in the middle of an answer that does not end."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cli.acting", *argv],
        env={**os.environ, "SIDECHAT_ACTING": mood},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("why?\n")
        process.stdin.flush()
        assert process.stdout.read(16) == "Because readers "
        yield process


@behaviour("cli:ctrl-c", "cli:exit-codes")
@pytest.mark.parametrize("argv", [["chat"], ["ask", "-s", "child", "why?"]])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_the_turn_and_ends_the_program(argv: list[str], number: int) -> None:
    with answering(argv, "waiting") as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    leaving = number != signal.SIGINT
    assert (process.returncode, out) == (130, "\n")
    assert err.splitlines()[-1] == "Interrupted."
    assert "[turn closed]\n" in err
    assert ("[leaving]\n" in err) == leaving


@behaviour("cli:ctrl-c", "cli:no-traceback")
@pytest.mark.parametrize("argv", [["chat"], ["ask", "-s", "child", "why?"]])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_again_while_a_thread_is_stuck_ends_the_program_quietly(
    argv: list[str], number: int
) -> None:
    with answering(argv, "stuck") as process:
        deadline = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(number)
            time.sleep(0.05)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out.strip()) == (130, "")
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "Interrupted."


def test_a_signal_at_the_prompt_ends_the_program() -> None:
    with terminal(*CHAT) as typist:
        typist.reads(PROMPT)
        typist.types("half a line")
        typist.reads("half a line")
        typist.insists(lambda: typist.process.send_signal(signal.SIGTERM), "[leaving]\n")
        typist.reads("Interrupted.\n")
        assert typist.leaves() == 130


def test_an_answer_read_back_from_the_log_is_shown_whole() -> None:
    actor = Actor(answer=replace(ANSWERED, answer="Something else.\n"), pieces=[])
    assert command("chat", said="first\n", actor=actor).out == "Something else.\n"
