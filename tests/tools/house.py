"""The feature put together as its settings say, with servers, answered by a script."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from sidechat_mcp.bootstrap import assemble_parts, open_tools
from sidechat_mcp.config import load
from sidechat_mcp.core.content import Text, ToolUse, plain
from sidechat_mcp.core.events import ToolResult
from sidechat_mcp.ports.client import Client
from sidechat_mcp.ports.store import LogStore
from sidechat_mcp.providers.scripted import Line, Scripted
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.memory import MemoryStore

SHOP = Path(__file__).with_name("shop.py")


@dataclass
class House:
    sidechat: Sidechat
    speaker: Scripted
    caller: Caller

    async def asked(self, session: str, said: str = "Go on.") -> list[ToolResult]:
        """What the calls of one turn came to."""
        before = len(await self.results(session))
        await self.sidechat.converse(self.caller, said, session=session)
        return (await self.results(session))[before:]

    async def results(self, session: str) -> list[ToolResult]:
        row = await self.sidechat.parts.visible(self.caller, session)
        events = await self.sidechat.parts.store.read(row.header.id, row.header.seed_length)
        return [event.body for event in events if isinstance(event.body, ToolResult)]


def calling(*calls: str | tuple[str, Mapping[str, object]]) -> list[Text | ToolUse]:
    """An answer that calls tools, by name or by name and arguments."""
    nothing: Mapping[str, object] = {}
    found: list[Text | ToolUse] = []
    for call in calls:
        name, given = (call, nothing) if isinstance(call, str) else call
        found.append(ToolUse(f"c{len(found)}", name, json.dumps(given)))
    return found


def told(results: list[ToolResult]) -> list[tuple[bool, str]]:
    """Whether each was an error, and its words."""
    return [(result.is_error, plain(result.content)) for result in results]


@asynccontextmanager
async def housed(
    home: Path,
    settings: str,
    *lines: Line,
    store: LogStore | None = None,
    clients: Mapping[str, Client] | None = None,
) -> AsyncGenerator[House]:
    """With `settings` as config.toml; sessions have the folder `home/project`."""
    (home / "project").mkdir(exist_ok=True)
    (home / "config.toml").write_text(settings)
    config = load({"SIDECHAT_HOME": str(home)})
    speaker = Scripted(*lines)
    async with open_tools(config) as tools:
        made = assemble_parts(
            config,
            store or MemoryStore(),
            {},
            provider=lambda _: speaker,
            clients=clients or {},
            tools=tools,
        )
        yield House(made, speaker, Caller(cwd=str(home / "project")))


def started(folder: Path, *how: str, name: str = "shop", **more: object) -> str:
    """Settings for a shop that is started over stdio."""
    given = {"command": sys.executable, "args": [str(SHOP), str(folder), *how], **more}
    return f"[servers.{name}]\n" + _lines(given)


def addressed(url: str, name: str = "shop", **more: object) -> str:
    return f'[servers.{name}]\nurl = "{url}"\n' + _lines(more)


def _lines(more: Mapping[str, object]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())


@asynccontextmanager
async def running(folder: Path) -> AsyncGenerator[str]:
    """A shop over HTTP; gives its URL."""
    command = [sys.executable, str(SHOP), str(folder), "--http"]
    async with await anyio.open_process(command, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            with anyio.fail_after(20):
                port = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 16)
            yield f"http://127.0.0.1:{int(port)}/mcp"
        finally:
            if process.returncode is None:
                process.kill()
