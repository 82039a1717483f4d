"""Looks at what is posted before the SDK does: it takes a request whose id no answer can have for
a notification, and whoever sent it would wait for ever. It waits for no body that is too large or
never comes, whoever sends it."""

from __future__ import annotations

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidechat_mcp.surfaces.mcp.refusals import unanswerable

PATIENCE = 10.0
"""Seconds that a whole body has to come in."""


class Posted:
    """`most` is how many bytes of a body are looked at; longer ones are the SDK's to refuse,
    unless they are announced as such."""

    def __init__(self, app: ASGIApp, most: int, patience: float = PATIENCE) -> None:
        self._app = app
        self._most = most
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > self._most:
            await _closing("That body is too large.", 413)(scope, receive, send)
            return
        came: list[Message] = []
        body = b""
        with anyio.move_on_after(self._patience) as waited:
            while not came or (came[-1].get("more_body", False) and len(body) <= self._most):
                came.append(await receive())
                body += came[-1].get("body", b"")
        if waited.cancelled_caught:
            await _closing("The body took too long to come in.", 408)(scope, receive, send)
            return
        refused = unanswerable(body) if len(body) <= self._most else None
        if refused is not None:
            said = refused.model_dump_json(by_alias=True, exclude_unset=True)
            await Response(said, 400, media_type="application/json")(scope, receive, send)
            return

        async def again() -> Message:
            return came.pop(0) if came else await receive()

        await self._app(scope, again, send)


def _closing(said: str, status: int) -> Response:
    """A refusal after which nothing more is read from whoever sent that."""
    return Response(said, status, headers={"connection": "close"})
