"""Our server in a process of its own, as a client starts it; and talking to it in bare lines."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

TOP = Path(__file__).resolve().parent.parent.parent
PROGRAM = [sys.executable, "-m", "tests.mcp.program"]
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    paths = {"HOME": str(home), "SIDECHAT_HOME": str(home), "PYTHONPATH": str(TOP)}
    return kept | paths | more


class Lines:
    """One JSON message a line, both ways."""

    def __init__(self, process: Process) -> None:
        assert process.stdout is not None
        self.process = process
        self.seen: list[bytes] = []
        self._out = BufferedByteReceiveStream(process.stdout)
        self._last = 0

    async def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send(line)

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request of the modern era; its id."""
        self._last += 1
        sent = {
            "jsonrpc": "2.0",
            "id": self._last,
            "method": method,
            "params": {"_meta": META, **(params or {})},
        }
        await self.send(json.dumps(sent).encode() + b"\n")
        return self._last

    async def line(self) -> bytes:
        with anyio.fail_after(15):
            line = await self._out.receive_until(b"\n", 64 << 20)
        self.seen.append(line)
        return line

    async def next(self) -> dict[str, Any]:
        return json.loads(await self.line())

    async def answer(self, id: int | str | None) -> dict[str, Any]:
        while True:
            message = await self.next()
            if message.get("id", "") == id and "method" not in message:
                return message

    async def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self.answer(await self.request(method, params))

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's structured result."""
        answer = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer["result"].get("isError"), answer
        return answer["result"]["structuredContent"]

    async def some(self) -> bytes:
        """What came, whether or not its line is whole."""
        with anyio.fail_after(15):
            return await self._out.receive()

    async def rest(self) -> list[bytes]:
        """The lines that still come until the output ends."""
        data = self._out.buffer
        assert self.process.stdout is not None
        async for chunk in self.process.stdout:
            data += chunk
        return data.splitlines(keepends=True)

    async def ended(self, *, within: float = 2.0) -> tuple[int, float]:
        """The exit code, and after how many seconds."""
        begun = anyio.current_time()
        with anyio.fail_after(within + 5):
            code = await self.process.wait()
        return code, anyio.current_time() - begun


@asynccontextmanager
async def started(
    home: Path, *command: str, stderr: int | None = None, **more: str
) -> AsyncGenerator[Lines]:
    process = await anyio.open_process(
        command or [*PROGRAM, "stdio"],
        env=environment(home, **more),
        cwd=home,
        stderr=stderr,
    )
    async with process:
        try:
            yield Lines(process)
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGKILL)
