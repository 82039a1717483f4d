"""What goes out over HTTP, without the characters at which many readers end a line. They are legal
inside JSON text, so the text of an event may hold them; spelled out they say the same."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sidechat_mcp.surfaces.mcp.wire import SEPARATORS

_ESCAPES = {raw.encode(): escape.encode() for raw, escape in SEPARATORS.items()}
_JSON = ("application/json", "text/event-stream")


class Unbroken:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            send = _Spelling(send).send
        await self._app(scope, receive, send)


class _Spelling:
    """One response. An event and a body of a known length each come in one piece."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._json = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            self._json = headers.get("content-type", "").startswith(_JSON)
            if self._json and "content-length" in headers:
                self._start = message  # Its length is known once the body is spelled out.
                return
        elif message["type"] == "http.response.body" and self._json:
            message = {**message, "body": _spelled(message.get("body", b""))}
            if self._start is not None:
                start, self._start = self._start, None
                MutableHeaders(scope=start)["content-length"] = str(len(message["body"]))
                await self._send(start)
        await self._send(message)


def _spelled(body: bytes) -> bytes:
    if not body.isascii():
        for raw, escape in _ESCAPES.items():
            body = body.replace(raw, escape)
    return body
