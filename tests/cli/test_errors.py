"""Whatever goes wrong is one sentence on the right stream, with the right exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from sidechat_mcp.errors import (
    AnsweringNow,
    DamagedLog,
    NewerSchema,
    NothingToMerge,
    ProviderError,
    SessionNotFound,
    SidechatError,
)
from sidechat_mcp.sidechat.reports import Replayed
from tests.behaviours import behaviour
from tests.cli.acting import ANSWERED, CHILD, FORKED, Actor, command

ERRORS = [
    (SessionNotFound("gone"), 2),
    (AnsweringNow("child"), 3),
    (ProviderError("The model is overloaded.", then="Try again."), 4),
    (SidechatError("Something of ours."), 4),
]


@pytest.mark.parametrize(("error", "status"), ERRORS)
@behaviour("cli:exit-codes", "cli:answers-on-stdout")
def test_an_error_is_one_line_on_stderr(error: SidechatError, status: int) -> None:
    done = command("ask", "why?", actor=Actor(answer=error))
    assert (done.status, done.out) == (status, "")
    assert done.err == f"In “Why WAL?” (child):\n{error}\n"


@pytest.mark.parametrize(("error", "status"), ERRORS)
@behaviour("cli:one-document")
def test_with_json_an_error_is_the_document(error: SidechatError, status: int) -> None:
    done = command("ask", "why?", "--json", actor=Actor(answer=error))
    assert (done.status, done.err) == (status, "")
    said = {"code": error.code, "message": error.message, "next": error.then}
    assert json.loads(done.out) == {"error": said}


@behaviour("cli:no-traceback")
def test_an_unexpected_error_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    actor = Actor(answer=ZeroDivisionError("division by zero"))
    done = command("ask", "why?", actor=actor)
    assert (done.status, done.out) == (4, "")
    assert done.err.splitlines()[1:] == [
        "Something unexpected went wrong (ZeroDivisionError: division by zero)."
        " Please report it: set SIDECHAT_DEBUG=1 to see the details."
    ]


@behaviour("cli:no-traceback")
def test_with_debug_the_details_go_to_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIDECHAT_DEBUG", "1")
    done = command("ask", "why?", actor=Actor(answer=ZeroDivisionError("division by zero")))
    assert done.status == 4
    assert "Traceback" not in done.out
    assert capsys.readouterr().err.startswith("Traceback")


def test_our_own_error_is_found_inside_a_group() -> None:
    group = BaseExceptionGroup(
        "many", [ValueError("a"), ExceptionGroup("more", [NothingToMerge("Nothing said yet.")])]
    )
    done = command("ask", "-s", "child", "why?", actor=Actor(answer=group))
    assert (done.status, done.err) == (2, "Nothing said yet.\n")


@behaviour("cli:newer")
def test_that_a_newer_version_wrote_the_log_is_said_and_it_is_read() -> None:
    newer = NewerSchema("A newer version wrote this.", then="Please restart.")
    done = command("sessions", "--json", actor=Actor(unwritable=newer))
    assert (done.status, done.err) == (0, "A newer version wrote this. Please restart.\n")
    assert json.loads(done.out)["sessions"][0]["session"] == "child"


@behaviour("cli:exit-codes")
def test_an_interrupted_command_says_so() -> None:
    done = command("ask", "-s", "child", "why?", actor=Actor(answer=KeyboardInterrupt()))
    assert (done.status, done.out, done.err) == (130, "", "Interrupted.\n")


def test_a_child_whose_first_question_fails_is_still_named() -> None:
    error = ProviderError("The model is overloaded.", then="Try again.")
    actor = Actor(answer=error)
    done = command("fork", "-q", "why?", actor=actor)
    assert done.status == 4
    assert "sidechat://sessions/child" in done.out
    assert done.err == "The model is overloaded. Try again.\n"

    document = json.loads(command("fork", "-q", "why?", "--json", actor=actor).out)
    assert (document["session"], document["first"]) == ("child", None)
    assert document["error"]["code"] == "provider_error"


@behaviour("cli:exit-codes")
def test_a_log_that_fails_its_verification_is_no_success() -> None:
    reports = [Replayed(CHILD, 2, "verified"), Replayed(CHILD, 1, "failed", "digest", 17)]
    done = command("replay", "--verify", actor=Actor(replays=reports))
    assert done.status == 4
    assert done.out.splitlines()[-1] == "replay: failed"
    assert "child: failed at event 17\n  digest\n" in done.out

    done = command("replay", "--verify", actor=Actor(replays=DamagedLog("child", 3, "checksum")))
    assert (done.status, done.out) == (4, "replay: failed\n")
    assert done.err.startswith("Session 'child' is damaged at event 3")


def test_nothing_to_verify_is_not_called_verified() -> None:
    hosted = Replayed(CHILD, 2, "not rebuildable", "hosted")
    for reports, verdict in (
        ((), "nothing to verify"),
        ((Replayed(CHILD, 0, "verified"),), "nothing to verify"),
        ((hosted,), "not rebuildable"),
        ((hosted, Replayed(CHILD, 1, "verified")), "verified"),
    ):
        done = command("replay", "--verify", actor=Actor(replays=reports))
        assert (done.status, done.out.splitlines()[-1]) == (0, f"replay: {verdict}")


def test_bytes_that_could_not_be_made_again_are_said_not_to_be_checked() -> None:
    reports = [
        Replayed(CHILD, 2, "verified", wire="verified"),
        Replayed(CHILD, 1, "verified", "There is no agent 'x'.", wire="not checked"),
        Replayed(CHILD, 3, "verified"),
    ]
    done = command("replay", "--verify", actor=Actor(replays=reports))
    assert done.status == 0
    assert done.out == (
        "child: bytes on the wire not checked\n  There is no agent 'x'.\n"
        "6 requests of 3 sessions rebuilt; bytes on the wire compared in 1 of 2\n"
        "replay: verified\n"
    )


def test_an_answer_that_was_cut_says_why_and_what_to_do() -> None:
    cut = replace(ANSWERED, reason="max_tokens", status=None, advice="Ask it to go on.")
    done = command("ask", "-s", "child", "why?", actor=Actor(answer=cut))
    assert (done.status, done.out) == (0, "Because readers never wait.\n")
    assert done.err == "— turn 13 · ended: max_tokens\nAsk it to go on.\n"


def test_a_store_that_cannot_be_reached_is_no_traceback() -> None:
    program = "import sys; from sidechat_mcp.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "sessions"],
        env={"SIDECHAT_STORE": "postgresql://nowhere/none", "SIDECHAT_HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert FORKED.session not in done.stderr
