"""The whole journey over every transport, with the SDKs of both eras."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.types import (
    CallToolResult,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from sidechat_mcp.sidechat.reports import Caller
from tests.behaviours import behaviour
from tests.mcp.conftest import Era, client
from tests.mcp.processes import PROGRAM, TOP, environment
from tests.mcp.program import opened
from tests.mcp.web import serving_web
from tests.parts import legacy_python

Transport = Literal["stdio", "http", "sse"]


@pytest.fixture(params=["stdio", "http", "sse"])
def transport(request: pytest.FixtureRequest) -> Transport:
    return request.param


@asynccontextmanager
async def served(transport: Transport, home: Path) -> AsyncGenerator[Any]:
    """What the SDK's client connects to."""
    if transport == "stdio":
        command, *args = [*PROGRAM, "stdio"]
        yield StdioServerParameters(command=command, args=args, env=environment(home), cwd=home)
        return
    async with serving_web(home) as web:
        yield f"{web.origin}/mcp" if transport == "http" else sse_client(f"{web.origin}/sse")


async def inhabit(home: Path, sessions: int) -> None:
    """Side sessions that are there before."""
    async with opened(environment(home)) as sidechat:
        for _ in range(sessions):
            await sidechat.fork(Caller())


def data(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None, result
    return result.structured_content


@behaviour("mcp:journey")
async def test_fork_converse_and_merge_over_every_transport_in_both_eras(
    transport: Transport, era: Era, tmp_path: Path
) -> None:
    await inhabit(tmp_path, 250)
    told: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async with served(transport, tmp_path) as target, client(target, era) as visitor:
        assert len((await visitor.list_resources()).resources) == 50
        fork = data(await visitor.call_tool("fork"))
        session = fork["session"]
        ask = {"session": session, "message": "hello"}
        answer = data(await visitor.call_tool("converse", ask, progress_callback=hear))
        draft = data(await visitor.call_tool("merge", {"session": session, "draft": True}))
        merged = data(await visitor.call_tool("merge", {"session": session}))
        again = data(await visitor.call_tool("merge", {"session": session}))
        prompt = await visitor.get_prompt("merge", {"session": session})
        (page,) = (await visitor.read_resource(fork["uri"])).contents
        template = ResourceTemplateReference(uri="sidechat://sessions/{id}")
        values = await visitor.complete(template, {"name": "id", "value": session[:6]})
        first = (await visitor.list_resources()).resources[0]
    assert answer["answer"] == "You said: hello"
    assert "".join(told) == "You said: hello"[: len("".join(told))] != ""
    assert draft["text"] == merged["text"]
    assert (draft["seq"], merged["revision"], again) == (None, 1, merged)
    assert isinstance(prompt.messages[0].content, TextContent)
    assert prompt.messages[0].content.text.startswith(merged["wrapped"])
    assert isinstance(page, TextResourceContents)
    assert "hello" in page.text
    assert session in values.completion.values
    assert first.name == session


@behaviour("mcp:older-sdk")
async def test_a_client_of_the_older_sdk_makes_the_whole_journey(
    transport: Transport, tmp_path: Path
) -> None:
    python = legacy_python()
    await inhabit(tmp_path, 250)
    script = str(TOP / "tests" / "mcp" / "older.py")
    if transport == "stdio":
        seen = await older([python, script, "stdio", *PROGRAM, "stdio"], tmp_path)
    else:
        async with serving_web(tmp_path) as web:
            path = "/mcp" if transport == "http" else "/sse"
            seen = await older([python, script, transport, web.origin + path], tmp_path)
    assert seen == {
        "version": "2025-11-25",
        "tools": [
            "fork",
            "converse",
            "merge",
            "sessions",
            "read_session",
            "forget",
            "pending_notes",
        ],
        "before": 250,
        "asked": True,
        "answer": "You said: hello",
        "note": "mine",
        "read": True,
        "completed": True,
        "prompt": True,
        "heard": ["notifications/resources/list_changed", "notifications/resources/updated"],
    }


async def older(command: list[str], home: Path) -> dict[str, Any]:
    with anyio.fail_after(60):
        done = await anyio.run_process(command, env=environment(home), cwd=home, stderr=sys.stderr)
    return json.loads(done.stdout)
