"""A client of bare messages over streams in memory, for what no SDK's client would send."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from sidechat_mcp.surfaces.mcp.server import SidechatServer

Message = dict[str, Any]


class Raw:
    def __init__(
        self,
        send: MemoryObjectSendStream[SessionMessage | Exception],
        receive: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        self._send = send
        self._receive = receive
        self._last = 0
        self.notified: list[Message] = []

    async def send(self, method: str, params: Message | None = None, **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}, **more}
        await self._send.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))

    async def next(self) -> Message:
        with anyio.fail_after(5):
            came = await self._receive.receive()
        return came.message.model_dump(by_alias=True, exclude_unset=True)

    async def ask(self, method: str, params: Message | None = None) -> Message:
        """The whole response to a request; what comes before it goes to `notified`."""
        self._last += 1
        await self.send(method, params, id=self._last)
        while True:
            message = await self.next()
            if message.get("id") == self._last:
                return message
            self.notified.append(message)


@asynccontextmanager
async def raw(server: SidechatServer, room: int = 64) -> AsyncGenerator[Raw]:
    """`room` is how many messages the server can send before somebody reads them."""
    to_server, at_server = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    from_server, at_client = anyio.create_memory_object_stream[SessionMessage](room)
    options = server.create_initialization_options()
    async with anyio.create_task_group() as tasks, at_client:
        tasks.start_soon(server.run, at_server, from_server, options)
        async with to_server:
            yield Raw(to_server, at_client)


@asynccontextmanager
async def legacy(server: SidechatServer, version: str, *, room: int = 64) -> AsyncGenerator[Raw]:
    """A client that shook hands at `version`."""
    async with raw(server, room) as client:
        info = {"name": "tests", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
        answer = await client.ask("initialize", params)
        assert answer["result"]["protocolVersion"] == version
        await client.send("notifications/initialized")
        yield client
