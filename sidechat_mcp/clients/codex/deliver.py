"""A note into a live thread: `thread/inject_items` over the socket of Codex's own daemon.

It starts no turn and is recorded by the client itself. It changes what the client keeps, so it is
done only where a person asked for it (law 11), and only while the thread is idle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from sidechat_mcp.clients.codex.app_server import Talk
from sidechat_mcp.clients.codex.websocket import NotSpoken, opened
from sidechat_mcp.clients.values import mapping
from sidechat_mcp.errors import ProviderError

DOOR = "inject"
DOORS = "SIDECHAT_DOORS"
"""The setting that opens doors which change what a client keeps: a comma list."""
ASKED = "codex-inject"
PATIENCE = 5.0
"""Seconds that the daemon may take for all of it."""


def wanted(environ: Mapping[str, str]) -> bool:
    """Whether the person opened this door."""
    return ASKED in {one.strip() for one in environ.get(DOORS, "").split(",")}


def socket(home: Path) -> Path:
    """Where the daemon of the client that keeps its files in `home` listens."""
    return home / "app-server-control" / "app-server-control.sock"


async def inject(path: Path, thread: str, text: str) -> bool:
    """Put `text` behind the last turn of a thread that the daemon at `path` has open and idle;
    False where that is not so, or where no daemon answers."""
    try:
        with anyio.fail_after(PATIENCE):
            async with await anyio.connect_unix(str(path)) as stream:
                web = await opened(stream)
                talk = Talk(web)
                await talk.open()
                if not await _idle(talk, thread):
                    return False
                await talk.ask("thread/inject_items", {"threadId": thread, "items": [_item(text)]})
                await web.close()
                return True
    except (
        OSError,
        NotSpoken,
        ProviderError,
        anyio.EndOfStream,
        anyio.IncompleteRead,
        anyio.DelimiterNotFound,
        anyio.BrokenResourceError,
        anyio.ClosedResourceError,
    ):
        return False


async def _idle(talk: Talk, thread: str) -> bool:
    read = await talk.ask("thread/read", {"threadId": thread, "includeTurns": False})
    return mapping(mapping(read.get("thread")).get("status")).get("type") == "idle"


def _item(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "developer", "content": content}
