"""The two console scripts, and `python -m sidechat_mcp`."""

from __future__ import annotations

import sys

from sidechat_mcp.surfaces.cli.entry import run


def main() -> int:
    """`sidechat`: the command line."""
    return run(sys.argv[1:])


def serve() -> int:
    """`sidechat-mcp`: the stdio server; with arguments the command line."""
    return run(sys.argv[1:] or ["serve"])


if __name__ == "__main__":
    sys.exit(main())
