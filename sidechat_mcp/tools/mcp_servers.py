"""A native parent's own tools, from the MCP servers that its person configured.

A server is started (or connected to) when its tools are first asked for and lives until the
feature is closed. Each has a task of its own that owns the connection from start to end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus

from sidechat_mcp.core.content import Block, Media, Text, text
from sidechat_mcp.core.events import Header
from sidechat_mcp.errors import OutsideError
from sidechat_mcp.ports.tool import Outcome, Tool

PATIENCE = 20.0
"""Seconds that a server may take to start and list its tools."""
CALL = 120.0
"""Seconds that one call may take."""


@dataclass(frozen=True, slots=True)
class Server:
    """A configured server: a command to start, or a URL. Its tools are called NAME__TOOL."""

    name: str
    command: str | None = None
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str | None = None


class _Speaker(Protocol):
    async def list_tools(self, *, cursor: str | None = None) -> Any: ...
    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any: ...


@dataclass(slots=True)
class Servers:
    """The tools of `configured` servers; `tasks` lives as long as the connections may."""

    configured: Sequence[Server]
    tasks: TaskGroup
    _found: Sequence[Tool] | None = None
    _connecting: anyio.Lock = field(default_factory=anyio.Lock)

    async def tools(self) -> Sequence[Tool]:
        """Raises: OutsideError naming the server that could not be reached."""
        async with self._connecting:
            if self._found is None:
                self._found = [tool for one in self.configured for tool in await self._listed(one)]
        return self._found

    async def _listed(self, server: Server) -> Sequence[Tool]:
        try:
            with anyio.fail_after(PATIENCE):
                return await self.tasks.start(_serve, server)
        except Exception as error:
            raise OutsideError(
                f"The MCP server {server.name!r} could not be used: {_reason(error)}.",
                then="Correct it in config.toml, or take it out.",
                retryable=True,
            ) from error


@dataclass(frozen=True, slots=True)
class Served:
    """One tool of a server. `read_only` is the server's own annotation, false without one."""

    name: str
    description: str
    schema: Mapping[str, Any]
    read_only: bool
    remote: str
    speaker: _Speaker

    async def run(self, input: str, session: Header) -> Outcome:
        try:
            given = json.loads(input or "{}")
        except (ValueError, RecursionError):
            return Outcome(text("The arguments are no JSON object."), is_error=True)
        try:
            with anyio.fail_after(CALL):
                result = await self.speaker.call_tool(self.remote, given)
        except TimeoutError:
            return Outcome(text(f"{self.name} gave no answer in {CALL:.0f} s."), is_error=True)
        content = tuple(_block(block) for block in result.content)
        return Outcome(content or text("(no content)"), is_error=bool(result.is_error))


async def _serve(server: Server, *, task_status: TaskStatus[Sequence[Tool]]) -> None:
    """Own one connection: connect, list, and hold it until the task group ends."""
    from mcp import Client, StdioServerParameters

    target: Any = server.url
    if target is None:
        if server.command is None:
            raise OutsideError(f"The server {server.name!r} has neither command nor url.")
        target = StdioServerParameters(
            command=server.command, args=list(server.args), env=dict(server.env)
        )
    listed = False
    try:
        async with Client(target) as client:
            task_status.started(await _tools(server, client))
            listed = True
            await anyio.sleep_forever()
    except Exception:
        # Once it has served, a server that dies takes only its own calls with it.
        if not listed:
            raise


async def _tools(server: Server, client: Any) -> Sequence[Tool]:
    found: list[Tool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            hints = tool.annotations
            found.append(
                Served(
                    f"{server.name}__{tool.name}",
                    tool.description or tool.name,
                    tool.input_schema,
                    bool(hints is not None and hints.read_only_hint),
                    tool.name,
                    client,
                )
            )
        cursor = page.next_cursor
        if cursor is None:
            return found


def _block(block: Any) -> Block:
    if block.type == "text":
        return Text(block.text)
    if block.type == "image":
        return Media("image", block.mime_type, "", len(block.data) * 3 // 4, block.data)
    return Text(f"[{block.type}]")


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return str(error) or type(error).__name__
