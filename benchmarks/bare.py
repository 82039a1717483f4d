"""The least that can serve: the SDK's own low-level server over its own stdio, with answers that
were made beforehand. `python -m benchmarks.bare [FILE]`; FILE holds results by method, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import mcp.types as T
from mcp.server import Server
from mcp.server.stdio import stdio_server

RESULTS: Mapping[str, type[T.Result]] = {
    "prompts/get": T.GetPromptResult,
    "resources/list": T.ListResourcesResult,
    "resources/read": T.ReadResourceResult,
    "tools/call": T.CallToolResult,
}


def build(canned: Mapping[str, Any]) -> Server[Any]:
    """Introduces itself as ours does, for that is part of every answer."""
    made = {
        method: kind.model_validate(canned[method])
        for method, kind in RESULTS.items()
        if method in canned
    }

    def giving(method: str) -> Callable[[Any, Any], Awaitable[Any]]:
        async def give(ctx: Any, params: Any) -> T.Result:
            return made[method]

        return give

    return Server(
        "sidechat",
        title="Side conversations",
        version=version("sidechat-mcp"),
        on_get_prompt=giving("prompts/get"),
        on_list_resources=giving("resources/list"),
        on_read_resource=giving("resources/read"),
        on_call_tool=giving("tools/call"),
    )


async def serve(canned: Mapping[str, Any]) -> None:
    server = build(canned)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main(files: Sequence[str]) -> None:
    canned: Mapping[str, Any] = json.loads(Path(files[0]).read_bytes()) if files else {}
    anyio.run(serve, canned)


if __name__ == "__main__":
    main(sys.argv[1:])
