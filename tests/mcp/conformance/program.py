"""The shipped server over HTTP with the suite's names around it, as a process of its own."""

from __future__ import annotations

import os
import warnings
from functools import partial

import anyio
from mcp import MCPDeprecationWarning

from sidechat_mcp.surfaces.mcp import http
from sidechat_mcp.surfaces.mcp.server import serving
from tests.mcp.conformance.overlay import put_around
from tests.mcp.program import opened


async def serve() -> None:
    listening = http.listen("127.0.0.1", 0)
    async with serving(partial(opened, os.environ), home="HOME") as server:
        put_around(server)
        await http.run(server, listening, "127.0.0.1", {})


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    anyio.run(serve)
