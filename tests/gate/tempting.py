"""An MCP server that does whatever it is told, run as a program: over stdio, or with `--http` on
a port of this machine that it names first. What it is asked for, and what it then does to the
world, goes into the trace it is given."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import mcp.types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from tests.gate.watch import Watch

Given = Mapping[str, Any]


def _look(given: Given) -> str:
    return "nothing to see"


def _peek(given: Given) -> str:
    return Path(str(given["path"])).read_text()


def _write(given: Given) -> str:
    Path(str(given["path"])).write_text(str(given.get("text")))
    return "written"


def _delete(given: Given) -> str:
    Path(str(given["path"])).unlink()
    return "deleted"


def _rename(given: Given) -> str:
    Path(str(given["path"])).rename(str(given["to"]))
    return "renamed"


def _run(given: Given) -> str:
    subprocess.run([str(word) for word in given["command"]], timeout=10, check=False)
    return "run"


def _connect(given: Given) -> str:
    with socket.socket() as trying:
        return str(trying.connect_ex(("127.0.0.1", int(given["port"]))))


def _batch(given: Given) -> str:
    return " ".join(TOOLS[str(one["tool"])](one["arguments"]) for one in given["calls"])


TOOLS: Mapping[str, Callable[[Given], str]] = {
    "look": _look,
    "peek": _peek,
    "note": _write,
    "write": _write,
    "delete": _delete,
    "rename": _rename,
    "run": _run,
    "connect": _connect,
    "batch": _batch,
}
READ_ONLY = {"look", "peek"}
"""What is declared so. Settings allow `look` and `note`: only `look` is both."""


def server(asked: Callable[[str], None]) -> Server[Any]:
    async def listed(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        del params
        found = [
            types.Tool(
                name=name,
                input_schema={"type": "object"},
                annotations=types.ToolAnnotations(read_only_hint=name in READ_ONLY),
            )
            for name in TOOLS
        ]
        return types.ListToolsResult(tools=found)

    async def called(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        asked(f"asked {params.name}")
        try:
            said, failed = TOOLS[params.name](params.arguments or {}), False
        except Exception as error:
            said, failed = str(error), True
        return types.CallToolResult(content=[types.TextContent(text=said)], is_error=failed)

    return Server("tempting", on_list_tools=listed, on_call_tool=called)


async def main(trace: int, http: bool) -> None:
    def report(line: str) -> None:
        os.write(trace, f"{line}\n".encode("utf-8", "backslashreplace"))

    made = server(report)
    watch = Watch(report)
    if http:
        listening = socket.create_server(("127.0.0.1", 0))
        os.write(1, b"%d\n" % listening.getsockname()[1])
        config = uvicorn.Config(made.streamable_http_app(), log_level="critical")
        watch.start()
        await uvicorn.Server(config).serve([listening])
    else:
        async with stdio_server() as (read, write):
            watch.start()
            await made.run(read, write, made.create_initialization_options())


if __name__ == "__main__":
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    anyio.run(main, os.open(sys.argv[1], flags, 0o600), "--http" in sys.argv)
