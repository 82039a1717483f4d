"""Bodies that are announced too large, or that do not come in."""

from __future__ import annotations

import anyio
import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from sidechat_mcp.surfaces.mcp.posted import Posted
from tests.behaviours import behaviour


async def served(scope: Scope, receive: Receive, send: Send) -> None:
    """What stands behind: it answers with the body it got."""
    await Response((await receive())["body"])(scope, receive, send)


async def answer(
    *pieces: bytes, length: str | None = None, whole: bool = False
) -> tuple[int, bytes]:
    """Status and body for a POST of which these pieces come in; not `whole`, it never ends."""
    came = list(pieces)

    async def receive() -> Message:
        if not came:
            await anyio.sleep_forever()
        body = came.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(came) or not whole}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [] if length is None else [(b"content-length", length.encode())]
    scope: Scope = {"type": "http", "method": "POST", "headers": headers}
    with anyio.fail_after(5):
        await Posted(served, 100, patience=0.05)(scope, receive, send)
    return sent[0]["status"], sent[1]["body"]


@behaviour("mcp:bodies")
@pytest.mark.parametrize("length", ["101", "9999999999", "9" * 5000, "-1", "1e3", "٣"])
async def test_a_body_that_is_announced_too_large_is_not_waited_for(length: str) -> None:
    assert (await answer(b"{", length=length))[0] == 413


@behaviour("mcp:bodies")
@pytest.mark.parametrize("pieces", [(), (b"{",), (b"{", b'"', b"a")])
async def test_a_body_that_does_not_come_in_is_not_waited_for_for_ever(
    pieces: tuple[bytes, ...],
) -> None:
    assert (await answer(*pieces, length="50"))[0] == 408


async def test_a_body_that_comes_in_is_handed_on() -> None:
    assert await answer(b"{}", length="2", whole=True) == (200, b"{}")
    assert await answer(b"{}", whole=True) == (200, b"{}")
