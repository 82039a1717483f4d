"""pi keeps the contract of clients."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sidechat_mcp.clients.pi.client import Pi
from sidechat_mcp.clients.pi.places import key
from sidechat_mcp.ports.client import Call
from sidechat_mcp.testing.client_contract import ClientContract, House
from tests.clients.pi_writing import Session, talk

FORK = "mcp__sidechat__fork"


def put(home: Path, cwd: str, ref: str, text: bytes, written: float = 1_796_000_000.0) -> Path:
    """A session's file where pi puts it."""
    path = home / ".pi" / "agent" / "sessions" / key(cwd) / f"2026-11-28T00-53-20-000Z_{ref}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    os.utime(path, (written, written))
    return path


def asking(ref: str, cwd: str, **arguments: object) -> Session:
    """A session that waits for our tool."""
    session = talk(ref, cwd)
    session.working("Fork this, please.", FORK, **arguments)
    return session


def call(cwd: str, tool: str | None = "fork", /, **arguments: object) -> Call:
    return Call({}, {"PI_CODING_AGENT": "true"}, [], cwd, tool, arguments)


def long_talk(cwd: str) -> Session:
    session = talk("grown", cwd)
    session.message("bashExecution", command="ls", output="a.txt", exitCode=0)
    session.entry("custom_message", customType="memo", content="A memo.", display=True)
    session.turn("And back?", "At 16:00 UTC.")
    session.user("Stop that.")
    session.answer("I be", "aborted")
    session.turn("Sum up.", "Two ferries.")
    session.entry("compaction", summary="Two ferries a day.", firstKeptEntryId=session.tip)
    session.turn("Thanks.", "Any time.")
    return session


@pytest.fixture
def house(tmp_path: Path) -> House:
    home = tmp_path / "home"
    cwd, elsewhere = str(tmp_path / "work"), str(tmp_path / "other")
    for folder in (cwd, elsewhere):
        Path(folder).mkdir()
    for n, ref in enumerate(("a1-oldest", "a2-middle", "a3-newest")):
        text = asking(ref, cwd, question=ref).bytes
        put(home, cwd, ref, text, 1_796_000_000.0 + 60 * n)
    moments = long_talk(cwd).moments
    return House(
        client=Pi({"HOME": str(home)}, patience=0.2),
        home=tmp_path,
        cwd=cwd,
        elsewhere=elsewhere,
        refs=["a3-newest", "a2-middle", "a1-oldest"],
        calling=lambda ref: call(cwd, question=ref),
        stray=call(cwd, question="somebody else's"),
        moments=moments,
        torn=moments[9] + b'{"type":"message","id":"0000000b","timest',
        alien=b"".join(json.dumps({"type": f"k{n}", "id": "s"}).encode() + b"\n" for n in range(9)),
    )


class TestPi(ClientContract):
    pass
