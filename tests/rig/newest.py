"""Prints the conversations of this folder as our readers find them, by client, as JSON."""

from __future__ import annotations

import json
import os
import sys

import anyio

from sidechat_mcp.bootstrap import known_clients


async def main() -> None:
    cwd = os.getcwd()
    found = {
        name: [one.ref for one in await client.newest(cwd, 1000)]
        for name, client in known_clients(os.environ).items()
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main)
