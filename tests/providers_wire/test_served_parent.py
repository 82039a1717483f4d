"""Recorded on the wire: a native parent with tools of a real MCP server, its reasoning, parallel
calls and an image, and the child that continues it, with and without breakpoints."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.bootstrap import assemble_parts, open_tools
from sidechat_mcp.config import load
from sidechat_mcp.core import schemas
from sidechat_mcp.core.content import plain
from sidechat_mcp.core.events import ToolResult
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.stores.memory import MemoryStore
from tests.behaviours import behaviour
from tests.providers_wire.loopback import loopback, stream
from tests.providers_wire.test_recorded import MARKS, common, unmarked
from tests.providers_wire.wires import SPOKEN, Spoken
from tests.tools.house import started
from tests.tools.shop import PNG

MODELS = [
    *SPOKEN,
    replace(SPOKEN[1], model="gpt-5.6"),
    replace(SPOKEN[2], model="openai/gpt-5.6"),
    replace(SPOKEN[2], model="anthropic/claude-m"),
]
EACH = pytest.mark.parametrize("spoken", MODELS, ids=lambda one: f"{one.name} {one.model}")
SAID = ("messages", "input", "diagnostics", "prompt_cache_options")
"""What of a body is the conversation and the name of the response before; all else is the head."""


@pytest.fixture
def anyio_backend() -> str:
    """Each test starts a real program."""
    return "asyncio"


def calling(spoken: Spoken) -> list[bytes]:
    """The long stream by the very model, whose two parallel calls are of the server's tools."""
    found = b"".join(spoken.long).replace(b"gpt-m-2026-01-01", spoken.model.encode())
    found = found.replace(b'"read"', b'"shop__look"').replace(b'"list"', b'"shop__draw"')
    return [found]


def head(body: bytes) -> dict[str, Any]:
    found = json.loads(body)
    return {name: found[name] for name in found if name not in SAID}


@EACH
@behaviour("wire:recorded")
async def test_a_child_continues_a_parent_with_tools_of_a_server_byte_for_byte(
    spoken: Spoken, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    (tmp_path / "config.toml").write_text(started(shop, allow=["look"]))
    config = load({"SIDECHAT_HOME": str(tmp_path)})
    me = Caller(cwd=str(tmp_path))
    async with (
        loopback(stream(*calling(spoken)), stream(*spoken.plain)) as server,
        open_tools(config) as tools,
    ):
        provider = spoken.at(server.url)
        sidechat = assemble_parts(
            config, MemoryStore(), {}, provider=lambda _: provider, clients={}, tools=tools
        )
        native = await sidechat.native(me, system="Be careful — “always”.", tools=True)
        await sidechat.converse(me, "Look at both.", session=native.id)
        server.script[:] = [stream(*calling(spoken))] * 3 + [stream(*spoken.plain)]
        report = await sidechat.fork(me, parent=native.id, question="Look once more?")
        _, own = await sidechat.side(me, report.session)
        replayed = await sidechat.replay(me)
    assert report.head == "identical"
    assert [(one.verdict, one.wire) for one in replayed] == [("verified", "verified")] * 2
    first, parent, child, later = unmarked(server)
    for before, after in ((parent, child), (child, later)):
        rest = before[common(before, after) :]
        assert re.fullmatch(rb'\](,"(diagnostics|prompt_cache_options)":\{[^{}]+\})?\}', rest), rest
    assert head(first) == head(parent) == head(child) == head(later)
    assert _names(child) == schemas.names((await _header(sidechat, native.id)).tools.text)
    assert (PNG.encode() in child) is (spoken.name != "openai-chat")
    assert child.count(b"Which file? Both.") == 1, "reasoning, verbatim"
    # The same calls, now the child's: one is allowed, the other becomes a result.
    results = [event.body for event in own if isinstance(event.body, ToolResult)]
    assert [(one.is_error, plain(one.content)[:10]) for one in results] == [
        (False, "look: shop"),
        (True, "shop__draw"),
    ]
    assert (shop / "calls").read_text().count("draw") == 1, "the parent's"
    marked = [asked.body for asked in server.asked if any(mark in asked.body for mark in MARKS)]
    assert bool(marked) is (spoken.model not in ("gpt-m", "m")), "the listed marks"


def _names(body: bytes) -> frozenset[str]:
    tools = json.loads(body)["tools"]
    return frozenset(tool.get("name") or tool["function"]["name"] for tool in tools)


async def _header(sidechat: Any, session: str) -> Any:
    row = await sidechat.parts.store.row(session)
    return (await sidechat.parts.sessions.context(row)).header
