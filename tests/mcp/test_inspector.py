"""The Inspector's command line: an independent client, written in another language."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.behaviours import behaviour
from tests.mcp.conftest import Era
from tests.mcp.processes import PROGRAM, environment
from tests.mcp.test_journeys import Transport, inhabit
from tests.mcp.web import serving_web
from tests.parts import node, npm_program


class Inspector:
    """One call of the command line a request, to what `target` names."""

    def __init__(self, home: Path, era: Era, *target: str) -> None:
        self._home = home
        given = [f"{name}={value}" for name, value in environment(home).items()]
        passed = [part for one in given for part in ("-e", one)]
        self._command = [node(), npm_program("mcp-inspector"), "--cli"]
        self._command += ["--protocol-era", era, *passed, *target]
        self.complaints = ""

    async def ask(self, method: str, *options: str) -> dict[str, Any]:
        command = [*self._command, "--method", method, *options, "--format", "json"]
        outside = environment(self._home, MCP_INSPECTOR_SECRET_STORE="memory")
        with anyio.fail_after(40):
            done = await anyio.run_process(
                command, check=False, env=outside, cwd=self._home, stderr=subprocess.PIPE
            )
        self.complaints = done.stderr.decode()
        assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
        return json.loads(done.stdout)["result"]

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        given = ["--tool-name", tool, "--tool-args-json", json.dumps(arguments), "-q"]
        return (await self.ask("tools/call", *given))["structuredContent"]


async def journey(inspector: Inspector) -> None:
    session = (await inspector.call("fork"))["session"]
    answer = await inspector.call("converse", session=session, message="hello")
    assert answer["answer"] == "You said: hello"
    given = ["--prompt-name", "merge", "--prompt-args", f"session={session}", "-q"]
    (message,) = (await inspector.ask("prompts/get", *given))["messages"]
    assert message["content"]["text"].startswith("<sidechat-note ")
    uri = f"sidechat://sessions/{session}"
    (page,) = (await inspector.ask("resources/read", "--uri", uri, "-q"))["contents"]
    assert "hello" in page["text"]


@behaviour("mcp:inspector")
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_the_inspector_makes_the_whole_journey_over_every_transport_in_both_eras(
    transport: Transport, era: Era, tmp_path: Path
) -> None:
    await inhabit(tmp_path, 250)
    if transport == "stdio":
        await journey(Inspector(tmp_path, era, *PROGRAM, "stdio"))
        return
    async with serving_web(tmp_path) as web:
        path = "/mcp" if transport == "http" else "/sse"
        await journey(Inspector(tmp_path, era, web.origin + path))


@behaviour("mcp:portable-schemas")
async def test_the_inspector_finds_nothing_to_say_about_the_schemas(
    tmp_path: Path, era: Era
) -> None:
    inspector = Inspector(tmp_path, era, *PROGRAM, "stdio")
    listed = await inspector.ask("tools/list", "--strict")
    assert len(listed["tools"]) == 7
    assert "Warning: tool" not in inspector.complaints
