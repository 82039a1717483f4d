"""opencode's own forks as an agent, against a program that serves as the real one does. The real
one is run by `tests/rig/opencode.sh`."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidechat_mcp.clients.opencode import server
from sidechat_mcp.clients.opencode.client import Opencode
from sidechat_mcp.clients.opencode.hosted import Fork
from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.core.framing import FRAMING, SOURCE
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.errors import AnswerCut, Overloaded, ProviderError, Unreachable
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import Spent
from sidechat_mcp.testing.provider_contract import Ask, ProviderContract
from tests.behaviours import behaviour
from tests.clients.cabin import Home, Talk, put

TOP = Path(__file__).resolve().parent.parent.parent
Asked = list[tuple[str, Any]]


class House:
    """A home with one conversation that has gone on, and an `opencode` on the path that plays."""

    def __init__(self, root: Path) -> None:
        self.home, self.record = Home(root), root / "record"
        self.cwd = self.home.folder("work")
        self.talk = Talk("ses_parent", self.cwd)
        self.talk.turn("one", "An answer")
        self.tip = self.talk.rows[-1][0]["id"]
        self.later = self.talk.says("two", agent="plan")
        self.talk.answers("Another answer")
        self.home.put(self.talk)
        program = root / "bin" / "opencode"
        program.parent.mkdir()
        played = f"{sys.executable} -m tests.clients.opencode_playing {self.record}"
        program.write_text(f'#!/bin/sh\nexec env PYTHONPATH={TOP} {played} "$@"\n')
        program.chmod(0o755)
        self.environ = {
            **os.environ,
            **self.home.environ,
            "SIDECHAT_HOME": str(root / "ours"),
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "SHELL": "/usr/bin/zsh",
            "OPENCODE_CONFIG_CONTENT": '{"theme": "dark", "compaction": {"reserved": 5}}',
            "OPENCODE_SERVER_USERNAME": "somebody",
        }
        self.rooms = root / "ours" / "hosted" / "opencode"

    @property
    def point(self) -> Point:
        return Point("opencode", "ses_parent", "t", self.tip, self.cwd)

    def fork(self, **more: str) -> Fork:
        made = Opencode({**self.environ, **more}).hosted(self.point)
        assert isinstance(made, Fork)
        return made

    @property
    def noted(self) -> list[Any]:
        return [json.loads(line) for line in self.record.read_text().splitlines()]

    @property
    def begun(self) -> list[Any]:
        return [one for one in self.noted if "argv" in one]

    def asked(self, words: str) -> list[Any]:
        return [one["body"] for one in self.noted if words in one.get("request", "")]

    @property
    def prompts(self) -> list[Any]:
        return [one for one in self.noted if "prompt_async" in one.get("request", "")]

    def change(self) -> None:
        """Put into the client's database what the conversation is now."""
        with sqlite3.connect(self.home.files / "opencode.db") as database:
            put(database, self.talk)

    @property
    def told(self) -> list[str]:
        return [one["body"]["parts"][0]["text"] for one in self.prompts]

    @property
    def left(self) -> list[str]:
        return [path.name for path in self.rooms.iterdir()] if self.rooms.exists() else []

    def files(self) -> dict[str, tuple[bytes, int]]:
        """What the client keeps."""
        found = sorted(one for one in self.home.files.rglob("*") if one.is_file())
        return {str(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in found}


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
async def fork(house: House) -> AsyncIterator[Fork]:
    made = house.fork()
    yield made
    made.close()
    await made.gone()


def side(*said: tuple[str, str], session: str = "s1") -> Context:
    """A child's context: one inherited turn, the framing, then what was said."""
    own = [Message("context", text(FRAMING), source=SOURCE)]
    own += [Message(role, text(words)) for role, words in said]  # pyright: ignore[reportArgumentType]
    inherited = [Message("user", text("one")), Message("assistant", text("An answer"))]
    return Context(RequestHeader(), [*inherited, *own], 2, session)


async def ask(fork: Fork, context: Context) -> Reply:
    reply = Reply(TurnId("t"))
    with anyio.fail_after(30):
        async with fork.stream(context) as chunks:
            async for chunk in chunks:
                reply.fold(chunk)
    return reply


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@behaviour("opencode:hosted")
async def test_turns_of_a_session_go_to_one_fork_and_each_is_told_only_what_is_new(
    fork: Fork, house: House
) -> None:
    first = await ask(fork, side(("user", "One?")))
    second = await ask(
        fork, side(("user", "One?"), ("assistant", "said 1: One?"), ("user", "Two?"))
    )
    other = await ask(fork, side(("user", "Three?"), session="s2"))
    said = [first.text, second.text, other.text]
    assert said == ["said 1: One?", "said 2: Two?", "said 1: Three?"]
    assert first.spent == Spent(42, 3, 40, 0)
    assert first.done is not None
    assert (first.done.stop, first.done.model) == ("end", "stub/played")
    assert house.told == [f"{FRAMING}\n\nOne?", "Two?", f"{FRAMING}\n\nThree?"]
    assert (len(house.begun), len(house.left)) == (2, 2)


@behaviour("opencode:hosted")
async def test_it_is_asked_over_what_was_there_at_the_cut_with_the_voice_it_had(
    fork: Fork, house: House
) -> None:
    house.talk.revert = {"messageID": house.later}
    house.change()
    await ask(fork, side(("user", "One?")))
    (prompt,) = house.prompts
    assert prompt["messages"] == [row["id"] for row, _ in house.talk.rows[:2]]
    assert prompt["parts"] == 3
    assert prompt["session"] == ["ses_parent", None, "global", None], "by the parent's own id"
    body = prompt["body"]
    assert (body["agent"], body["model"]) == ("build", {"providerID": "stub", "modelID": "one"})
    house.tip = house.talk.rows[-1][0]["id"]
    whole = house.fork()
    await ask(whole, side(("user", "One?")))
    whole.close()
    await whole.gone()
    assert len(house.prompts[-1]["messages"]) == 4
    assert house.prompts[-1]["body"]["agent"] == "plan"


@behaviour("opencode:hosted")
async def test_what_was_taken_back_of_the_last_message_is_not_there(
    fork: Fork, house: House
) -> None:
    house.talk.revert = {"messageID": house.tip, "partID": "prt_ses_parent_0001_0001"}
    house.change()
    await ask(fork, side(("user", "One?")))
    assert house.prompts[0]["parts"] == 2


@behaviour("opencode:never-written")
async def test_nothing_of_the_clients_is_changed_and_who_is_signed_in_is_shared(
    fork: Fork, house: House
) -> None:
    (house.home.files / "auth.json").write_text("{}")
    before = house.files()
    await ask(fork, side(("user", "One?")))
    (begun,), room = house.begun, house.rooms / house.left[0]
    assert begun["environ"]["XDG_DATA_HOME"] == str(room / "data")
    assert begun["environ"]["XDG_STATE_HOME"] == str(room / "state")
    assert begun["environ"]["OPENCODE_DB"] == str(room / "data" / "opencode" / "opencode.db")
    signed_in = room / "data" / "opencode" / "auth.json"
    assert signed_in.readlink() == house.home.files / "auth.json"
    assert oct(room.stat().st_mode)[-3:] == "700"
    assert house.files() == before


@behaviour("opencode:denied")
async def test_every_call_is_denied_by_rules_that_hide_no_tool_but_a_strangers(
    fork: Fork, house: House
) -> None:
    house.talk.permission = [{"permission": "question", "pattern": "*", "action": "deny"}]
    house.change()
    await ask(fork, side(("user", "One?")))
    (room,) = house.rooms.iterdir()
    with sqlite3.connect(room / "data" / "opencode" / "opencode.db") as database:
        ((rules,),) = database.execute("SELECT permission FROM session")
    assert [(one["permission"], one["pattern"], one["action"]) for one in json.loads(rules)] == [
        ("*", "?*", "deny"),
        ("edit", "*", "deny"),
        ("question", "*", "deny"),
        ("deploy", "*", "deny"),
    ]


@behaviour("opencode:denied", "opencode:alone")
async def test_its_server_is_guarded_does_nothing_alone_and_has_a_shell_that_refuses(
    fork: Fork, house: House
) -> None:
    await ask(fork, side(("user", "One?")))
    (begun,), room = house.begun, house.rooms / house.left[0]
    shell = room / "bin" / "zsh"
    assert begun["argv"][:4] == ["serve", "--hostname", "127.0.0.1", "--port"]
    assert begun["cwd"] == house.cwd
    assert begun["environ"]["SIDECHAT_HOSTED"] == "1"
    assert begun["environ"]["OPENCODE_SERVER_USERNAME"] is None
    assert json.loads(begun["environ"]["OPENCODE_CONFIG_CONTENT"]) == {
        "theme": "dark",
        "shell": str(shell),
        "snapshot": False,
        "share": "disabled",
        "autoupdate": False,
        "compaction": {"auto": False, "prune": False},
    }
    refused = subprocess.run([shell, "-c", "touch hacked"], cwd=house.cwd, capture_output=True)
    assert (refused.returncode, os.listdir(house.cwd)) == (126, [])
    assert b"read-only" in refused.stdout


@behaviour("opencode:denied")
async def test_without_its_rules_nothing_is_asked(house: House) -> None:
    lax = house.fork(PLAYED_LAX="1")
    with pytest.raises(ProviderError, match="read-only"):
        await ask(lax, side(("user", "One?")))
    assert (house.told, house.left) == ([], [])


@behaviour("opencode:denied")
async def test_a_question_that_nobody_can_answer_is_rejected(fork: Fork) -> None:
    assert (await ask(fork, side(("user", "CALL")))).text == "the question was rejected"


@behaviour("opencode:cleaned-up")
async def test_what_is_closed_leaves_no_process_and_no_room(house: House) -> None:
    made = house.fork()
    await ask(made, side(("user", "One?")))
    await ask(made, side(("user", "One?"), session="s2"))
    assert all(alive(one["pid"]) for one in house.begun)
    made.close()
    await made.gone()
    assert not any(alive(one["pid"]) for one in house.begun)
    assert house.left == []


@behaviour("opencode:cleaned-up")
async def test_who_leaves_in_mid_answer_ends_it_and_the_next_turn_hears_it_all(
    fork: Fork, house: House
) -> None:
    with anyio.fail_after(30):
        async with fork.stream(side(("user", "WAIT"))) as chunks:
            async for _ in chunks:
                break
    assert (alive(house.begun[0]["pid"]), house.left) == (False, [])
    again = side(("user", "WAIT"), ("assistant", "said"), ("user", "Two?"))
    assert (await ask(fork, again)).text == "said 1: Two?"
    assert house.told[-1].startswith(FRAMING)
    assert "user: WAIT\n\nassistant: said\n\nTwo?" in house.told[-1]


@behaviour("opencode:cleaned-up")
async def test_a_room_that_a_killed_process_left_goes_and_one_in_use_stays(
    fork: Fork, house: House
) -> None:
    (house.rooms / "gone").mkdir(parents=True)
    (house.rooms / "gone" / "lock").touch()
    await ask(fork, side(("user", "One?")))
    used = house.left
    assert "gone" not in used
    await ask(fork, side(("user", "One?"), session="s2"))
    assert len(house.left) == 2
    assert set(used) < set(house.left)


@behaviour("opencode:hosted")
async def test_an_answer_that_breaks_off_or_fails_says_why(fork: Fork, house: House) -> None:
    with pytest.raises(Overloaded, match="529"):
        await ask(fork, side(("user", "ERROR")))
    with pytest.raises(AnswerCut):
        await ask(fork, side(("user", "DIE")))
    assert (await ask(fork, side(("user", "Again?")))).text == "said 1: Again?"
    assert len(house.begun) == 3
    broken = house.fork(PLAYED_BROKEN="1")
    with pytest.raises(Unreachable, match="it ended at once"):
        await ask(broken, side(("user", "One?")))


async def test_a_turn_that_is_gone_is_not_answered(fork: Fork, house: House) -> None:
    house.talk.rows.clear()
    house.change()
    with pytest.raises(ProviderError, match="Fork it again"):
        await ask(fork, side(("user", "One?")))


def test_there_is_no_fork_without_a_program_a_folder_or_a_conversation(house: House) -> None:
    nowhere = {**house.environ, "PATH": "/nowhere"}
    assert Opencode(nowhere).hosted(house.point) is None
    for ref, cwd in (("ses_x", house.cwd), ("ses_parent", "/nowhere"), ("ses_parent", None)):
        point = Point("opencode", ref, "t", house.tip, cwd)
        assert Opencode(house.environ).hosted(point) is None


@behaviour("opencode:cleaned-up")
async def test_it_does_not_outlive_us_even_when_we_are_killed(house: House) -> None:
    script = (
        "import anyio, json, os, sys\n"
        "from tests.clients.test_opencode_hosted import House, ask, side\n"
        "from pathlib import Path\n"
        "house = House.__new__(House)\n"
        "house.__dict__.update(json.loads(sys.argv[1]))\n"
        "from sidechat_mcp.clients.opencode.hosted import Fork\n"
        "from sidechat_mcp.ports.client import Point\n"
        "point = Point('opencode', 'ses_parent', 't', house.tip, house.cwd)\n"
        "parent = Path(house.parent)\n"
        "fork = Fork(point, parent, house.program, house.cwd, house.environ)\n"
        "async def main():\n"
        "    await ask(fork, side(('user', 'One?')))\n"
        "    print('answered', flush=True)\n"
        "    await anyio.sleep(60)\n"
        "anyio.run(main)\n"
    )
    told = {
        "tip": house.tip,
        "cwd": house.cwd,
        "environ": house.environ,
        "parent": str(house.home.files / "opencode.db"),
        "program": str(house.record.parent / "bin" / "opencode"),
    }
    argv = [sys.executable, "-c", script, json.dumps(told)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=TOP) as ours:
        assert ours.stdout is not None
        assert await anyio.to_thread.run_sync(ours.stdout.readline) == b"answered\n"
        os.kill(ours.pid, signal.SIGKILL)
    pid = house.begun[0]["pid"]
    with anyio.fail_after(2):
        while alive(pid):
            await anyio.sleep(0.02)


async def test_what_is_tied_to_its_input_ends_with_it() -> None:
    argv = [*server.TIED, sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tied:
        assert tied.stdout is not None
        assert tied.stdin is not None
        assert tied.stdout.readline() == b"1\n"
        tied.stdin.close()
        with anyio.fail_after(5):
            assert await anyio.to_thread.run_sync(tied.stdout.read) == b""


class TestContract(ProviderContract):
    @pytest.fixture
    def provider(self, fork: Fork) -> Fork:
        return fork

    @pytest.fixture
    def ask(self) -> Ask:
        return lambda question: side(("user", question), session=question)
