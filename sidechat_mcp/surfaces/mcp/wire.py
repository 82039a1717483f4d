"""Lines of JSON over two descriptors: read and written without a thread, so that nothing has to be
waited for when the process ends. A line ends at byte 0x0A and nowhere else."""

from __future__ import annotations

import os
import select
from collections.abc import AsyncIterator

import anyio
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from sidechat_mcp.surfaces.mcp.refusals import refusal, too_long, unanswerable

CHUNK = 1 << 16
LONGEST = 64 << 20
"""Bytes of one line; a longer one is refused, not kept."""
SEPARATORS = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\u0085": "\\u0085"}
"""Legal inside JSON text, but many readers end a line there."""


class Wire:
    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._room = select.poll()
        self._room.register(writing, select.POLLOUT)
        self._unanswered: set[int | str] = set()
        self._answered = anyio.Event()

    async def drained(self) -> None:
        """Return once every request that was read is answered; streams of changes do not count."""
        while self._unanswered:
            self._answered = anyio.Event()
            await self._answered.wait()

    async def read(
        self,
        messages: MemoryObjectSendStream[SessionMessage | Exception],
        refusals: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        """Hand on every message until the input ends; what is none is answered at once."""
        async with refusals:
            async for line in self._lines():
                refused = too_long(LONGEST)
                if line is not None:
                    refused = await self._handed_on(line, messages)
                if refused is not None:
                    await refusals.send(SessionMessage(refused))

    async def write(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write every message until their stream is closed. Raises: OSError (nobody reads)."""
        async for message in messages:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            if not text.isascii():
                for separator, escape in SEPARATORS.items():
                    text = text.replace(separator, escape)
            await self._write(text.encode() + b"\n")
            if isinstance(message.message, JSONRPCResponse | JSONRPCError):
                self._unanswered.discard("" if message.message.id is None else message.message.id)
                self._answered.set()

    async def _handed_on(
        self, line: bytes, messages: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> JSONRPCError | None:
        """Hand a message on, or say why the line is none."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            return refusal(line)
        if isinstance(message, JSONRPCNotification) and (refused := unanswerable(line)):
            return refused
        if isinstance(message, JSONRPCRequest) and message.method != "subscriptions/listen":
            self._unanswered.add(message.id)
        await messages.send(SessionMessage(message))
        return None

    async def _lines(self) -> AsyncIterator[bytes | None]:
        """Lines without their ends; None stands for one that was too long."""
        pending = bytearray()
        searched = 0
        skipping = False
        while chunk := await self._chunk():
            pending += chunk
            while (end := pending.find(b"\n", searched)) >= 0:
                line = bytes(pending[:end]).strip()
                del pending[: end + 1]
                searched = 0
                if line and not skipping:
                    yield line
                skipping = False
            searched = len(pending)
            if searched > LONGEST:
                if not skipping:
                    yield None
                skipping, searched = True, 0
                pending.clear()

    async def _chunk(self) -> bytes:
        try:
            await anyio.wait_readable(self._reading)
        except PermissionError:
            await checkpoint()  # A plain file: it never makes anybody wait.
        try:
            return os.read(self._reading, CHUNK)
        except OSError:
            return b""

    async def _write(self, line: bytes) -> None:
        """Whole, and never blocking: while there is room for anything there is for PIPE_BUF."""
        rest = memoryview(line)
        while rest:
            if not self._room.poll(0):
                await anyio.wait_writable(self._writing)
            rest = rest[os.write(self._writing, rest[: select.PIPE_BUF]) :]
