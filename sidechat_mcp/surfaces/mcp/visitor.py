"""A client of our own server, made with the SDK: what `demo` gets is what any client gets."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent, TextResourceContents

from sidechat_mcp.errors import OutsideError


@dataclass(frozen=True, slots=True)
class Visitor:
    """Raises: OutsideError, with the server's own words, when it refuses."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's structured result."""
        _, structured = await self._called(tool, arguments)
        return structured

    async def told(self, tool: str, **arguments: Any) -> str:
        """A tool's text."""
        text, _ = await self._called(tool, arguments)
        return text

    async def read(self, uri: str) -> str:
        """A resource's text."""
        try:
            result = await self.client.read_resource(uri)
        except MCPError as error:
            raise OutsideError(f"The server gave no {uri}: {error}.") from error
        return "".join(one.text for one in result.contents if isinstance(one, TextResourceContents))

    async def _called(self, tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        try:
            result = await self.client.call_tool(tool, arguments)
        except MCPError as error:
            raise OutsideError(f"The server refused `{tool}`: {error}.") from error
        text = "\n".join(one.text for one in result.content if isinstance(one, TextContent))
        if result.is_error:
            raise OutsideError(f"The server refused `{tool}`: {text}")
        return text, result.structured_content or {}


@asynccontextmanager
async def visiting(
    environ: Mapping[str, str], folder: Path, complaints: TextIO
) -> AsyncGenerator[Visitor]:
    """Our stdio server in a process of its own, started in `folder` as a client starts it; what
    it writes to stderr goes to `complaints`."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "sidechat_mcp", "serve"],
        env=dict(environ),
        cwd=folder,
    )
    async with Client(stdio_client(server, complaints)) as client:
        yield Visitor(client)
