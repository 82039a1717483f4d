"""How the server over pipes ends: soon, well, and with every turn closed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from sidechat_mcp.sidechat.reports import Caller
from tests.behaviours import behaviour
from tests.mcp.processes import META, PROGRAM, Lines, environment, started
from tests.mcp.program import opened

LISTEN = {"resourcesListChanged": True}
WITH_PROGRESS = {**META, "progressToken": "p"}
ENDINGS = ["end of input", "SIGTERM", "SIGINT", "SIGHUP"]


async def end(server: Lines, how: str) -> None:
    if how == "end of input":
        assert server.process.stdin is not None
        await server.process.stdin.aclose()
    else:
        server.process.send_signal(signal.Signals[how])


async def reasons(home: Path) -> list[str | None]:
    """How the turns of the only side session ended, read by another process."""
    async with opened(environment(home)) as sidechat:
        (listed,) = (await sidechat.sessions(Caller())).sessions
        state, _ = await sidechat.side(Caller(), listed.session)
        return [turn.reason for turn in state.own_turns]


@behaviour("mcp:ends-well")
@pytest.mark.parametrize("how", ENDINGS)
async def test_in_mid_answer_with_a_listener_the_server_ends_soon_and_the_turn_is_interrupted(
    tmp_path: Path, how: str
) -> None:
    async with started(tmp_path) as server:
        await server.request("subscriptions/listen", {"notifications": LISTEN})
        await server.call("fork")
        arguments = {"message": "wait for me"}
        params = {"name": "converse", "arguments": arguments, "_meta": WITH_PROGRESS}
        await server.request("tools/call", params)
        while (await server.next()).get("method") != "notifications/progress":
            pass
        await end(server, how)
        code, took = await server.ended()
        assert (code, took <= 2.0) == (0, True)
    assert await reasons(tmp_path) == ["interrupted"]


@behaviour("mcp:ends-well")
@pytest.mark.parametrize("how", ENDINGS[1:])
async def test_a_signal_among_many_requests_ends_the_server_quietly(
    tmp_path: Path, how: str
) -> None:
    async with started(tmp_path, stderr=subprocess.PIPE) as server:
        await server.call("fork")
        for n in range(60):
            arguments = {"message": f"Question {n}?"}
            await server.request("tools/call", {"name": "converse", "arguments": arguments})
        await end(server, how)
        code, _ = await server.ended()
        assert server.process.stderr is not None
        said = b"".join([chunk async for chunk in server.process.stderr])
    assert (code, said) == (0, b"")


@behaviour("mcp:ends-stuck")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_signals_that_come_again_while_a_thread_is_stuck_end_the_server_quietly(
    tmp_path: Path, how: signal.Signals
) -> None:
    async with started(tmp_path, stderr=subprocess.PIPE) as server:
        await server.call("fork")
        params = {"name": "converse", "arguments": {"message": "stuck"}, "_meta": WITH_PROGRESS}
        await server.request("tools/call", params)
        while (await server.next()).get("method") != "notifications/progress":
            pass
        began = anyio.current_time()
        with anyio.fail_after(5):
            while server.process.returncode is None:
                server.process.send_signal(how)
                await anyio.sleep(0.05)
        took = anyio.current_time() - began
        assert server.process.stderr is not None
        said = b"".join([chunk async for chunk in server.process.stderr])
    assert (took <= 2.0, said) == (True, b"")
    assert server.process.returncode in (0, -how)


@behaviour("mcp:ends-idle")
@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("used", [False, True])
async def test_an_idle_server_ends_soon_whether_or_not_it_was_ever_used(
    tmp_path: Path, how: str, used: bool
) -> None:
    async with started(tmp_path) as server:
        if used:
            await server.call("sessions")
        else:
            await server.ask("tools/list")
        await end(server, how)
        code, took = await server.ended()
    assert (code, took <= 2.0) == (0, True)


@behaviour("mcp:ends-unread")
async def test_a_client_that_stopped_reading_does_not_keep_the_server_from_ending(
    tmp_path: Path,
) -> None:
    async with started(tmp_path) as server:
        await server.call("fork")
        arguments = {"message": "long 3000000"}
        await server.request("tools/call", {"name": "converse", "arguments": arguments})
        assert b"xxx" in await server.some()
        # The rest of the answer is larger than all that is kept of it on the way.
        server.process.send_signal(signal.SIGTERM)
        code, took = await server.ended()
    assert (code, took <= 2.0) == (0, True)


@behaviour("mcp:no-orphan")
@pytest.mark.parametrize("talking", [False, True])
async def test_when_the_client_is_killed_no_server_is_left(tmp_path: Path, talking: bool) -> None:
    hello = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' if talking else b""
    async with started(tmp_path, sys.executable, "-c", CLIENT, *PROGRAM, "stdio") as client:
        pid = int(await client.line())
        if talking:
            await client.send(hello)
            assert b'"id":1' in await client.line()
        client.process.kill()
        with anyio.fail_after(5):
            while alive(pid):
                await anyio.sleep(0.02)


CLIENT = """
import subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(server.pid, flush=True)
for line in sys.stdin:
    server.stdin.write(line.encode())
    server.stdin.flush()
    print(server.stdout.readline().decode(), end="", flush=True)
"""


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be collected does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
