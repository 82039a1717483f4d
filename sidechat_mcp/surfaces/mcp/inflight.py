"""The HTTP requests that are being answered, so that a server that ends can end them in good
order: what only listens at once, answers after a while. A cut one ends; it does not fail."""

from __future__ import annotations

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class InFlight:
    """Around `app`. What was opened with GET only listens; all else is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._streams: set[anyio.CancelScope] = set()
        self._answers: set[anyio.CancelScope] = set()

    def end_streams(self) -> None:
        """End what was opened to listen, and would never end by itself."""
        for scope in list(self._streams):
            scope.cancel()

    def end_answers(self) -> None:
        for scope in list(self._answers):
            scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reply = _Reply(send)
        kept = self._streams if scope["method"] == "GET" else self._answers
        with anyio.CancelScope() as cut:
            kept.add(cut)
            try:
                await self._app(scope, receive, reply.send)
            except Exception:
                if not cut.cancel_called:
                    raise  # What breaks while it is cut is not worth a word.
            finally:
                kept.discard(cut)
        if cut.cancel_called:
            await reply.finish()


class _Reply:
    """A response on its way: how far it is."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = self._over = False

    async def send(self, message: Message) -> None:
        await self._send(message)
        match message["type"]:
            case "http.response.start":
                self._begun = True
            case "http.response.body":
                self._over = not message.get("more_body", False)
            case _:
                pass

    async def finish(self) -> None:
        if not self._begun:
            await self.send({"type": "http.response.start", "status": 503, "headers": []})
        if not self._over:
            await self.send({"type": "http.response.body", "body": b""})
