"""A note into an open thread over the daemon's socket, against one that talks as the real one
does. The real one is run by `tests/rig/codex_live.sh`."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from sidechat_mcp.clients.codex import deliver
from sidechat_mcp.clients.codex.websocket import NotSpoken, opened
from tests.behaviours import behaviour
from tests.clients.rollouts import Home

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def frame(body: bytes, kind: int = 1, last: bool = True) -> bytes:
    head = bytes([(0x80 if last else 0) | kind])
    if len(body) < 126:
        return head + bytes([len(body)]) + body
    return head + bytes([126]) + len(body).to_bytes(2, "big") + body


async def unmasked(read: BufferedByteReceiveStream) -> tuple[int, bytes]:
    first, second = await read.receive_exactly(2)
    assert second & 0x80, "a client masks all it sends"
    length = second & 0x7F
    if length > 125:
        size = await read.receive_exactly(2 if length == 126 else 8)
        length = int.from_bytes(size, "big")
    mask = await read.receive_exactly(4)
    body = await read.receive_exactly(length)
    return first & 0x0F, bytes(one ^ mask[n & 3] for n, one in enumerate(body))


@dataclass
class Daemon:
    """What was asked of it, by one caller at a time; `left` is set when that one has left.
    `status` is the thread's; `greets` how it answers a greeting."""

    status: str = "idle"
    greets: str = "101 Switching Protocols"
    asked: list[Any] = field(default_factory=list[Any])
    said: list[int] = field(default_factory=list[int])
    left: anyio.Event | None = None

    async def serve(self, stream: SocketStream) -> None:
        self.left = anyio.Event()
        async with stream:
            read = BufferedByteReceiveStream(stream)
            head = await read.receive_until(b"\r\n\r\n", 9999)
            key = head.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
            proof = base64.b64encode(hashlib.sha1(key + MAGIC).digest()).decode()
            greeting = f"HTTP/1.1 {self.greets}\r\nsec-websocket-accept: {proof}\r\n\r\n"
            await stream.send(greeting.encode())
            try:
                while await self._answer(stream, *await unmasked(read)):
                    pass
            except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError):
                pass
        self.left.set()

    async def _answer(self, stream: SocketStream, kind: int, body: bytes) -> bool:
        self.said.append(kind)
        if kind != 1:
            return kind != 8
        asked = json.loads(body)
        self.asked.append(asked)
        if "id" in asked:
            result = {"thread": {"status": {"type": self.status}}, "filling": "x" * 300}
            answer = json.dumps({"id": asked["id"], "result": result}).encode()
            # A ping, news of somebody else's, and the answer in two frames.
            await stream.send(frame(b"are you there", 9) + frame(b'{"method":"news"}'))
            await stream.send(frame(answer[:200], last=False) + frame(answer[200:], 0))
        return True


@pytest.fixture
def home() -> Iterator[Home]:
    # A socket's path has to be short, and that of a test's own folder is not.
    with TemporaryDirectory(prefix="sc") as root:
        yield Home(Path(root))


@asynccontextmanager
async def served(home: Home, daemon: Daemon) -> AsyncGenerator[Path]:
    path = deliver.socket(home.config)
    path.parent.mkdir(parents=True)
    async with await anyio.create_unix_listener(path) as listener, anyio.create_task_group() as all:
        all.start_soon(listener.serve, daemon.serve)
        yield path
        if daemon.left is not None:
            await daemon.left.wait()
        all.cancel_scope.cancel()


@behaviour("codex:inject")
async def test_a_note_is_put_into_an_idle_thread_as_a_developers_message(home: Home) -> None:
    daemon = Daemon()
    client = home.client(SIDECHAT_DOORS="opencode-noreply, codex-inject")
    with anyio.fail_after(10):
        async with served(home, daemon):
            assert await client.offer("t1", "/w", "A note.\u2028" + "x" * 70_000) == "inject"
    methods = [one["method"] for one in daemon.asked]
    assert methods == ["initialize", "initialized", "thread/read", "thread/inject_items"]
    assert daemon.asked[0]["params"]["capabilities"] == {"experimentalApi": True}
    content = [{"type": "input_text", "text": "A note.\u2028" + "x" * 70_000}]
    item = {"type": "message", "role": "developer", "content": content}
    assert daemon.asked[-1]["params"] == {"threadId": "t1", "items": [item]}
    assert daemon.said.count(10) == 3, "each ping was answered"
    assert daemon.said[-1] == 8


@behaviour("codex:inject")
@pytest.mark.parametrize("status", ["active", "notLoaded", "systemError"])
async def test_a_thread_that_is_not_open_and_idle_is_left_alone(home: Home, status: str) -> None:
    daemon = Daemon(status)
    with anyio.fail_after(10):
        async with served(home, daemon):
            assert await home.client(SIDECHAT_DOORS="codex-inject").offer("t1", None, "x") is None
    assert "thread/inject_items" not in [one["method"] for one in daemon.asked]


@behaviour("codex:inject")
async def test_a_door_that_nobody_opened_is_not_tried(home: Home) -> None:
    daemon = Daemon()
    with anyio.fail_after(10):
        async with served(home, daemon):
            for doors in ("", "inject", "codex", "codex-injected,x"):
                assert await home.client(SIDECHAT_DOORS=doors).offer("t1", None, "x") is None
    assert daemon.said == []


async def test_without_a_daemon_or_with_another_program_there_the_door_is_shut(home: Home) -> None:
    client = home.client(SIDECHAT_DOORS="codex-inject")
    assert await client.offer("t1", None, "x") is None
    with anyio.fail_after(10):
        async with served(home, Daemon(greets="200 OK")):
            assert await client.offer("t1", None, "x") is None
    far = home.client(SIDECHAT_DOORS="codex-inject", CODEX_HOME=f"/{'x' * 200}")
    assert await far.offer("t1", None, "x") is None


async def test_what_is_no_websocket_is_told_as_such(home: Home) -> None:
    with anyio.fail_after(10):
        async with (
            served(home, Daemon(greets="426 Upgrade Required")) as path,
            await anyio.connect_unix(path) as stream,
        ):
            with pytest.raises(NotSpoken):
                await opened(stream)
