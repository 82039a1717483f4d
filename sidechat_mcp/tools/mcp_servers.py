"""A native parent's own tools, from the MCP servers that its person configured.

A server is started (or connected to) when one of its tools is first wanted, and again after it
has ended. What it lists first holds as long as we live: what a gate judged is what is called."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus

from sidechat_mcp.errors import OutsideError
from sidechat_mcp.ports.tool import Tool
from sidechat_mcp.tools.served import BETWEEN, Absent, Served, name

PATIENCE = 20.0
"""Seconds that a server may take to start and list its tools."""
CALL = 120.0
"""Seconds that one call may take."""
PAUSE = 5.0
"""Seconds for which a server that could not be used is not tried again."""


@dataclass(frozen=True, slots=True)
class Server:
    """A configured server: a command to start, or a URL. Its tools are called NAME__TOOL.
    `allow` names those of its tools that side sessions may call too, if they are declared
    read-only."""

    name: str
    command: str | None = None
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str | None = None
    allow: Sequence[str] = ()

    @property
    def allowed(self) -> frozenset[str]:
        """`allow`, as the tools are called here."""
        return frozenset(name(self.name, tool) for tool in self.allow)


class _Client(Protocol):
    async def list_tools(self, *, cursor: str | None = None) -> Any: ...
    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any: ...


@dataclass(frozen=True, slots=True)
class _Line:
    """A connection while it lasts: what it listed, and an event that ends it."""

    client: _Client
    listed: Sequence[Any]
    over: anyio.Event


@dataclass(slots=True)
class Connection:
    """One server, whether it is running or not. `tasks` lives as long as it may."""

    server: Server
    tasks: TaskGroup
    _tools: Sequence[Served] | None = None
    _line: _Line | None = None
    _failed: tuple[float, OutsideError] | None = None
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def tools(self) -> Sequence[Served]:
        """As they were listed first. Raises: OutsideError, naming the server."""
        if self._tools is None:
            line = await self._running()
            if self._tools is None:
                self._tools = self._named(line.listed)
        return self._tools

    async def call(self, tool: Served, given: dict[str, Any]) -> Any:
        """Raises: OutsideError."""
        line = await self._running()
        if not any(_same(tool, one) for one in line.listed):
            raise OutsideError(
                f"{tool.name} is declared differently since its server was started again.",
                then="It can be called in sessions that are made after sidechat is restarted.",
            )
        try:
            with anyio.fail_after(CALL):
                return await line.client.call_tool(tool.remote, given)
        except TimeoutError:
            raise OutsideError(f"{tool.name} gave no answer in {CALL:.0f} s.") from None
        except Exception as error:
            if line.over.is_set() or _lost(error):
                line.over.set()
                raise OutsideError(
                    f"The MCP server {self.server.name!r} ended before it answered.",
                    then="It is started again with the next call of one of its tools.",
                ) from error
            raise OutsideError(f"{tool.name} failed: {_reason(error)}.") from error

    async def _running(self) -> _Line:
        async with self._turn:
            if self._line is None or self._line.over.is_set():
                self._line = await self._start()
            return self._line

    async def _start(self) -> _Line:
        if self._failed is not None and anyio.current_time() < self._failed[0] + PAUSE:
            raise self._failed[1]
        try:
            with anyio.fail_after(PATIENCE):
                return await self.tasks.start(_serve, self.server)
        except Exception as error:
            timed_out = isinstance(error, TimeoutError)
            why = f"no answer in {PATIENCE:.0f} s" if timed_out else _reason(error)
            failure = OutsideError(
                f"The MCP server {self.server.name!r} could not be used: {why}.",
                then="Try it by hand; then correct it in config.toml, or take it out.",
                retryable=True,
            )
            self._failed = (anyio.current_time(), failure)
            raise failure from error

    def _named(self, listed: Sequence[Any]) -> Sequence[Served]:
        found: dict[str, Served] = {}
        for tool in listed:
            called = name(self.server.name, tool.name)
            if called in found:
                raise OutsideError(
                    f"The MCP server {self.server.name!r} has two tools called {called}.",
                    then="Take it out of config.toml.",
                )
            described = tool.description or tool.name
            found[called] = Served(
                called, described, tool.input_schema, _read_only(tool), tool.name, self.call
            )
        return tuple(found.values())


class Servers:
    """The tools of `configured` servers, each found without waking the others."""

    def __init__(self, configured: Sequence[Server], tasks: TaskGroup) -> None:
        self._connections = {one.name: Connection(one, tasks) for one in configured}

    async def find(self, called: str) -> Tool | None:
        """The tool called NAME__TOOL; one that says why where its server cannot be used."""
        connection = self._connections.get(called.partition(BETWEEN)[0])
        if connection is None:
            return None
        try:
            tools = await connection.tools()
        except OutsideError as error:
            return Absent(called, str(error))
        return next((tool for tool in tools if tool.name == called), None)

    async def tools(self) -> Sequence[Tool]:
        """All of them. Raises: OutsideError, naming the server that could not be used: what a
        session is told of its tools is written once, and must not lack any."""
        return [tool for one in self._connections.values() for tool in await one.tools()]


async def _serve(server: Server, *, task_status: TaskStatus[_Line]) -> None:
    """Own one connection from start to end: what is started here is ended here."""
    line: _Line | None = None
    try:
        async with _connected(server) as client:
            line = _Line(client, await _listed(client), anyio.Event())
            task_status.started(line)
            await line.over.wait()
    except Exception:
        # Once it has served, a server that dies takes only its own calls with it.
        if line is None:
            raise
    finally:
        if line is not None:
            line.over.set()


@asynccontextmanager
async def _connected(server: Server) -> AsyncGenerator[_Client]:
    """A started server is given what the SDK holds to be harmless of our environment (PATH, HOME
    and the like), what it is configured with, and nothing else; its stderr is not ours."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    with _nowhere() as unheard:
        target: Any = server.url
        if target is None:
            started = StdioServerParameters(
                command=server.command or "", args=list(server.args), env=dict(server.env)
            )
            target = stdio_client(started, unheard)
        async with Client(target) as client:
            yield client


def _nowhere() -> TextIO:
    return open(os.devnull, "w")


async def _listed(client: _Client) -> Sequence[Any]:
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        found.extend(page.tools)
        cursor = page.next_cursor
        if cursor is None:
            return found


def _read_only(tool: Any) -> bool:
    """The server's own word; without one a tool is taken to change things."""
    return tool.annotations is not None and tool.annotations.read_only_hint is True


def _same(tool: Served, listed: Any) -> bool:
    return tool.remote == listed.name and tool.read_only == _read_only(listed)


def _lost(error: BaseException) -> bool:
    from mcp.types import CONNECTION_CLOSED

    return getattr(error, "code", None) == CONNECTION_CLOSED


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if _lost(error):
        return "it ended at once"
    return (str(error) or type(error).__name__).rstrip(".")
