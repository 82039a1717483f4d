"""Codex's own fork as an agent, against a program that talks as the real one does. The real one
is run by `tests/rig/codex.sh`."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidechat_mcp.clients.codex.hosted import Fork
from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.core.framing import FRAMING, SOURCE
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.errors import (
    BadCredentials,
    ContextOverflow,
    Overloaded,
    ProviderError,
    Unreachable,
)
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import Spent
from sidechat_mcp.testing.provider_contract import Ask, ProviderContract
from tests.behaviours import behaviour
from tests.clients.codex_playing import DIGEST, KEY
from tests.clients.rollouts import Home, Rollout

TOP = Path(__file__).resolve().parent.parent.parent
THREAD = "01a2318d-00a2-74e0-a312-46437c5864ad"
TURNS = [f"01a2318d-00e5-74d1-9ae7-00000000000{n}" for n in range(3)]


def written(home: Home) -> Rollout:
    """A conversation of two turns in which the settings change, and one that is going on."""
    rollout = Rollout(THREAD)
    rollout.opens(model_provider="first-provider")
    for n, model in enumerate(("gpt-a", "gpt-b", "gpt-c")):
        policy = {"type": "danger-full-access" if n == 1 else "read-only"}
        rollout.began(model, TURNS[n], effort="high" if n else None, sandbox_policy=policy)
        rollout.asked(f"question {n}")
        if n == 2:
            break
        rollout.says(f"answer {n}")
        rollout.over()
        rollout.shown(f"put in after {n}")
    home.put(THREAD, rollout.text())
    return rollout


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "record"


def program(folder: Path, record: Path) -> str:
    path = folder / "codex"
    played = [sys.executable, "-m", "tests.clients.codex_playing", str(record)]
    path.write_text(f'#!/bin/sh\ncd {shlex.quote(str(TOP))}\nexec {shlex.join(played)} "$@"\n')
    path.chmod(0o755)
    return str(path)


def made(home: Home, record: Path, turn: str = TURNS[1], **environ: str) -> Fork:
    written(home)
    command = [program(home.root, record), "-c", "model_verbosity=low"]
    point = Point("codex", THREAD, turn, turn, None)
    return Fork(point, command, {**os.environ, **home.environ, **environ})


@pytest.fixture
async def fork(home: Home, record: Path) -> AsyncGenerator[Fork]:
    one = made(home, record)
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
    with anyio.fail_after(30):
        async with fork.stream(context) as chunks:
            async for chunk in chunks:
                reply.fold(chunk)
    return reply


def noted(record: Path) -> list[Any]:
    return [json.loads(line) for line in record.read_text().splitlines()]


def requests(record: Path, method: str) -> list[Any]:
    return [one["params"] for one in noted(record) if one.get("method") == method]


def starts(record: Path) -> list[Any]:
    return [one for one in noted(record) if "argv" in one]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


class TestCodexFork(ProviderContract):
    @pytest.fixture
    def provider(self, fork: Fork) -> Fork:
        return fork

    @pytest.fixture
    def ask(self) -> Ask:
        return lambda question: side(("user", question))


@behaviour("hosted:turns")
async def test_turns_of_a_session_go_to_one_thread_and_each_is_told_only_what_is_new(
    fork: Fork, record: Path
) -> None:
    first = await ask(fork, side(("user", "One?")))
    second = await ask(
        fork, side(("user", "One?"), ("assistant", "said 1: One?"), ("user", "Two?"))
    )
    assert (first.text, second.text) == ("said 1: One?", "said 2: Two?")
    assert first.spent == Spent(80, 7, 60, None)
    assert first.done is not None
    assert first.done.model == "played"
    told = [one["input"][0]["text"] for one in requests(record, "turn/start")]
    assert told == [f"{FRAMING}\n\nOne?", "Two?"]
    assert len(requests(record, "thread/fork")) == 1


@behaviour("codex:fork-as-it-stood")
async def test_the_fork_is_ephemeral_and_made_as_the_conversation_stood_then(
    fork: Fork, record: Path
) -> None:
    await ask(fork, side(("user", "One?")))
    (asked,) = requests(record, "thread/fork")
    assert asked == {
        "threadId": THREAD,
        "lastTurnId": TURNS[1],
        "ephemeral": True,
        "excludeTurns": True,
        "sandbox": "read-only",
        "approvalPolicy": "never",
        "model": "gpt-b",
        "modelProvider": "first-provider",
        "config": {
            "mcp_servers": {
                "notes": {
                    "default_tools_approval_mode": "prompt",
                    "tools": {"merge": {"approval_mode": "prompt"}},
                    "env": {"SIDECHAT_HOSTED": "1"},
                },
                "maps": {"default_tools_approval_mode": "prompt"},
                "off": {"default_tools_approval_mode": "prompt"},
            },
            "model_reasoning_effort": "high",
            "web_search": "live",
        },
    }
    assert requests(record, "thread/inject_items") == []


@behaviour("codex:fork-as-it-stood")
async def test_what_was_put_in_after_the_turn_is_put_into_the_fork_too(
    home: Home, record: Path
) -> None:
    turn = f"{TURNS[0]}--msg_{THREAD}-4"
    fork = made(home, record, turn)
    await ask(fork, side(("user", "One?")))
    fork.close()
    await fork.gone()
    (asked,) = requests(record, "thread/fork")
    (given,) = requests(record, "thread/inject_items")
    assert (asked["lastTurnId"], asked["model"]) == (TURNS[0], "gpt-a")
    assert "model_reasoning_effort" not in asked["config"]
    content = [{"type": "input_text", "text": "put in after 0"}]
    item = {"type": "message", "role": "developer", "content": content}
    assert given == {"threadId": "fork-1", "items": [item]}


@behaviour("hosted:denied", "hosted:guard")
async def test_nothing_is_asked_before_the_hook_is_in_force(fork: Fork, record: Path) -> None:
    await ask(fork, side(("user", "One?")))
    first, second = starts(record)
    assert first["argv"][:3] == ["app-server", "-c", "model_verbosity=low"]
    assert not any("hooks.state" in one for one in first["argv"])
    state = f'hooks.state={{"{KEY}"={{trusted_hash="{DIGEST}",enabled=true}}}}'
    assert state in second["argv"]
    assert second["guard"] == "1"
    await ask(fork, side(("user", "One?"), session="s2"))
    assert len(starts(record)) == 3, "it is vouched for once"


@behaviour("hosted:denied")
async def test_a_codex_without_the_hook_is_not_asked(home: Home, record: Path) -> None:
    fork = made(home, record, PLAY="OLD")
    with pytest.raises(ProviderError, match="does not run the hook"):
        await ask(fork, side(("user", "One?")))
    assert requests(record, "thread/fork") == []
    assert not any(alive(one["pid"]) for one in starts(record))


@behaviour("hosted:denied")
@pytest.mark.parametrize(
    ("words", "said"), [("RUN", "carry out a call"), ("LOOP", "nothing but tools")]
)
async def test_a_call_that_is_carried_out_ends_the_fork(
    fork: Fork, record: Path, words: str, said: str
) -> None:
    with pytest.raises(ProviderError, match=said):
        await ask(fork, side(("user", words)))
    assert not any(alive(one["pid"]) for one in starts(record))


@behaviour("hosted:denied")
async def test_leave_that_is_asked_for_is_not_given(fork: Fork) -> None:
    assert "read-only" in (await ask(fork, side(("user", "ASK")))).text


@behaviour("codex:failures")
@pytest.mark.parametrize(
    ("kind", "failure", "again"),
    [
        ("contextWindowExceeded", ContextOverflow, False),
        ("unauthorized", BadCredentials, False),
        ("serverOverloaded", Overloaded, True),
        ({"httpConnectionFailed": {"httpStatusCode": 502}}, Unreachable, True),
        (None, ProviderError, False),
    ],
)
async def test_a_failed_turn_is_told_in_our_words(
    fork: Fork, kind: Any, failure: type[ProviderError], again: bool
) -> None:
    with pytest.raises(failure) as failed:
        await ask(fork, side(("user", f"FAIL {json.dumps(kind)}")))
    assert (type(failed.value), failed.value.retryable) == (failure, again)
    assert str(failed.value) == "Codex did not answer: no"


async def test_after_a_restart_the_earlier_turns_go_along_under_a_label(
    fork: Fork, record: Path
) -> None:
    said = (("user", "One?"), ("assistant", "An answer."), ("user", "Two?"))
    assert (await ask(fork, side(*said))).text == "said 1: Two?"
    (told,) = requests(record, "turn/start")
    assert told["input"][0]["text"] == (
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
    with anyio.fail_after(30):
        async with fork.stream(side(("user", "WAIT"))) as chunks:
            async for _ in chunks:
                break
    assert not any(alive(one["pid"]) for one in starts(record))


@behaviour("hosted:orphans")
async def test_what_a_fork_started_ends_with_it(fork: Fork) -> None:
    server = int((await ask(fork, side(("user", "START")))).text)
    assert alive(server)
    fork.close()
    await fork.gone()
    with anyio.fail_after(10):
        while alive(server):
            await anyio.sleep(0.01)


async def test_a_turn_that_is_no_longer_there_cannot_be_forked(home: Home, record: Path) -> None:
    fork = made(home, record, "01a2318d-00e5-74d1-9ae7-0000000000ff")
    with pytest.raises(ProviderError, match="no longer in the conversation"):
        await ask(fork, side(("user", "One?")))
    assert not record.exists()


@behaviour("hosted:orphans")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_killing_us_leaves_no_fork_behind(home: Home, record: Path) -> None:
    words = (
        "import anyio,sys;from pathlib import Path;import tests.clients.test_codex_hosted as t;"
        "from tests.clients.rollouts import Home;"
        f"f=t.made(Home(Path({str(home.root)!r})),Path({str(record)!r}));"
        "anyio.run(t.ask,f,t.side(('user','WAIT')))"
    )
    ours = subprocess.Popen([sys.executable, "-c", words], cwd=TOP)
    with anyio.fail_after(30):
        while not record.exists() or not requests(record, "turn/start"):
            await anyio.sleep(0.01)
        os.kill(ours.pid, signal.SIGKILL)
        ours.wait()
        while any(alive(one["pid"]) for one in starts(record)):
            await anyio.sleep(0.01)


async def test_only_turns_that_the_client_knows_by_an_id_are_forked(home: Home) -> None:
    program(home.root, home.root / "record")
    client = home.client(PATH=str(home.root))
    for turn, can in ((TURNS[0], True), (f"{TURNS[0]}--o7", True), ("l3", False), ("", False)):
        hosted = client.hosted(Point("codex", THREAD, turn, "r", None))
        assert (hosted is not None) is can, turn
    point = Point("codex", THREAD, TURNS[0], "r", None)
    assert home.client(PATH=str(home.root / "none")).hosted(point) is None
