"""`serve`: which MCP server to start, and where. The servers themselves live beside us."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from pathlib import Path

from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.surfaces.cli.terminal import Terminal

LONGEST_TOKEN = 4096
"""Bytes of a token's file; a longer one is not read on."""
_PLACE = re.compile(
    r"(?:(?:\[(?P<v6>[0-9A-Fa-f:.%]+)\]|(?P<host>[^:\[\]]*)):)?(?P<port>[0-9]{1,5})"
)


def serve(args: Namespace, terminal: Terminal) -> int:
    """Serve until the input ends or a signal comes, which is how a server is meant to end."""
    try:
        return _served(args, terminal)
    except KeyboardInterrupt:
        return 0


def _served(args: Namespace, terminal: Terminal) -> int:
    if args.http is None:
        if args.token_file is not None:
            raise InvalidRequest("stdio needs no token.", then="Give --http HOST:PORT as well.")
        if sys.stdin.isatty():
            terminal.tell("An MCP server listens here on stdin; `sidechat --help` is for people.")
        from sidechat_mcp.surfaces.mcp import stdio

        return stdio.serve()
    host, port = place(args.http)
    token = None if args.token_file is None else read_token(args.token_file)
    from sidechat_mcp.surfaces.mcp import http

    return http.serve(host, port, token)


def place(text: str) -> tuple[str, int]:
    """`HOST:PORT`, `[V6]:PORT`, `:PORT` or `PORT`; without a host, this machine alone."""
    found = _PLACE.fullmatch(text)
    if found is None or int(found["port"]) > 65535:
        raise InvalidRequest(f"{text!r} is no HOST:PORT.", then="For example 127.0.0.1:8000.")
    return found["v6"] or found["host"] or "127.0.0.1", int(found["port"])


def read_token(file: Path) -> str:
    """The one line of `file`. Raises InvalidRequest when it cannot be a token."""
    try:
        with file.open("rb") as held:
            token = held.read(LONGEST_TOKEN + 1).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(
            f"The token file {str(file)!r} cannot be read.", then="Name another one."
        ) from error
    if (
        not 16 <= len(token) <= LONGEST_TOKEN
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise InvalidRequest(
            f"The token file {str(file)!r} holds no usable token.",
            then=f"Put one line of 16 to {LONGEST_TOKEN} ASCII characters without spaces into it.",
        )
    return token
