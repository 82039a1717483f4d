"""Characters that end a line for many readers, in what goes out over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2

from tests.behaviours import behaviour
from tests.mcp.processes import META
from tests.mcp.web import serving_web

WORDS = "a\u2028b\u2029c\u0085d"
ACCEPT = {"accept": "application/json, text/event-stream"}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "1"},
}


def asked(id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def conversed(id: int, **more: Any) -> dict[str, Any]:
    return asked(id, "tools/call", name="converse", arguments={"message": WORDS}, **more)


def answered(body: bytes) -> str:
    """The answer in a body or a stream in which no reader of lines can find an end too many."""
    text = body.decode()
    assert text.splitlines() == text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    line = next(line for line in text.split("\n") if '"result"' in line)
    return json.loads(line.removeprefix("data: "))["result"]["structuredContent"]["answer"]


@behaviour("mcp:line-ends")
async def test_no_line_of_an_answer_ends_too_early(tmp_path: Path) -> None:
    modern = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call"}
    async with serving_web(tmp_path) as web, httpx2.AsyncClient(base_url=web.origin) as sender:
        opened = asked(1, "tools/call", name="fork", arguments={}, _meta=META)
        made = await sender.post(
            "/mcp", json=opened, headers=ACCEPT | modern | {"mcp-name": "fork"}
        )
        assert made.status_code == 200
        of_now = await sender.post(
            "/mcp",
            json=conversed(2, _meta=META),
            headers=ACCEPT | modern | {"mcp-name": "converse"},
        )
        hello = await sender.post("/mcp", json=asked(3, "initialize", **HELLO), headers=ACCEPT)
        session = {"mcp-session-id": hello.headers["mcp-session-id"]}
        of_before = await sender.post("/mcp", json=conversed(4), headers=ACCEPT | session)
        refused = await sender.post(
            "/mcp", json=asked(5, "tools/list"), headers=ACCEPT | {"mcp-session-id": "x"}
        )
    assert of_before.headers["content-type"].startswith("text/event-stream")
    assert [answered(one.content) for one in (of_now, of_before)] == [f"You said: {WORDS}"] * 2
    assert len(refused.content) == int(refused.headers["content-length"])


@behaviour("mcp:line-ends")
async def test_no_line_of_an_older_event_stream_ends_too_early(tmp_path: Path) -> None:
    async with (
        serving_web(tmp_path) as web,
        httpx2.AsyncClient(base_url=web.origin) as sender,
        sender.stream("GET", "/sse") as stream,
    ):
        pieces = stream.aiter_bytes()
        place = (await until(pieces, b"data: /messages")).partition(b"data: ")[2].split()[0]
        for message in (
            asked(1, "initialize", **HELLO),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            asked(2, "tools/call", name="fork", arguments={}),
        ):
            await sender.post(place.decode(), json=message)
        await until(pieces, b'"id":2')
        await sender.post(place.decode(), json=conversed(3))
        said = await until(pieces, b'"id":3')
    assert answered(said) == f"You said: {WORDS}"


async def until(pieces: AsyncIterator[bytes], mark: bytes) -> bytes:
    """What came up to the end of the event that holds `mark`."""
    came = b""
    with anyio.fail_after(15):
        while not (mark in came and came.endswith(b"\r\n\r\n")):
            came += await anext(pieces)
    return came
