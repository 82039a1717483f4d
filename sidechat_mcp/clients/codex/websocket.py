"""The client's half of a WebSocket (RFC 6455) over a stream that is there already: text messages
and nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import dataclass

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

LONGEST = 64 * 1024 * 1024
"""Bytes that one message may have."""
_HEAD = 64 * 1024
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


class NotSpoken(Exception):
    """The other side does not speak WebSocket as it should."""


@dataclass(slots=True)
class WebSocket:
    stream: ByteStream
    read: BufferedByteReceiveStream

    async def send(self, text: bytes) -> None:
        await self._frame(_TEXT, text)

    async def receive(self) -> bytes:
        """One whole message. Raises: anyio.EndOfStream when the other side closes, NotSpoken."""
        whole = b""
        while True:
            last, kind, body = await self._next()
            if kind == _CLOSE:
                raise anyio.EndOfStream
            if kind == _PING:
                await self._frame(_PONG, body)
            elif kind != _PONG:
                whole += body
                if len(whole) > LONGEST:
                    raise NotSpoken("a message is too long")
                if last:
                    return whole

    async def close(self) -> None:
        await self._frame(_CLOSE, b"\x03\xe8")

    async def _next(self) -> tuple[bool, int, bytes]:
        first, second = await self.read.receive_exactly(2)
        length = second & 0x7F
        if second & 0x80 or first & 0x70:
            raise NotSpoken("a frame is masked, or packed in a way that nobody asked for")
        if length > 125:
            size = await self.read.receive_exactly(2 if length == 126 else 8)
            length = int.from_bytes(size, "big")
        if length > LONGEST:
            raise NotSpoken("a frame is too long")
        return bool(first & 0x80), first & 0x0F, await self.read.receive_exactly(length)

    async def _frame(self, kind: int, body: bytes) -> None:
        size = len(body)
        if size < 126:
            head = bytes([0x80 | kind, 0x80 | size])
        elif size < 1 << 16:
            head = bytes([0x80 | kind, 0x80 | 126]) + size.to_bytes(2, "big")
        else:
            head = bytes([0x80 | kind, 0x80 | 127]) + size.to_bytes(8, "big")
        mask = os.urandom(4)
        masked = bytes(one ^ mask[n & 3] for n, one in enumerate(body))
        await self.stream.send(head + mask + masked)


async def opened(stream: ByteStream) -> WebSocket:
    """A WebSocket on `stream`, greetings exchanged. Raises: NotSpoken, anyio's stream errors."""
    key = base64.b64encode(os.urandom(16))
    asked = (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n"
    )
    await stream.send(asked)
    read = BufferedByteReceiveStream(stream)
    head = await read.receive_until(b"\r\n\r\n", _HEAD)
    status, *lines = head.split(b"\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in _split(lines)}
    proof = base64.b64encode(hashlib.sha1(key + _MAGIC).digest())
    if b" 101 " not in status + b" " or fields.get(b"sec-websocket-accept") != proof:
        raise NotSpoken("the greeting was not answered")
    return WebSocket(stream, read)


def _split(lines: list[bytes]) -> list[tuple[bytes, bytes, bytes]]:
    return [line.partition(b":") for line in lines]
