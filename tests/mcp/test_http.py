"""The server over HTTP: who is let in, whose sessions they see, and how it ends."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from sidechat_mcp.errors import InvalidRequest, OutsideError
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.surfaces.mcp import http
from tests.behaviours import behaviour
from tests.mcp.conftest import Era, client
from tests.mcp.processes import META, environment
from tests.mcp.program import opened
from tests.mcp.web import Web, serving_web

ROUTES = [
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("OPTIONS", "/mcp"),
    ("GET", "/sse"),
    ("POST", "/messages/"),
    ("GET", "/"),
    ("GET", "/health"),
]
# The first is this machine's own person, who has conversations here to fork.
SECRETS = {"bearer": "a" * 32, "berta": "b" * 32}


@contextlib.asynccontextmanager
async def visiting(
    web: Web, era: Era, secret: str | None = None, **options: Any
) -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as web_client,
        client(
            streamable_http_client(f"{web.origin}/mcp", http_client=web_client), era, **options
        ) as visitor,
    ):
        yield visitor


async def status(web: Web, method: str, path: str, *headers: tuple[str, str]) -> int:
    """The status line's number for exactly these header lines."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    request = "\r\n".join([*lines, "Content-Length: 0", "Connection: close", "", ""])
    stream = await anyio.connect_tcp("127.0.0.1", web.port)
    async with stream:
        await stream.send(request.encode("latin-1"))
        with anyio.fail_after(10):
            answer = await stream.receive(64)
    return int(answer.split()[1])


def strange_hosts(port: int) -> Iterator[str]:
    names = ["evil.example", "localhost.evil.example", "127.0.0.1.nip.example", "localhost."]
    names += ["LOCALHOST", "127.0.0.2", "127.1", "0.0.0.0", "[::]", "2130706433", "0x7f000001"]
    names += ["user@localhost", "localhost@evil.example", "[::1]evil", "[::ffff:127.0.0.1]", ""]
    for name in names:
        yield f"{name}:{port}"
        yield name
    for name, tail in itertools.product(["127.0.0.1", "localhost", "[::1]"], TAILS):
        yield f"{name}{tail.replace('PORT', str(port))}"


TAILS = ["", ":", ":0", ":PORT1", ":PORT@evil", ":PORT.evil", ":evil", ":PORT/", ":PORT ,x"]
ORIGINS = [
    "null",
    "file://",
    "https://evil.example",
    "http://localhost",
    "http://127.0.0.1:1",
    "chrome-extension://abc",
    "http://localhost.evil:PORT",
    "https://127.0.0.1:PORT",
]


@behaviour("mcp:host-and-origin")
async def test_only_the_exact_hosts_and_origins_are_served_on_every_route(tmp_path: Path) -> None:
    async with serving_web(tmp_path) as web:
        good = ("Host", f"127.0.0.1:{web.port}")
        for method, path in ROUTES:
            for host in strange_hosts(web.port):
                found = await status(web, method, path, ("Host", host))
                assert found in (400, 421), (method, path, host)
            for origin in ORIGINS:
                named = ("Origin", origin.replace("PORT", str(web.port)))
                found = await status(web, method, path, good, named)
                assert found == 403, (method, path, origin)
            evil = ("Host", "evil.example")
            for double in ([good, good], [good, evil], [evil, good]):
                assert await status(web, method, path, *double) in (400, 421)
            forwarded = ("X-Forwarded-Host", good[1])
            assert await status(web, method, path, evil, forwarded) == 421
        assert await status(web, "GET", "/health", good) == 404
        assert await status(web, "OPTIONS", "/mcp", good) == 405


@behaviour("mcp:token")
async def test_with_a_token_no_route_answers_without_it(tmp_path: Path) -> None:
    async with serving_web(tmp_path, secrets=SECRETS) as web:
        host = ("Host", f"127.0.0.1:{web.port}")
        wrong = [
            "Bearer",
            "Bearer ",
            "Bearer wrong",
            f"Basic {SECRETS['bearer']}",
            SECRETS["bearer"],
        ]
        for method, path in ROUTES:
            assert await status(web, method, path, host) == 401
            for value in wrong:
                given = ("Authorization", value)
                assert await status(web, method, path, host, given) == 401
        good = ("Authorization", f"bearer {SECRETS['bearer']}")
        assert await status(web, "GET", "/health", host, good) == 404
        assert await status(web, "GET", "/health", host, good, good) == 401


@behaviour("mcp:token-needed")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_without_a_token_only_this_machine_is_served(host: str) -> None:
    with pytest.raises(InvalidRequest, match="Give a token"):
        http.serve(host, 0)


@behaviour("mcp:port-taken")
async def test_a_port_that_is_taken_is_one_plain_sentence(free_tcp_port: int) -> None:
    taken = http.listen("127.0.0.1", free_tcp_port)
    with taken, pytest.raises(OutsideError, match="Choose another port"):
        http.listen("127.0.0.1", free_tcp_port)


@behaviour("mcp:bodies")
@pytest.mark.parametrize("path", ["/mcp", "/messages/?session_id=" + "0" * 32])
async def test_a_body_too_large_or_encoded_is_refused_before_it_is_kept(
    tmp_path: Path, path: str
) -> None:
    async with serving_web(tmp_path) as web, httpx2.AsyncClient(base_url=web.origin) as sender:
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }

        async def endless() -> AsyncGenerator[bytes]:
            for _ in range(5 << 10):
                yield b"x" * 1024

        large = await sender.post(path, content=endless(), headers=headers)
        zipped = await sender.post(
            path, content=b"x", headers={**headers, "content-encoding": "gzip"}
        )
    assert (large.status_code, zipped.status_code) == (413, 415)


@behaviour("mcp:deep-nesting")
@pytest.mark.parametrize("depth", [200, 1_000, 100_000])
async def test_a_deep_body_fails_alone(tmp_path: Path, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    modern = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "fork"}
    async with serving_web(tmp_path) as web, httpx2.AsyncClient(base_url=web.origin) as sender:
        for more in ({}, modern):
            body = (
                f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":'
                f'{json.dumps(META)},"name":"fork","arguments":{{"parent":{nested}}}}}}}'
            )
            accept = {"accept": "application/json, text/event-stream"}
            kind = {"content-type": "application/json"}
            answer = await sender.post("/mcp", content=body, headers={**accept, **kind, **more})
            assert answer.status_code in (200, 400)
            if answer.status_code == 200:
                assert answer.json()["result"]["isError"]
        async with visiting(web, "modern") as visitor:
            assert (await visitor.list_tools()).tools


@behaviour("mcp:whose-message")
async def test_a_message_without_its_own_stream_reaches_nobodys(tmp_path: Path) -> None:
    async with serving_web(tmp_path) as web, httpx2.AsyncClient(base_url=web.origin) as sender:
        message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        for query in ("", "?session_id=", "?session_id=x"):
            answer = await sender.post(f"/messages/{query}", json=message)
            assert answer.status_code == 400
        answer = await sender.post(f"/messages/?session_id={'0' * 32}", json=message)
        assert answer.status_code == 404


async def forked(visitor: Client) -> str:
    """The id of a new side session."""
    result = await visitor.call_tool("fork", {"parent": "shelf:r1"})
    assert result.structured_content is not None, result
    return result.structured_content["session"]


async def outcome(asking: Any) -> tuple[str, str]:
    """How a request failed, without the ids it names."""
    try:
        result = await asking
    except MCPError as error:
        return "refused", str(error)
    if isinstance(result, CallToolResult) and result.is_error:
        assert isinstance(result.content[0], TextContent)
        return "error", result.content[0].text
    return "answered", ""


@behaviour("mcp:no-message")
@pytest.mark.parametrize("path", ["/mcp", "/messages/?session_id=" + "0" * 32])
@pytest.mark.parametrize("id", [None, {}, 1.5, True])
async def test_a_posted_request_whose_id_no_answer_can_have_is_refused(
    tmp_path: Path, path: str, id: object
) -> None:
    sent = {"jsonrpc": "2.0", "id": id, "method": "ping"}
    async with serving_web(tmp_path) as web, httpx2.AsyncClient() as web_client:
        answer = await web_client.post(web.origin + path, json=sent)
    assert (answer.status_code, answer.json()["id"]) == (400, None)
    assert answer.json()["error"]["code"] == -32600


@behaviour("mcp:principals")
async def test_another_principals_sessions_are_as_good_as_not_there(
    tmp_path: Path, era: Era
) -> None:
    async with (
        serving_web(tmp_path, secrets=SECRETS) as web,
        visiting(web, era, SECRETS["bearer"]) as anna,
        visiting(web, era, SECRETS["berta"]) as berta,
    ):
        session = await forked(anna)
        await anna.call_tool("converse", {"session": session, "message": "hello"})
        nobodys = "nobody" + session[6:]

        async def tried(session: str) -> list[tuple[str, str]]:
            uri = f"sidechat://sessions/{session}"
            attempts = [
                berta.call_tool("fork", {"parent": session}),
                berta.call_tool("converse", {"session": session, "message": "x"}),
                berta.call_tool("merge", {"session": session}),
                berta.call_tool("merge", {"session": session, "draft": True}),
                berta.call_tool("sessions", {"parent": session}),
                berta.call_tool("read_session", {"session": session}),
                berta.call_tool("forget", {"session": session}),
                berta.read_resource(uri),
                berta.read_resource(f"{uri}/log"),
                berta.read_resource(f"{uri}/turns/3"),
            ]
            found = [await outcome(one) for one in attempts]
            return [(how, said.replace(session, "ID")) for how, said in found]

        theirs = await tried(session)
        assert theirs == await tried(nobodys)
        assert {how for how, _ in theirs} == {"error", "refused"}
        assert (await berta.list_resources()).resources == []
        assert len((await anna.list_resources()).resources) == 1


def listening(visitor: Client, era: Era) -> contextlib.AbstractAsyncContextManager[Any]:
    """An open stream of changes; a client of the older era has one from the beginning."""
    if era == "legacy":
        return contextlib.nullcontext()
    return visitor.listen(resources_list_changed=True)


@behaviour("mcp:ends-well-http")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
async def test_with_open_streams_and_an_answer_on_its_way_it_ends_soon_and_well(
    tmp_path: Path, era: Era, ending: signal.Signals
) -> None:
    begun = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    code, took, said = -1, 9.0, b"?"
    async with serving_web(tmp_path) as web, anyio.create_task_group() as tasks:

        async def converse() -> None:
            # What the client makes of the end of its server is not the point here.
            with contextlib.suppress(Exception):
                events = client(sse_client(f"{web.origin}/sse"), era)
                async with visiting(web, era) as visitor, events, listening(visitor, era):
                    ask = {"session": await forked(visitor), "message": "wait for me"}
                    await visitor.call_tool("converse", ask, progress_callback=hear)

        tasks.start_soon(converse)
        with anyio.fail_after(15):
            await begun.wait()
        web.process.send_signal(ending)
        started = anyio.current_time()
        with anyio.fail_after(8):
            code = await web.process.wait()
        took = anyio.current_time() - started
        assert web.process.stderr is not None
        with anyio.fail_after(5):
            said = b"".join([chunk async for chunk in web.process.stderr])
        tasks.cancel_scope.cancel()
    assert (code, took <= 2.0, said) == (0, True, b"")
    async with opened(environment(tmp_path)) as sidechat:
        (listed,) = (await sidechat.sessions(Caller())).sessions
        state, _ = await sidechat.side(Caller(), listed.session)
        assert [turn.reason for turn in state.own_turns] == ["interrupted"]
