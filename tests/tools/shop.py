"""An MCP server for tests, run as a program: `shop.py FOLDER [--sdk | --http]`. By default it is
written by hand, speaks over stdio as servers did before 2026, and starts at once; else it is the
SDK's, over stdio or on a port of this machine that it names first.

It lists three tools a page, and writes into FOLDER its starts and which calls it received. With
a file `changed` there, `look` is not declared read-only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

WORDY = "Tells “much”.\u2028\t" + "All of this is to be known. " * 400
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
PAGE = 3
Wire = dict[str, Any]


def tools(folder: Path) -> list[Wire]:
    """In the order in which they are listed, in the words of the protocol."""
    looking = {"readOnlyHint": not (folder / "changed").exists()}
    reading = {"readOnlyHint": True}
    told: list[tuple[str, str, Wire | None]] = [
        ("look", "Looks.", looking),
        ("draw", WORDY, reading),
        ("files.read", "Reads.", reading),
        ("environment", "", reading),
        ("write", "Writes.", None),
        ("erase", "Erases.", {"readOnlyHint": False, "destructiveHint": True}),
        ("stop", "Ends.", reading),
        ("wait", "Waits.", reading),
    ]
    schema = {"type": "object", "properties": {"what": {"type": "string"}}}
    return [
        {"name": name, "description": words, "inputSchema": schema}
        | ({"annotations": hints} if hints is not None else {})
        for name, words, hints in told
    ]


def listed(folder: Path, cursor: str | None) -> Wire:
    start = int(cursor or 0)
    found = tools(folder)
    more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(found) else {}
    return {"tools": found[start : start + PAGE], **more}


def called(folder: Path, name: str, given: object) -> Wire:
    with (folder / "calls").open("a") as calls:
        calls.write(f"{name} {json.dumps(given)}\n")
    content: list[Wire] = [{"type": "text", "text": f"{name}: {folder.name}"}]
    match name:
        case "stop":
            os._exit(3)
        case "draw":
            content.append({"type": "image", "data": PNG, "mimeType": "image/png"})
        case "environment":
            content = [{"type": "text", "text": json.dumps(dict(os.environ))}]
        case _:
            pass
    return {"content": content, "isError": name == "erase"}


def by_hand(folder: Path) -> None:
    """One request a line. A call that waits for ever must not keep the others waiting: it is
    never answered."""
    own = {"name": "shop", "version": "1"}
    answers: Mapping[str, Callable[[Wire], Wire]] = {
        "initialize": lambda given: {
            "protocolVersion": given["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": own,
        },
        "tools/list": lambda given: listed(folder, given.get("cursor")),
        "tools/call": lambda given: called(folder, given["name"], given.get("arguments")),
    }
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked or asked.get("params", {}).get("name") == "wait":
            continue
        answer = answers.get(asked["method"])
        told = (
            {"result": answer(asked.get("params", {}))}
            if answer is not None
            else {"error": {"code": -32601, "message": "There is no such method."}}
        )
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}) + "\n")
        sys.stdout.flush()


def by_sdk(folder: Path, http: bool) -> None:
    # Loading it takes more than a second, which only these servers should.
    import socket

    import anyio
    import mcp.types as types
    import uvicorn
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    async def pages(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        found = listed(folder, params.cursor if params is not None else None)
        return types.ListToolsResult.model_validate(found)

    async def calls(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name == "wait":
            await anyio.sleep_forever()
        result = called(folder, params.name, params.arguments)
        return types.CallToolResult.model_validate(result)

    made = Server("shop", on_list_tools=pages, on_call_tool=calls)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await made.run(read, write, made.create_initialization_options())

    if not http:
        anyio.run(serve)
        return
    listening = socket.create_server(("127.0.0.1", 0))
    os.write(1, b"%d\n" % listening.getsockname()[1])
    config = uvicorn.Config(made.streamable_http_app(), log_level="critical")
    anyio.run(uvicorn.Server(config).serve, [listening])


if __name__ == "__main__":
    sys.stderr.write("A server that talks to whoever reads its errors.\n")
    place = Path(sys.argv[1])
    with (place / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    if len(sys.argv) > 2:
        by_sdk(place, "--http" in sys.argv)
    else:
        by_hand(place)
