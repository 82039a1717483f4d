"""Looks at what is posted before the SDK does: it takes a request whose id no answer can have for
a notification, and whoever sent it would wait for ever."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidechat_mcp.surfaces.mcp.refusals import unanswerable


class Posted:
    """`most` is how many bytes of a body are looked at; longer ones are the SDK's to refuse."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        came: list[Message] = []
        body = b""
        while not came or (came[-1].get("more_body", False) and len(body) <= self._most):
            came.append(await receive())
            body += came[-1].get("body", b"")
        refused = unanswerable(body) if len(body) <= self._most else None
        if refused is not None:
            said = refused.model_dump_json(by_alias=True, exclude_unset=True)
            await Response(said, 400, media_type="application/json")(scope, receive, send)
            return

        async def again() -> Message:
            return came.pop(0) if came else await receive()

        await self._app(scope, again, send)
