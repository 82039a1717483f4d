"""What goes over a client's pipes: whole lines of JSON, whatever comes in and whatever happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.behaviours import behaviour
from tests.mcp.processes import META, Lines, started

NOISY = """
import sys
class Noise:
    def find_spec(self, name, path=None, target=None):
        if name in ("anyio", "pydantic", "mcp", "apsw", "uvicorn"):
            print(f"{name} is being imported", flush=True)
sys.meta_path.insert(0, Noise())
"""


@behaviour("mcp:only-json")
@pytest.mark.parametrize("how", ["plainly", "noisily", "with every warning", "with bad settings"])
async def test_nothing_but_json_lines_reaches_the_client(tmp_path: Path, how: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOISY if how == "noisily" else "")
    more = {"PYTHONWARNINGS": "always"} if how == "with every warning" else {}
    if how == "with bad settings":
        more = {"SIDECHAT_AGENT": "nonsense", "SIDECHAT_NOTE_CAP": "x"}
    paths = f"{tmp_path}:{Path.cwd()}"
    command = [sys.executable, "-m", "sidechat_mcp", "serve"]
    async with started(
        tmp_path, *command, stderr=subprocess.DEVNULL, PYTHONPATH=paths, **more
    ) as server:
        await server.ask("tools/list")
        answer = await server.ask("tools/call", {"name": "sessions", "arguments": {}})
        assert server.process.stdin is not None
        await server.process.stdin.aclose()
        rest = await server.rest()
    assert answer["result"].get("isError", False) is (how == "with bad settings")
    assert [json.loads(line)["jsonrpc"] for line in server.seen + rest] == ["2.0", "2.0"]


@behaviour("mcp:deep-nesting")
@pytest.mark.parametrize("depth", [64, 200, 1_000, 100_000])
async def test_a_message_nested_too_deeply_fails_alone(tmp_path: Path, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    async with started(tmp_path) as server:
        params = (
            f'"params":{{"_meta":{json.dumps(META)},"name":"converse",'
            f'"arguments":{{"message":{nested}}}}}'
        )
        for line in (
            f'{{"jsonrpc":"2.0","id":"a","method":"tools/call",{params}}}\n',
            f'{{"jsonrpc":"2.0","method":"tools/call",{params},"id":"b"}}\n',
        ):
            await server.send(line.encode())
        for id in ("a", "b"):
            answer = await server.answer(id)
            failed = answer.get("error", {}).get("code") == -32600
            assert failed or answer["result"]["isError"]
        assert "result" in await server.ask("tools/list")


@behaviour("mcp:no-message")
async def test_what_is_no_message_is_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    bad: list[tuple[bytes, int]] = [
        (b"not json", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc":"2.0","method":5,"id":7}', -32600),
        (b'{"jsonrpc":"1.0","method":"ping","id":7}', -32600),
    ]
    async with started(tmp_path) as server:
        for line, code in bad:
            await server.send(line + b"\n")
            answer = await server.next()
            assert answer["error"]["code"] == code, line
            assert answer["id"] == (7 if b'"id":7' in line else None)
        # Answers to questions we never asked, and blank lines, are nothing to complain about.
        await server.send(b"\n  \n")
        await server.send(b'{"jsonrpc":"2.0","id":99,"error":{}}\n')
        assert "result" in await server.ask("tools/list")


@behaviour("mcp:no-message")
@pytest.mark.parametrize("id", ["null", "{}", "[]", "1.5", "true", "1e400"])
async def test_a_request_whose_id_no_answer_can_have_is_refused_and_not_forgotten(
    tmp_path: Path, id: str
) -> None:
    async with started(tmp_path) as server:
        for name in ("id", "\\u0069d"):
            sent = f'{{"jsonrpc":"2.0","method":"tools/list","params":{{"id":1}},"{name}":{id}}}\n'
            await server.send(sent.encode())
            answer = await server.next()
            assert (answer["id"], answer["error"]["code"]) == (None, -32600)
        # A notification may speak of ids as it likes.
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        await server.send(json.dumps(told).replace("requestId", "id").encode() + b"\n")
        assert "result" in await server.ask("tools/list")


@behaviour("mcp:line-ends")
async def test_a_line_ends_at_line_feed_and_nowhere_else(tmp_path: Path) -> None:
    words = "a\u2028b\u2029c\u0085d\u000be\u001cf"
    async with started(tmp_path) as server:
        await server.call("fork")
        sent = {
            "jsonrpc": "2.0",
            "id": "crlf",
            "method": "tools/call",
            "params": {"_meta": META, "name": "converse", "arguments": {"message": words}},
        }
        await server.send(json.dumps(sent, ensure_ascii=False).encode() + b"\r\n")
        answer = await server.answer("crlf")
    assert answer["result"]["structuredContent"]["answer"] == f"You said: {words}"
    line = server.seen[-1]
    assert b"\r" not in line
    assert len(line.decode().splitlines()) == 1


@behaviour("mcp:slow-reader")
async def test_a_large_answer_to_a_client_that_reads_late_arrives_whole(tmp_path: Path) -> None:
    async with started(tmp_path) as server:
        await server.call("fork")
        large = await server.request(
            "tools/call", {"name": "converse", "arguments": {"message": "long 3000000"}}
        )
        # Nobody reads yet: the pipe is full and the rest of the answer waits.
        small = await server.request("tools/list")
        with anyio.fail_after(30):
            answers = {(await server.next())["id"] for _ in range(2)}
    assert answers == {large, small}


@behaviour("mcp:whole-or-nothing")
async def test_an_answer_cut_off_by_the_end_of_input_is_whole_or_not_there(
    tmp_path: Path,
) -> None:
    async with started(tmp_path) as server:
        session = (await server.call("fork"))["session"]
        await server.call("converse", session=session, message="long 200000")
        await server.request(
            "tools/call", {"name": "read_session", "arguments": {"session": session}}
        )
        assert server.process.stdin is not None
        await server.process.stdin.aclose()
        rest = await server.rest()
        code, took = await server.ended()
    assert (code, took <= 2.0) == (0, True)
    assert all(line.endswith(b"\n") and json.loads(line) for line in rest)


@behaviour("mcp:stderr-unread")
async def test_a_client_that_never_reads_stderr_is_served_all_the_same(tmp_path: Path) -> None:
    unread, stderr = os.pipe()
    try:
        async with started(tmp_path, stderr=stderr) as server:
            for _ in range(1000):
                # Each of these leaves a warning in the log.
                await refused(server)
            assert "result" in await server.ask("tools/list")
    finally:
        os.close(unread)
        os.close(stderr)


async def refused(server: Lines) -> None:
    answer = await server.ask("prompts/get", {"name": "fork", "requestState": "v1.forged"})
    assert answer["error"]["code"] == -32602


@behaviour("mcp:fast-start")
async def test_nothing_of_the_log_is_touched_before_a_call_needs_it(tmp_path: Path) -> None:
    async with started(tmp_path) as server:
        await server.ask("server/discover")
        await server.ask("tools/list")
        await server.ask("prompts/list")
        assert os.listdir(tmp_path) == []
        await server.call("sessions")
        assert "log.db" in os.listdir(tmp_path)


@behaviour("mcp:piped-at-once")
async def test_requests_piped_in_at_once_are_answered_before_the_server_ends(
    tmp_path: Path,
) -> None:
    async with started(tmp_path) as server:
        for n in range(3):
            await server.request("tools/call", {"name": "sessions", "arguments": {"limit": n + 1}})
        assert server.process.stdin is not None
        await server.process.stdin.aclose()
        rest = await server.rest()
        code, _ = await server.ended()
    assert code == 0
    assert sorted(json.loads(line)["id"] for line in rest) == [1, 2, 3]
    assert all("result" in json.loads(line) for line in rest)
