"""Which connections are given up before a request has come in on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from sidechat_mcp.surfaces.mcp import loitering
from sidechat_mcp.surfaces.mcp.loitering import Loiterers
from tests.behaviours import behaviour
from tests.mcp.web import serving_web


@dataclass
class Request:
    response_complete: bool = False


@dataclass(eq=False)
class Line:
    """A connection as the web server holds one, with the way to close it."""

    cycle: Request | None = None
    closed: int = 0
    transport: Line = field(init=False)

    def __post_init__(self) -> None:
        self.transport = self

    def close(self) -> None:
        self.closed += 1


@behaviour("mcp:bodies")
def test_a_connection_on_which_no_request_comes_is_given_up() -> None:
    silent, at_work, done, websocket = Line(), Line(Request()), Line(Request(True)), object()
    lines = [silent, at_work, done, websocket]
    loiterers = Loiterers()
    for now in (0.0, 9.9):
        loiterers.give_up(lines, now)
    assert (silent.closed, at_work.closed, done.closed) == (0, 0, 0)
    done.cycle = Request(True)  # One more request came and was answered meanwhile.
    loiterers.give_up(lines, 10.0)
    assert (silent.closed, at_work.closed, done.closed) == (1, 0, 0)
    loiterers.give_up(lines[1:], 20.0)
    assert (at_work.closed, done.closed) == (0, 1)


@behaviour("mcp:bodies")
async def test_a_request_that_never_comes_whole_is_not_waited_for(tmp_path: Path) -> None:
    async def begin(sent: bytes) -> None:
        async with await anyio.connect_tcp("127.0.0.1", web.port) as stream:
            if sent:
                await stream.send(sent)
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await stream.receive()

    async with serving_web(tmp_path) as web:
        with anyio.fail_after(loitering.PATIENCE + 20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(begin, b"")
                tasks.start_soon(begin, b"POST /mcp HTTP/1.1\r\nHost: x")
