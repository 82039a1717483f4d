"""Keys planted in the environment and in the keyring, and the program used as a person and as a
client uses it, in its most talkative mode: they are in nothing that is said, kept or seen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process

from tests.behaviours import behaviour
from tests.cli.persons import REF, person
from tests.mcp.processes import Lines
from tests.providers_wire.loopback import Loopback, Say, complaint, loopback, stream
from tests.providers_wire.wires import SPOKEN, Spoken

TOP = Path(__file__).resolve().parents[2]
IN_THE_ENVIRONMENT = "sk-planted-environment-4c1d99"
IN_THE_KEYRING = "sk-planted-keyring-77ab02e5"
A_PART = 12
"""So much of a key's end is as bad as all of it; a thread's name holds no more than 15."""
KEYRING = f"""
def get_password(service, name):
    return {IN_THE_KEYRING!r} if service == "sidechat" else None
"""
TALKATIVE = {"SIDECHAT_DEBUG": "1", "PYTHONASYNCIODEBUG": "1"}
AGENTS = {
    "anthropic:claude-m": ("ANTHROPIC_BASE_URL", SPOKEN[0]),
    "openai:gpt-m": ("OPENAI_BASE_URL", SPOKEN[1]),
}
"""The first one's key is in the environment, the second one's in the keyring."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Person:
    """Who uses the program with `agent`, and all that was `seen` of it."""

    environ: dict[str, str]
    spoken: Spoken
    server: Loopback
    seen: list[bytes] = field(default_factory=list[bytes])

    @property
    def key(self) -> str:
        return IN_THE_ENVIRONMENT if self.spoken.name == "anthropic" else IN_THE_KEYRING

    async def run(self, *words: str) -> bytes:
        """A command; what it prints."""
        command = [sys.executable, "-m", "sidechat_mcp", *words]
        with anyio.fail_after(60):
            done = await anyio.run_process(
                command, env=self.environ, cwd=self.environ["PWD"], check=False, input=b""
            )
        self.seen += [done.stdout, done.stderr]
        return done.stdout

    @asynccontextmanager
    async def running(self, *words: str) -> AsyncGenerator[Process]:
        process = await anyio.open_process(
            [sys.executable, "-m", "sidechat_mcp", *words],
            env=self.environ,
            cwd=self.environ["PWD"],
            stderr=subprocess.PIPE,
        )
        async with process:
            try:
                yield process
            finally:
                if process.returncode is None:
                    process.kill()

    def titles(self) -> list[bytes]:
        """What anybody on the machine sees of every process and thread of it."""
        found: list[bytes] = []
        for process in Path("/proc").glob("[0-9]*"):
            for place in ("cmdline", "comm", "status", *_threads(process)):
                try:
                    found.append((process / place).read_bytes())
                except OSError:
                    continue  # It has ended meanwhile.
        return found


def _threads(process: Path) -> list[str]:
    try:
        return [f"task/{one}/comm" for one in os.listdir(process / "task")]
    except OSError:
        return []


@asynccontextmanager
async def using(agent: str, root: Path) -> AsyncGenerator[Person]:
    base, spoken = AGENTS[agent]
    (root / "packages").mkdir()
    (root / "packages" / "keyring.py").write_text(KEYRING)
    async with loopback(stream(*spoken.plain)) as server:
        environ = {
            **person(root),
            **TALKATIVE,
            "SIDECHAT_AGENT": agent,
            "ANTHROPIC_API_KEY": IN_THE_ENVIRONMENT,
            "PYTHONPATH": os.pathsep.join((str(TOP), str(root / "packages"))),
            base: server.url,
        }
        environ.pop("OPENAI_API_KEY", None)
        yield Person(environ, spoken, server)


async def commands(me: Person, session: str) -> None:
    """Every command that says something about a session, well and badly answered."""
    echo = f'{{"error":{{"message":"Your key {me.key} is not {me.key}."}}}}'.encode()
    for script in (complaint(401, echo), complaint(400, echo), stream(*me.spoken.plain)):
        me.server.script[:] = [script]
        await me.run("ask", "-s", session, "Why?")
    for words in (
        ("show", session),
        ("log", session),
        ("merge", "-s", session),
        ("replay", "--verify", "--json"),
        ("doctor",),
    ):
        await me.run(*words)


async def interrupted(me: Person, session: str) -> None:
    """A question whose answer hangs: what is seen of the processes then, and after a ^C."""
    half = me.spoken.plain[:-2]
    me.server.arrived = anyio.Event()
    me.server.script[:] = [Say(pieces=half, hang=True)]
    async with me.running("ask", "-s", session, "And this?") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        with anyio.fail_after(60):
            await me.server.arrived.wait()
            me.seen += me.titles()
            process.send_signal(signal.SIGINT)
            for stream in (process.stdout, process.stderr):
                me.seen += [piece async for piece in stream]


async def as_a_client(me: Person) -> None:
    """The server over stdio: every tool and every resource of a session."""
    me.server.script[:] = [stream(*me.spoken.plain)]
    async with me.running("serve") as process:
        lines = Lines(process)
        report: dict[str, Any] = await lines.call("fork", parent=f"claude-code:{REF}")
        session = report["session"]
        await lines.call("converse", session=session, message="Why?")
        me.server.script[:] = [complaint(401, f'{{"error":"{me.key}"}}'.encode())]
        await lines.call("converse", session=session, message="And why?")
        me.server.script[:] = [stream(*me.spoken.plain)]
        await lines.call("merge", session=session)
        await lines.call("sessions")
        for part in ("", "/log", "/turns/1"):
            uri = f"sidechat://sessions/{session}{part}"
            await lines.ask("resources/read", {"uri": uri})
        for method in ("tools/list", "prompts/list", "resources/list"):
            await lines.ask(method)
        me.seen += lines.seen
        assert process.stdin is not None
        assert process.stderr is not None
        await process.stdin.aclose()
        with anyio.fail_after(30):
            me.seen += [piece async for piece in process.stderr]


@pytest.mark.parametrize("agent", AGENTS)
@behaviour("wire:key-nowhere")
async def test_a_planted_key_is_in_nothing_that_is_said_kept_or_seen(
    agent: str, tmp_path: Path
) -> None:
    async with using(agent, tmp_path) as me:
        forked = json.loads(await me.run("fork", f"claude-code:{REF}", "-q", "Why?", "--json"))
        assert forked["first"]["answer"] == "Yes."
        await commands(me, forked["session"])
        await interrupted(me, forked["session"])
        await as_a_client(me)
        sent = [" ".join(asked.headers.values()) for asked in me.server.asked]
        bodies = [asked.body for asked in me.server.asked]
    assert sent
    assert all(me.key in headers for headers in sent), "the key was really used"
    kept = [path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert any(b"And why?" in one for one in kept), "the log was really written"
    assert len(me.seen) > 40
    for key in (IN_THE_ENVIRONMENT, IN_THE_KEYRING):
        end = key[-A_PART:].encode()
        assert [one for one in (*me.seen, *kept, *bodies) if end in one] == []
