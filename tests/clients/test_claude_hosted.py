"""Claude Code's own fork as an agent, against a program that talks as the real one does. The
real one is run by `tests/rig/claude_hosted.sh`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidechat_mcp.clients.claude_code.hosted import Fork
from sidechat_mcp.clients.claude_code.program import INTERACTIVE, Program, Started
from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.core.framing import FRAMING, SOURCE
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.errors import ProviderError, Unreachable
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import Spent
from tests.behaviours import behaviour

TOP = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "record"


def made(record: Path) -> Fork:
    program = [sys.executable, str(TOP / "tests" / "clients" / "playing.py"), str(record)]
    environ = {**os.environ, "CLAUDE_CODE_MESSAGING_TOKEN": "secret"}
    point = Point("claude-code", "r1", "t1", "rec1", None)
    return Fork(point, lambda: Started(program, INTERACTIVE), environ, lambda: True)


@pytest.fixture
async def fork(record: Path) -> Any:
    one = made(record)
    yield one
    one.close()
    await one.gone()


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


def noted(record: Path) -> list[Any]:
    return [json.loads(line) for line in record.read_text().splitlines()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@behaviour("hosted:turns")
async def test_turns_of_a_session_go_to_one_fork_and_each_is_told_only_what_is_new(
    fork: Fork, record: Path
) -> None:
    first = await ask(fork, side(("user", "One?")))
    second = await ask(
        fork, side(("user", "One?"), ("assistant", "said 1: One?"), ("user", "Two?"))
    )
    assert (first.text, second.text) == ("said 1: One?", "said 2: Two?")
    assert first.spent == Spent(42, 3, 40, None)
    begun, *told = noted(record)
    assert told == [f"{FRAMING}\n\nOne?", "Two?"]
    assert begun["argv"][:4] == ["-p", "--resume", "r1", "--fork-session"]
    assert "--no-session-persistence" in begun["argv"]
    assert begun["argv"][begun["argv"].index("--resume-session-at") + 1] == "rec1"


@behaviour("hosted:guard")
async def test_what_is_started_is_guarded_and_knows_no_secret_of_the_session_above(
    fork: Fork, record: Path
) -> None:
    await ask(fork, side(("user", "One?")))
    assert (noted(record)[0]["guard"], noted(record)[0]["secrets"]) == ("1", [])


@behaviour("hosted:denied")
async def test_a_call_that_asks_is_denied_and_a_hook_denies_those_that_do_not(
    fork: Fork, record: Path
) -> None:
    assert (await ask(fork, side(("user", "CALL")))).text == "tool: deny"
    argv = noted(record)[0]["argv"]
    settings = json.loads(argv[argv.index("--settings") + 1])
    hook = settings["hooks"]["PreToolUse"][0]
    shown = subprocess.run(hook["hooks"][0]["command"], shell=True, capture_output=True, text=True)
    assert hook["matcher"] == "*"
    assert json.loads(shown.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


async def test_after_a_restart_the_earlier_turns_go_along_under_a_label(
    fork: Fork, record: Path
) -> None:
    said = (("user", "One?"), ("assistant", "An answer."), ("user", "Two?"))
    assert (await ask(fork, side(*said))).text == "said 1: Two?"
    told = noted(record)[1]
    assert told == (
        f"{FRAMING}\n\n[Earlier in this side conversation]\n\nuser: One?\n\nassistant: An answer."
        "\n\nTwo?"
    )


@behaviour("hosted:cut")
async def test_a_fork_that_dies_in_mid_answer_is_an_error_and_the_next_turn_works(
    fork: Fork,
) -> None:
    with pytest.raises(ProviderError, match="ended before its answer"):
        await ask(fork, side(("user", "DIE")))
    assert (await ask(fork, side(("user", "One?")))).text == "said 1: One?"


@behaviour("hosted:cancel")
async def test_leaving_early_ends_the_fork(fork: Fork, record: Path) -> None:
    with anyio.fail_after(20):
        async with fork.stream(side(("user", "WAIT"))) as chunks:
            async for _ in chunks:
                break
        pid = noted(record)[0]["pid"]
        while alive(pid):
            await anyio.sleep(0.01)


@behaviour("hosted:orphans")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_killing_us_leaves_no_fork_behind(record: Path) -> None:
    words = (
        "import anyio;from pathlib import Path;import tests.clients.test_claude_hosted as t;"
        "from sidechat_mcp.clients.claude_code.hosted import Fork;"
        "from sidechat_mcp.clients.claude_code.program import Started;"
        "from sidechat_mcp.ports.client import Point;import os,sys;"
        "f=Fork(Point('c','r1','t','x',None),"
        f"lambda:Started([sys.executable,'tests/clients/playing.py',{str(record)!r}],'cli'),"
        "dict(os.environ),lambda:False);"
        "anyio.run(t.ask,f,t.side(('user','WAIT')))"
    )
    ours = subprocess.Popen([sys.executable, "-c", words], cwd=TOP)
    with anyio.fail_after(30):
        while not record.exists() or len(noted(record)) < 2:
            await anyio.sleep(0.01)
        os.kill(ours.pid, signal.SIGKILL)
        ours.wait()
        while alive(noted(record)[0]["pid"]):
            await anyio.sleep(0.01)


def test_without_the_program_there_is_no_fork(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    assert Program(environ).started("r1") is None
    assert not Program(environ).there("r1")


def test_the_program_on_the_path_is_used_when_no_live_one_is_registered(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    assert Program(environ).started("r1") == Started([str(program)], INTERACTIVE)
    assert Program(environ).there("r1")


async def test_a_program_that_has_gone_since_is_said_to_be(fork: Fork) -> None:
    fork.started = lambda: None
    with pytest.raises(Unreachable, match="not here any more"):
        await ask(fork, side(("user", "One?")))


@pytest.mark.parametrize(
    ("display", "switches", "updates"),
    [("omitted", ["omitted"], "0"), ("summarized", ["summarized"], None), ("updates", [], None)],
)
async def test_thinking_is_shown_as_the_parents_last_request_had_it(
    record: Path, display: str, switches: list[str], updates: str | None
) -> None:
    fork = made(record)
    started = fork.started()
    assert started is not None
    fork.started = lambda: replace(started, display=display)
    await ask(fork, side(("user", "One?")))
    begun = noted(record)[0]
    argv: list[str] = begun["argv"]
    given = argv[argv.index("--thinking-display") + 1 :][:1] if switches else []
    assert (given, begun["updates"]) == (switches, updates)
    assert switches or "--thinking-display" not in argv
    fork.close()
    await fork.gone()


def test_how_thinking_was_shown_is_read_from_the_last_request_that_was_noted(
    tmp_path: Path,
) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    folder = tmp_path / ".claude" / "projects" / "-work"
    folder.mkdir(parents=True)
    requests = [
        {"type": "api-request", "params": {"thinking": {"type": "adaptive", "display": display}}}
        for display in ("updates", "omitted")
    ]
    told = {"type": "user", "entrypoint": "sdk-cli", "cwd": "/work", "text": '"display":"no"'}
    lines = [json.dumps(one, separators=(",", ":")) for one in (told, *requests, told)]
    (folder / "r1.jsonl").write_text("\n".join(lines) + "\n")
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    assert Program(environ).started("r1") == Started([str(program)], "sdk-cli", "omitted")
