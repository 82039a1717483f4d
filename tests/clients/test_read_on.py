"""What a file may do between two readings of it, so that the second one is of all of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from sidechat_mcp.clients.claude_code.client import ClaudeCode
from sidechat_mcp.clients.codex.client import Codex
from sidechat_mcp.clients.pi.client import Pi
from sidechat_mcp.ports.client import Client, Transcript
from tests.behaviours import behaviour
from tests.clients import test_codex_mutations as codex
from tests.clients.growing import grown
from tests.clients.pi_writing import talk
from tests.clients.rollouts import Rollout
from tests.clients.scribe import Scribe


def scribed() -> bytes:
    scribe = Scribe()
    for n in range(3):
        scribe.prompt(f"Question {n}")
        scribe.says(f"Answer {n}")
    return scribe.text()


def header_last(text: bytes) -> bytes:
    first, *lines = text.splitlines(keepends=True)
    return b"".join([*lines, first])


def other_session_last(text: bytes) -> bytes:
    *lines, last = text.splitlines(keepends=True)
    own = json.loads(last)
    about = {"type": "system", "uuid": "more", "parentUuid": own["uuid"], "sessionId": "another"}
    other = json.dumps(own | about)
    return b"".join([*lines, last, other.encode() + b"\n"])


LATE = [
    (Codex, header_last(codex.samples()[1])),
    (Pi, header_last(talk().bytes)),
    (ClaudeCode, other_session_last(scribed())),
]


@behaviour("clients:going-on")
@pytest.mark.parametrize(("client", "text"), LATE)
async def test_whose_a_conversation_is_may_be_said_late(
    client: Callable[..., Client], text: bytes, tmp_path: Path
) -> None:
    for seed in range(8):
        await grown(lambda: client({}), tmp_path / str(seed), text, random.Random(seed))


def working() -> bytes:
    scribe = Scribe()
    scribe.prompt("Question 0")
    scribe.says("Answer 0")
    scribe.prompt("Question 1")
    scribe.result(scribe.calls(("Bash", {"command": "a"}))[0], "done")
    return scribe.text()


def rolled() -> bytes:
    rollout = Rollout("one")
    rollout.opens()
    for n in range(2):
        rollout.began()
        rollout.asked(f"question {n}")
        rollout.says(f"answer {n}")
        if n == 0:
            rollout.over()
    return rollout.text()


def open_at_pi() -> bytes:
    session = talk()
    session.result(session.working("Where to?", path="b.txt"))
    return session.bytes


@behaviour("clients:going-on")
@pytest.mark.parametrize(
    ("client", "text"), [(ClaudeCode, working()), (Codex, rolled()), (Pi, open_at_pi())]
)
async def test_what_was_seen_of_an_open_turn_may_be_cut_off(
    client: Callable[..., Client], text: bytes, tmp_path: Path
) -> None:
    """As a disk loses it; what is written next is glued to half a line, and longer than it was."""
    path, follower = tmp_path / "one.jsonl", client({})
    path.write_bytes(text)
    await follower.read_file(path, since_last=True)
    *_, last = text.splitlines(keepends=True)
    with path.open("r+b") as file:
        file.truncate(len(text) - len(last) // 2)
    await follower.read_file(path, since_last=True)
    with path.open("ab") as file:
        file.write(last + b'{"type": "none"}\n')

    assert counted(await follower.read_file(path, since_last=True)) == counted(
        await client({}).read_file(path)
    )


def counted(read: Transcript) -> object:
    return read.open_turns, read.open_events, read.open_calls, read.skipped.unreadable
