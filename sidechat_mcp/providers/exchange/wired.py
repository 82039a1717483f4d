"""A model behind HTTP: one request, its stream, and what to do when there is none.

A request is sent again only while nothing of an answer has arrived, and to the configured host
only. Whoever leaves the context manager closes the connection."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, cast

import anyio
import anyio.to_thread
import httpx2
from anyio.lowlevel import checkpoint

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.errors import (
    AnswerCut,
    BadCredentials,
    ProviderError,
    RateLimited,
    RejectedRequest,
    Unreachable,
)
from sidechat_mcp.ports.provider import About, Chunk, Spent
from sidechat_mcp.providers.exchange.endpoint import Endpoint
from sidechat_mcp.providers.exchange.failures import Complaint, failure
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.exchange.pace import Pace, Turnstile, Turnstiles, asked_to_wait
from sidechat_mcp.providers.wire.answering import Answer
from sidechat_mcp.providers.wire.pieces import Request
from sidechat_mcp.providers.wire.sse import Decoder

MOST_COMPLAINT = 64 * 1024
"""Bytes read of an answer that is no stream."""
SILENCE = httpx2.Timeout(connect=15.0, read=600.0, write=120.0, pool=15.0)
"""Seconds without a byte; a model may think, or a machine read its prompt, for minutes."""


@dataclass(frozen=True, slots=True)
class Wire:
    """How a kind of provider is spoken to. `headers` are those beside the usual ones; the key is
    None where none is needed."""

    name: str
    path: str
    encode: Callable[[Context], Request]
    answer: Callable[[Context], Answer]
    headers: Callable[[Context, Secret | None], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Access:
    """Where and with what key; `key` looks it up when it is first needed and may block."""

    who: str
    endpoint: Endpoint
    key: Callable[[], Secret | None] = field(repr=False)
    missing: str = ""
    """What to do when there is no key; empty where none is needed."""


@dataclass(slots=True)
class Wired:
    about: About
    wire_: Wire
    access: Access
    turnstiles: Turnstiles
    pace: Pace = field(default_factory=Pace)
    _encoded: tuple[Context, Request] | None = field(default=None, repr=False)
    _key: Secret | None = field(default=None, repr=False)

    def encode(self, context: Context) -> Request:
        """What `stream` would send for `context`."""
        if self._encoded is None or self._encoded[0] is not context:
            self._encoded = (context, self.wire_.encode(context))
        return self._encoded[1]

    def wire(self, context: Context) -> Mapping[str, str]:
        """Digests of the head, of the inherited conversation (breakpoints aside) and of the whole
        body."""
        return self.encode(context).digests(self.wire_.name)

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        async with AsyncExitStack() as stack:
            arriving = await self._opened(stack, context)
            async with aclosing(arriving.chunks()) as chunks:
                yield chunks

    async def _opened(self, stack: AsyncExitStack, context: Context) -> _Arriving:
        key = await self._credentials()
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            # A packed stream would be held back until a packet is full.
            "accept-encoding": "identity",
            "user-agent": "sidechat-mcp",
            **self.wire_.headers(context, key),
        }
        body = self.encode(context).body
        stile = self.turnstiles.at(self.access.endpoint.origin, key.mark if key else "")
        with anyio.move_on_after(self.pace.deadline):
            return await self._attempts(stack, _Letter(self, key, context, headers, body), stile)
        raise Unreachable(
            f"{self.access.who} did not begin to answer within {self.pace.deadline:.0f} s.",
            then="Ask again.",
            retryable=True,
        )

    async def _attempts(
        self, stack: AsyncExitStack, letter: _Letter, stile: Turnstile
    ) -> _Arriving:
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
            except _Turned as turned:
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


class _Turned(Exception):
    """An attempt failed before anything of an answer came."""

    def __init__(self, error: ProviderError, after: float | None = None) -> None:
        super().__init__()
        self.error, self.after = error, after


@dataclass(frozen=True, slots=True)
class _Letter:
    """A request ready to be sent, as often as it takes."""

    of: Wired
    key: Secret | None
    context: Context
    headers: Mapping[str, str]
    body: bytes

    async def send(self, stack: AsyncExitStack) -> _Arriving:
        """Send it and wait for the first of the answer. Raises: _Turned."""
        access = self.of.access
        url = access.endpoint.url + self.of.wire_.path
        secure = url.startswith("https:")
        client = httpx2.AsyncClient(
            verify=_certificates() if secure else False,
            timeout=SILENCE,
            follow_redirects=False,
            trust_env=not access.endpoint.local,
        )
        try:
            await stack.enter_async_context(client)
            sending = client.stream("POST", url, content=self.body, headers=dict(self.headers))
            response = await stack.enter_async_context(sending)
            kind = response.headers.get("content-type", "")
            if response.status_code != 200 or not kind.startswith("text/event-stream"):
                raise await self._turned(response)
            arriving = _Arriving(self, response, self.of.wire_.answer(self.context))
            await arriving.begin()
            return arriving
        except httpx2.HTTPError as error:
            raise _Turned(self.unreachable(error)) from None
        except ProviderError as error:
            raise _Turned(error) from None

    async def _turned(self, response: httpx2.Response) -> _Turned:
        who, status = self.of.access.who, response.status_code
        after = asked_to_wait(response.headers)
        if 300 <= status < 400:
            return _Turned(
                RejectedRequest(f"{who} wants the request sent elsewhere, which is not done.")
            )
        raw = b""
        async for piece in response.aiter_raw():
            raw += piece
            if len(raw) > MOST_COMPLAINT:
                break
        said = _complaint(raw)
        if status == 200 and not said.kinds:
            return _Turned(RejectedRequest(f"{who} answered with no stream of events."))
        error = failure(who, status, replace(said, words=self.without_key(said.words)), after)
        if response.headers.get("x-should-retry") == "false":
            error.retryable = False
        return _Turned(error, after if error.retryable else None)

    def without_key(self, text: str) -> str:
        return self.key.out_of(text) if self.key is not None else text

    def clean(self, error: ProviderError) -> ProviderError:
        """The same error, whose words surely do not hold the key."""
        return type(error)(
            self.without_key(error.message), then=error.then, retryable=error.retryable
        )

    def unreachable(self, error: httpx2.HTTPError) -> ProviderError:
        why = self.without_key(str(error))[:200] if isinstance(error, httpx2.ConnectError) else ""
        return Unreachable(
            f"{self.of.access.who} at {self.of.access.endpoint.origin} cannot be reached"
            f" ({why or type(error).__name__}).",
            then="Check the network and the address, then ask again.",
            retryable=True,
        )


@dataclass(slots=True)
class _Arriving:
    letter: _Letter
    response: httpx2.Response
    answer: Answer
    decoder: Decoder = field(default_factory=Decoder)
    first: list[Chunk] = field(default_factory=list[Chunk])
    failed: ProviderError | None = None
    raw: AsyncIterator[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.raw = self.response.aiter_raw()

    async def begin(self) -> None:
        """Read until something of the answer is there. Raises: ProviderError."""
        while not (self.first or self.answer.begun or self.answer.ended):
            self.first += await self._more()
            if self.failed is not None and not (self.first or self.answer.begun):
                raise self.failed

    async def chunks(self) -> AsyncGenerator[Chunk]:
        more: Sequence[Chunk] = self.first
        while True:
            for chunk in more:
                # Many may come in one packet; others get their turn between them.
                await checkpoint()
                yield chunk
            if self.answer.ended or self.failed is not None:
                break
            more = await self._more()
        if self.failed is not None:
            raise self.failed

    async def _more(self) -> Sequence[Chunk]:
        """What the next bytes give. An error that comes with them is left in `failed`, so that
        what stood before it is not lost."""
        chunks: list[Chunk] = []
        try:
            data = await anext(self.raw, None)
            if data is None:
                raise self._cut()
            for event in self.decoder.feed(data):
                chunks += map(self._named, self.answer.take(event))
        except ProviderError as error:
            self.failed = self.letter.clean(error)
        except httpx2.HTTPError:
            self.failed = self._cut()
        except ValueError as error:
            self.failed = ProviderError(f"{self.letter.of.access.who}: {error}.")
        return chunks

    def _named(self, chunk: Chunk) -> Chunk:
        request = self.response.headers.get("request-id") or self.response.headers.get(
            "x-request-id"
        )
        if isinstance(chunk, Spent) and request:
            return replace(chunk, ids={**chunk.ids, "request": request})
        return chunk

    def _cut(self) -> AnswerCut:
        return AnswerCut(
            f"{self.letter.of.access.who} broke the answer off before its end.",
            then="Ask again.",
            retryable=True,
        )


def bearer(context: Context, key: Secret | None) -> Mapping[str, str]:
    """The key as OpenAI and those who speak like it want it."""
    return {"authorization": f"Bearer {key.reveal()}"} if key is not None else {}


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def _complaint(raw: bytes) -> Complaint:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return Complaint(words=raw.decode("utf-8", "replace"))
    if not isinstance(found, dict):
        return Complaint()
    return Complaint.read(cast("dict[str, Any]", found))
