"""The two console scripts, and `python -m sidechat_mcp`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main() -> int:
    """`sidechat`: the command line."""
    return _run(sys.argv[1:])


def serve() -> int:
    """`sidechat-mcp`: the stdio server; with arguments the command line."""
    return _run(sys.argv[1:] or ["serve"])


def _run(argv: Sequence[str]) -> int:
    try:
        # Loaded here, so that Ctrl-C is met already while modules are.
        from sidechat_mcp.surfaces.cli.entry import run
    except KeyboardInterrupt:
        return INTERRUPTED
    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
