"""pi's own fork as an agent, against a program that talks as the real one does. The real one is
run by `tests/rig/pi.sh`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidechat_mcp.clients.pi import room
from sidechat_mcp.clients.pi.client import Pi
from sidechat_mcp.clients.pi.hosted import Fork
from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.core.framing import FRAMING, SOURCE
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.errors import ProviderError
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import Spent
from sidechat_mcp.testing.provider_contract import Ask, ProviderContract
from tests.behaviours import behaviour
from tests.clients.pi_writing import Session, talk
from tests.clients.test_pi_contract import put

TOP = Path(__file__).resolve().parent.parent.parent


class House:
    """A home with one session, and a `pi` on the path that plays."""

    def __init__(self, root: Path, *more: str) -> None:
        self.home, self.record = root / "home", root / "record"
        self.cwd = str(root / "work")
        Path(self.cwd).mkdir(parents=True)
        self.session = talk("p-1", self.cwd)
        self.tip = self.session.tip or ""
        self.session.working("Fork this.", "mcp__sidechat__fork")
        put(self.home, self.cwd, "p-1", self.session.bytes)
        program = root / "bin" / "pi"
        program.parent.mkdir()
        played = TOP / "tests" / "clients" / "pi_playing.py"
        argv = [sys.executable, str(played), str(self.record)]
        program.write_text(f'#!/bin/sh\nexec {" ".join(argv)} "$@" {" ".join(more)}\n')
        program.chmod(0o755)
        self.environ = {
            **os.environ,
            "HOME": str(self.home),
            "SIDECHAT_HOME": str(root / "ours"),
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "PI_SESSION_ID": "p-1",
        }
        self.rooms = root / "ours" / "hosted" / "pi"

    @property
    def point(self) -> Point:
        return Point("pi", "p-1", "t-1", self.tip, self.cwd)

    def fork(self) -> Fork:
        made = Pi(self.environ).hosted(self.point)
        assert isinstance(made, Fork)
        return made

    @property
    def noted(self) -> list[Any]:
        return [json.loads(line) for line in self.record.read_text().splitlines()]

    @property
    def told(self) -> list[Any]:
        return [one for one in self.noted if isinstance(one, str)]

    @property
    def left(self) -> list[str]:
        return [path.name for path in self.rooms.iterdir()] if self.rooms.exists() else []


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
async def fork(house: House) -> Any:
    made = house.fork()
    yield made
    made.close()
    await made.gone()


def side(*said: tuple[str, str], session: str = "s1") -> Context:
    """A child's context: one inherited turn, the framing, then what was said."""
    own = [Message("context", text(FRAMING), source=SOURCE)]
    own += [Message(role, text(words)) for role, words in said]  # pyright: ignore[reportArgumentType]
    inherited = [Message("user", text("Q?")), Message("assistant", text("A."))]
    return Context(RequestHeader(), [*inherited, *own], 2, session)


async def ask(fork: Fork, context: Context) -> Reply:
    reply = Reply(TurnId("t"))
    with anyio.fail_after(20):
        async with fork.stream(context) as chunks:
            async for chunk in chunks:
                reply.fold(chunk)
    return reply


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@behaviour("pi:hosted", "hosted:turns")
async def test_turns_of_a_session_go_to_one_fork_and_each_is_told_only_what_is_new(
    fork: Fork, house: House
) -> None:
    first = await ask(fork, side(("user", "One?")))
    second = await ask(
        fork, side(("user", "One?"), ("assistant", "said 1: One?"), ("user", "Two?"))
    )
    assert (first.text, second.text) == ("said 1: One?", "said 2: Two?")
    assert first.spent == Spent(42, 3, 40, 0)
    assert first.done is not None
    assert (first.done.stop, first.done.model) == ("end", "played")
    assert house.told == [f"{FRAMING}\n\nOne?", "Two?"]


@behaviour("pi:hosted-cut", "hosted:guard")
async def test_a_copy_that_ends_at_the_cut_is_forked_in_a_folder_of_ours(
    fork: Fork, house: House
) -> None:
    before = house.session.bytes
    await ask(fork, side(("user", "One?")))
    begun = house.noted[0]
    room = house.rooms / house.left[0]
    assert begun["argv"] == [
        "--fork", str(room / "parent.jsonl"), "--session-id", "p-1",
        "--session-dir", str(room / "sessions"), "--mode", "rpc", "-e", str(room / "gate.ts"),
    ]  # fmt: skip
    assert (begun["last"], begun["environ"]) == (house.tip, {"SIDECHAT_HOSTED": "1"})
    assert oct((house.rooms / house.left[0]).stat().st_mode)[-3:] == "700"
    kept = next((house.home / ".pi").rglob("*.jsonl"))
    assert kept.read_bytes() == before


@behaviour("pi:hosted-gate", "hosted:denied")
async def test_nothing_is_asked_of_a_fork_that_does_not_show_the_gate(tmp_path: Path) -> None:
    house = House(tmp_path, "OPEN")
    fork = house.fork()
    with pytest.raises(ProviderError, match="did not load the gate"):
        await ask(fork, side(("user", "One?")))
    assert (house.told, house.left) == ([], [])


@behaviour("pi:hosted-gate")
async def test_denied_calls_are_borne_up_to_a_point(fork: Fork) -> None:
    reply = await ask(fork, side(("user", "CALL")))
    assert (reply.text, reply.calls, reply.spent) == ("said 1: CALL", (), Spent(84, 6, 80, 0))
    with pytest.raises(ProviderError, match="nothing but tools"):
        await ask(fork, side(("user", "CALLS"), session="s2"))


async def test_a_dialog_that_somebodys_extension_opens_is_called_off(
    fork: Fork, house: House
) -> None:
    await ask(fork, side(("user", "One?")))
    answered = {"type": "extension_ui_response", "id": "u1", "cancelled": True}
    assert answered in house.noted


async def test_a_question_is_never_a_command(fork: Fork, house: House) -> None:
    await ask(fork, side(("user", "One?")))
    said = (("user", "One?"), ("assistant", "said 1: One?"), ("user", "/deploy now"))
    await ask(fork, side(*said))
    assert house.told[1] == "[Side question] /deploy now"


@behaviour("pi:hosted")
async def test_after_a_restart_the_earlier_turns_go_along_under_a_label(
    fork: Fork, house: House
) -> None:
    said = (("user", "One?"), ("assistant", "An answer."), ("user", "Two?"))
    assert (await ask(fork, side(*said))).text == "said 1: Two?"
    assert house.told == [
        f"{FRAMING}\n\n[Earlier in this side conversation]\n\nuser: One?\n\nassistant: An answer."
        "\n\nTwo?"
    ]


@behaviour("pi:hosted")
async def test_a_fork_of_a_fork_is_told_what_the_first_one_said(fork: Fork, house: House) -> None:
    first = side(("user", "One?"), ("assistant", "An answer."))
    own = [Message("context", text(FRAMING), source=SOURCE), Message("user", text("Two?"))]
    context = Context(RequestHeader(), [*first.messages, *own], len(first.messages), "s2")
    await ask(fork, context)
    assert "assistant: An answer." in house.told[0]
    assert house.told[0].endswith("Two?")


async def test_an_answer_that_was_tried_again_is_one_answer(fork: Fork) -> None:
    assert (await ask(fork, side(("user", "RETRY")))).text == "said 1: RETRY"


async def test_an_answer_at_its_limit_says_so(fork: Fork) -> None:
    done = (await ask(fork, side(("user", "LONG")))).done
    assert done is not None
    assert done.stop == "max_tokens"


@behaviour("pi:hosted-gone", "hosted:cut")
@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("DIE", "ended before its answer"),
        ("FAIL", "529 overloaded"),
        ("REFUSED", "no key"),
        ("TAKEN", "took the question"),
    ],
)
async def test_what_went_wrong_is_said_nothing_is_left_and_the_next_turn_works(
    fork: Fork, house: House, words: str, why: str
) -> None:
    with pytest.raises(ProviderError, match=why):
        await ask(fork, side(("user", words)))
    assert (house.left, alive(house.noted[0]["pid"])) == ([], False)
    assert (await ask(fork, side(("user", "One?")))).text == "said 1: One?"


@behaviour("pi:hosted-cut")
@pytest.mark.parametrize("gone", ["entry", "session"])
async def test_a_point_that_is_no_more_is_said_to_be(house: House, gone: str) -> None:
    point = Point("pi", "p-1" if gone == "entry" else "p-9", "t", "0badc0de", house.cwd)
    fork = Fork(point, "pi", house.environ)
    with pytest.raises(ProviderError, match=r"rewritten|no session p-9"):
        await ask(fork, side(("user", "One?")))
    assert house.left == []


@behaviour("pi:hosted-gone", "hosted:cancel")
async def test_leaving_early_ends_the_fork(fork: Fork, house: House) -> None:
    with anyio.fail_after(20):
        async with fork.stream(side(("user", "WAIT"))) as chunks:
            async for _ in chunks:
                break
    assert (house.left, alive(house.noted[0]["pid"])) == ([], False)


@behaviour("pi:hosted-gone")
async def test_closing_ends_every_fork(house: House) -> None:
    fork = house.fork()
    await ask(fork, side(("user", "One?")))
    await ask(fork, side(("user", "Two?"), session="s2"))
    assert len(house.left) == 2
    fork.close()
    await fork.gone()
    pids = [one["pid"] for one in house.noted if "pid" in one]
    assert (house.left, [alive(pid) for pid in pids]) == ([], [False, False])


@behaviour("pi:hosted-gone", "hosted:orphans")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_killing_us_leaves_no_fork_behind_and_the_next_one_tidies_up(house: House) -> None:
    words = (
        "import anyio, json, sys, tests.clients.test_pi_hosted as t;"
        "from sidechat_mcp.clients.pi.hosted import Fork; from sidechat_mcp.ports.client import"
        " Point; point, environ = json.loads(sys.argv[1]);"
        "anyio.run(t.ask, Fork(Point(*point), environ['PI'], environ), t.side(('user', 'WAIT')))"
    )
    at = house.point
    environ = {**house.environ, "PI": house.fork().program}
    given = json.dumps([[at.client, at.ref, at.turn, at.record, at.cwd], environ])
    ours = subprocess.Popen([sys.executable, "-c", words, given], cwd=TOP)
    with anyio.fail_after(30):
        while not house.record.exists() or not house.told:
            await anyio.sleep(0.01)
        os.kill(ours.pid, signal.SIGKILL)
        ours.wait()
        while alive(house.noted[0]["pid"]):
            await anyio.sleep(0.01)
    (left,) = house.left
    parent = next((house.home / ".pi").rglob("*.jsonl"))
    made = room.make(house.environ, parent, house.tip)
    assert house.left == [made.path.name] != [left]
    made.close()


def test_without_the_program_there_is_no_fork(house: House, tmp_path: Path) -> None:
    assert Pi({"HOME": str(tmp_path), "PATH": str(tmp_path)}).hosted(house.point) is None


class TestContract(ProviderContract):
    @pytest.fixture
    async def provider(self, fork: Fork) -> Fork:
        return fork

    @pytest.fixture
    def ask(self) -> Ask:
        return lambda question: side(("user", question), session=question)


def test_a_session_of_the_first_version_is_cut_where_it_was_read(tmp_path: Path) -> None:
    session = Session("old", version=None)
    session.turn("One?")
    session.turn("Two?")
    parent = tmp_path / "old.jsonl"
    parent.write_bytes(session.bytes)
    made = room.make({"SIDECHAT_HOME": str(tmp_path / "ours")}, parent, "line-3")
    assert made.copy.read_bytes() == b"".join(session.bytes.splitlines(keepends=True)[:3])
    made.close()
