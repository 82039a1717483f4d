"""A real HTTP server on a port of this machine that says exactly what a test wants, byte by byte,
and remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import SocketAttribute, SocketStream


@dataclass(frozen=True, slots=True)
class Say:
    """One response. `pieces` are written one by one; `cut` closes the connection without the end
    that was promised; `hang` waits for the other side to leave instead of ending."""

    status: int = 200
    pieces: Sequence[bytes] = ()
    headers: Sequence[tuple[str, str]] = (("content-type", "text/event-stream"),)
    cut: bool = False
    hang: bool = False


def stream(*events: bytes) -> Say:
    return Say(pieces=events)


def complaint(status: int, body: bytes, **headers: str) -> Say:
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Say(status, [body], [("content-type", "application/json"), *named])


@dataclass(frozen=True, slots=True)
class Asked:
    line: str
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass(slots=True)
class Loopback:
    """`script` is said in order, its last word again and again. `gone` is set when a client left
    before the end. Who only looks something up (GET) is told `models` in the same way."""

    script: list[Say]
    models: list[Say]
    url: str = ""
    asked: list[Asked] = field(default_factory=list[Asked])
    looked: list[Asked] = field(default_factory=list[Asked])
    arrived: anyio.Event = field(default_factory=anyio.Event)
    gone: anyio.Event = field(default_factory=anyio.Event)

    async def serve(self, client: SocketStream) -> None:
        async with client:
            buffered = b""
            while b"\r\n\r\n" not in buffered:
                try:
                    buffered += await client.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return
            head, _, body = buffered.partition(b"\r\n\r\n")
            line, *fields = head.decode().split("\r\n")
            headers = {name.lower(): value for name, value in (f.split(": ", 1) for f in fields)}
            while len(body) < int(headers.get("content-length", 0)):
                body += await client.receive()
            looks = line.startswith("GET ")
            heard, script = (self.looked, self.models) if looks else (self.asked, self.script)
            heard.append(Asked(line, headers, body, anyio.current_time()))
            if not looks:
                self.arrived.set()
            say = script[min(len(heard), len(script)) - 1]
            try:
                await self._say(client, say)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.gone.set()

    async def _say(self, client: SocketStream, say: Say) -> None:
        head = [f"HTTP/1.1 {say.status} Said", "transfer-encoding: chunked", "connection: close"]
        head += [f"{name}: {value}" for name, value in say.headers]
        await client.send("\r\n".join([*head, "", ""]).encode())
        for piece in say.pieces:
            if piece:
                await client.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        if say.hang:
            await client.receive()
        elif not say.cut:
            await client.send(b"0\r\n\r\n")


@asynccontextmanager
async def loopback(*script: Say, models: Sequence[Say] = ()) -> AsyncGenerator[Loopback]:
    server = Loopback(list(script), list(models) or [complaint(404, b"{}")])
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    server.url = f"http://127.0.0.1:{port}"
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()
