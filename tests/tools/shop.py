"""An MCP server for tests, run as a program: over stdio, or with `--http` on a port of this
machine that it names first. It lists two tools a page, and writes into the folder it is given
which calls it received. With a file `changed` there, `look` is not declared read-only."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp.types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

WORDY = "Tells “much”.\u2028\t" + "All of this is to be known. " * 400
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
PAGE = 2


def tools(folder: Path) -> list[types.Tool]:
    """In the order in which they are listed."""
    schema: dict[str, Any] = {"type": "object", "properties": {"what": {"type": "string"}}}
    looking = types.ToolAnnotations(read_only_hint=not (folder / "changed").exists())
    reading = types.ToolAnnotations(read_only_hint=True)
    writing = types.ToolAnnotations(read_only_hint=False, destructive_hint=True)
    told = [
        ("look", "Looks.", looking),
        ("draw", WORDY, reading),
        ("files.read", "Reads.", reading),
        ("environment", "", reading),
        ("write", "Writes.", None),
        ("erase", "Erases.", writing),
        ("stop", "Ends.", reading),
        ("wait", "Waits.", reading),
    ]
    return [
        types.Tool(name=name, description=words, input_schema=schema, annotations=hints)
        for name, words, hints in told
    ]


def server(folder: Path) -> Server[Any]:
    async def listed(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        start = int((params and params.cursor) or 0)
        found = tools(folder)
        following = str(start + PAGE) if start + PAGE < len(found) else None
        return types.ListToolsResult(tools=found[start : start + PAGE], next_cursor=following)

    async def called(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        with (folder / "calls").open("a") as calls:
            calls.write(f"{params.name} {json.dumps(params.arguments)}\n")
        content: list[Any] = [types.TextContent(text=f"{params.name}: {folder.name}")]
        match params.name:
            case "stop":
                os._exit(3)
            case "wait":
                await anyio.sleep_forever()
            case "draw":
                content.append(types.ImageContent(data=PNG, mime_type="image/png"))
            case "environment":
                content = [types.TextContent(text=json.dumps(dict(os.environ)))]
            case _:
                pass
        return types.CallToolResult(content=content, is_error=params.name == "erase")

    return Server("shop", on_list_tools=listed, on_call_tool=called)


async def main(folder: Path, http: bool) -> None:
    sys.stderr.write("A server that talks to whoever reads its errors.\n")
    with (folder / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    made = server(folder)
    if http:
        listening = socket.create_server(("127.0.0.1", 0))
        os.write(1, b"%d\n" % listening.getsockname()[1])
        config = uvicorn.Config(made.streamable_http_app(), log_level="critical")
        await uvicorn.Server(config).serve([listening])
    else:
        async with stdio_server() as (read, write):
            await made.run(read, write, made.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), "--http" in sys.argv)
