"""A model behind HTTP: what is sent to it, when it is sent again, and what to do without an answer.

A request is sent again only while nothing of an answer has arrived. Whoever leaves the context
manager closes the connection."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.errors import BadCredentials, RateLimited, Unreachable
from sidechat_mcp.ports.provider import About, Chunk
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.exchange.letter import Arriving, Letter, Turned
from sidechat_mcp.providers.exchange.pace import Pace, Turnstile, Turnstiles
from sidechat_mcp.providers.exchange.speech import Access, Wire
from sidechat_mcp.providers.exchange.windows import Window
from sidechat_mcp.providers.wire.pieces import Request


@dataclass(slots=True)
class Wired:
    about: About
    speech: Wire
    access: Access
    turnstiles: Turnstiles
    pace: Pace = field(default_factory=Pace)
    told: Window = field(default_factory=Window, repr=False)
    _encoded: tuple[Context, Request] | None = field(default=None, repr=False)
    _key: Secret | None = field(default=None, repr=False)

    def encode(self, context: Context) -> Request:
        """What `stream` would send for `context`."""
        if self._encoded is None or self._encoded[0] is not context:
            self._encoded = (context, self.speech.encode(context))
        return self._encoded[1]

    def wire(self, context: Context) -> Mapping[str, str]:
        """Digests of the head, of the inherited conversation (breakpoints aside) and of the whole
        body, under the names of the wire and of the form."""
        return self.encode(context).digests(self.speech.name, self.speech.form)

    async def window(self) -> int | None:
        """What the server says that one request may have (`ports.provider.Windowed`)."""
        return await self.told.ask(self.speech, self.access, self.about.model or "")

    async def key_place(self) -> str:
        """Where its key was found (`ports.provider.Keyed`)."""
        key = await self._credentials()
        return key.place if key is not None else ""

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        async with AsyncExitStack() as stack:
            arriving = await self._opened(stack, context)
            async with aclosing(arriving.chunks()) as chunks:
                yield chunks

    async def _opened(self, stack: AsyncExitStack, context: Context) -> Arriving:
        key = await self._credentials()
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            # A packed stream would be held back until a packet is full.
            "accept-encoding": "identity",
            "user-agent": "sidechat-mcp",
            **self.speech.headers(context, key),
        }
        letter = Letter(
            self.access.who,
            self.access.endpoint,
            self.speech.path,
            key,
            headers,
            self.encode(context).body,
            lambda: self.speech.answer(context),
        )
        stile = self.turnstiles.at(self.access.endpoint.origin, key.mark if key else "")
        with anyio.move_on_after(self.pace.deadline):
            return await self._attempts(stack, letter, stile)
        raise Unreachable(
            f"{self.access.who} did not begin to answer within {self.pace.deadline:.0f} s.",
            then="Ask again.",
            retryable=True,
        )

    async def _attempts(self, stack: AsyncExitStack, letter: Letter, stile: Turnstile) -> Arriving:
        attempt = 0
        end = anyio.current_time() + self.pace.deadline
        while True:
            attempt += 1
            if stile.remaining() > self.pace.deadline:
                raise self._closed(stile.remaining())
            await stile.pass_through(self.pace)
            try:
                async with AsyncExitStack() as trying:
                    arriving = await letter.send(trying)
                    stack.push_async_exit(trying.pop_all())
                    return arriving
            except Turned as turned:
                error, asked = turned.error, turned.after
                if asked is not None:
                    stile.close(asked)
            wait = self.pace.wait(attempt, asked)
            late = anyio.current_time() + wait >= end
            if not error.retryable or attempt >= self.pace.attempts or late:
                raise error
            await anyio.sleep(wait)

    def _closed(self, seconds: float) -> RateLimited:
        return RateLimited(
            f"{self.access.who} takes no more requests for this key now.",
            then=f"Ask again in {seconds:.0f} s.",
            retryable=True,
        )

    async def _credentials(self) -> Secret | None:
        if self._key is None:
            self._key = await anyio.to_thread.run_sync(self.access.key)
        if self._key is None and self.access.missing:
            raise BadCredentials(
                f"There is no key for {self.access.who}.", then=self.access.missing
            )
        return self._key
