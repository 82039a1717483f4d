"""One connection over a client's pipes, from the first line to a clean end."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from sidechat_mcp.config import load
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp.logs import to_stderr
from sidechat_mcp.surfaces.mcp.server import SidechatServer, serving
from sidechat_mcp.surfaces.mcp.stdio import ENDINGS, end_soon
from sidechat_mcp.surfaces.mcp.wire import Wire

DRAIN = 0.6
"""Seconds that what was asked before the input ended has left to be answered."""

log = logging.getLogger("sidechat_mcp")

Messages = MemoryObjectSendStream[SessionMessage | Exception]
Configured = Callable[[Mapping[str, str]], AbstractAsyncContextManager[Sidechat]]
Answers = MemoryObjectSendStream[SessionMessage]


def serve_pipes(reading: int, writing: int, environ: Mapping[str, str], open: Configured) -> int:
    """Serve the two descriptors; the exit code."""
    to_stderr()
    try:
        anyio.run(_serve, Wire(reading, writing), environ, open)
    except Exception:
        log.exception("the server ended by an error")
        return 1
    return 0


async def _serve(wire: Wire, environ: Mapping[str, str], open: Configured) -> None:
    async with serving(
        partial(open, environ),
        home=home(environ),
        cwd=os.getcwd(),
        hosted=is_hosted(environ),
    ) as server:
        await _Connection(server, wire).run()


class _Connection:
    def __init__(self, server: SidechatServer, wire: Wire) -> None:
        self._server = server
        self._wire = wire
        self._served = anyio.CancelScope()

    async def run(self) -> None:
        """Until the input ends, a signal comes, or nobody reads any more. What is then being
        answered is cut and closed; what is then being written is written."""
        messages, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, answers = anyio.create_memory_object_stream[SessionMessage](0)
        options = self._server.create_initialization_options()
        async with anyio.create_task_group() as writing:
            writing.start_soon(self._write, answers)
            async with anyio.create_task_group() as beside, outgoing:
                await beside.start(self._heed)
                beside.start_soon(self._read, messages, outgoing.clone())
                with self._served:
                    await self._server.run(incoming, outgoing, options)
                beside.cancel_scope.cancel()

    def _leave(self, *, at_once: bool) -> None:
        end_soon()
        self._server.door.leave()
        if at_once:
            self._served.cancel()

    async def _heed(self, *, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(*ENDINGS) as signals:
            task_status.started()
            async for _ in signals:
                self._leave(at_once=True)

    async def _read(self, messages: Messages, refusals: Answers) -> None:
        async with messages:
            # Once the server is cut, nobody takes what still comes in.
            with suppress(anyio.BrokenResourceError):
                await self._wire.read(messages, refusals)
            self._leave(at_once=False)
            with anyio.move_on_after(DRAIN):
                await self._wire.drained()
            # The server ends by itself now that it sees the end of its input.

    async def _write(self, answers: MemoryObjectReceiveStream[SessionMessage]) -> None:
        try:
            async with answers:
                await self._wire.write(answers)
        except OSError:
            self._leave(at_once=True)


@asynccontextmanager
async def configured(environ: Mapping[str, str]) -> AsyncGenerator[Sidechat]:
    """The feature over the configured store. What it takes to open it is imported in a thread:
    others are answered meanwhile."""
    bootstrap = await anyio.to_thread.run_sync(importlib.import_module, "sidechat_mcp.bootstrap")
    async with bootstrap.open_sidechat(load(environ), environ=environ) as service:
        yield service


def home(environ: Mapping[str, str]) -> str:
    """Which home is in use, also when its settings are wrong: that is told by the first call."""
    try:
        return str(load(environ).home)
    except InvalidRequest:
        return environ.get("SIDECHAT_HOME") or "~/.sidechat"


def is_hosted(environ: Mapping[str, str]) -> bool:
    """Whether we were started inside a side session of our own (law 15)."""
    return environ.get("SIDECHAT_HOSTED") == "1"
