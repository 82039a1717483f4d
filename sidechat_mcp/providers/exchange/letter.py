"""A request on its way, and the stream that comes back: one attempt, to one host."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, cast

import httpx2
from anyio.lowlevel import checkpoint

from sidechat_mcp.errors import AnswerCut, ProviderError, RejectedRequest, Unreachable
from sidechat_mcp.ports.provider import Chunk, Spent
from sidechat_mcp.providers.exchange.endpoint import Endpoint
from sidechat_mcp.providers.exchange.failures import Complaint, failure
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.exchange.pace import asked_to_wait
from sidechat_mcp.providers.wire.answering import Answer
from sidechat_mcp.providers.wire.sse import Decoder

MOST_COMPLAINT = 64 * 1024
"""Bytes read of an answer that is no stream."""
SILENCE = httpx2.Timeout(connect=15.0, read=600.0, write=120.0, pool=15.0)
"""Seconds without a byte; a model may think, or a machine read its prompt, for minutes."""


class Turned(Exception):
    """An attempt failed before anything of an answer came."""

    def __init__(self, error: ProviderError, after: float | None = None) -> None:
        super().__init__()
        self.error, self.after = error, after


@dataclass(frozen=True, slots=True)
class Letter:
    """A request ready to be sent, as often as it takes."""

    who: str
    endpoint: Endpoint
    path: str
    key: Secret | None
    headers: Mapping[str, str]
    body: bytes
    answer: Callable[[], Answer]

    async def send(self, stack: AsyncExitStack) -> Arriving:
        """Send it and wait for the first of the answer. Raises: Turned."""
        url = self.endpoint.url + self.path
        try:
            asking = await stack.enter_async_context(client(self.endpoint))
            sending = asking.stream("POST", url, content=self.body, headers=dict(self.headers))
            response = await stack.enter_async_context(sending)
            kind = response.headers.get("content-type", "")
            if response.status_code != 200 or not kind.startswith("text/event-stream"):
                raise await self._turned(response)
            arriving = Arriving(self, response, self.answer())
            await arriving.begin()
            return arriving
        except httpx2.HTTPError as error:
            raise Turned(self.unreachable(error)) from None
        except ProviderError as error:
            raise Turned(error) from None

    async def _turned(self, response: httpx2.Response) -> Turned:
        who, status = self.who, response.status_code
        after = asked_to_wait(response.headers)
        if 300 <= status < 400:
            return Turned(
                RejectedRequest(f"{who} wants the request sent elsewhere, which is not done.")
            )
        raw = b""
        async for piece in response.aiter_raw():
            raw += piece
            if len(raw) > MOST_COMPLAINT:
                break
        said = _complaint(raw)
        if status == 200 and not said.kinds:
            return Turned(RejectedRequest(f"{who} answered with no stream of events."))
        error = failure(who, status, replace(said, words=self.without_key(said.words)), after)
        if response.headers.get("x-should-retry") == "false":
            error.retryable = False
        return Turned(error, after if error.retryable else None)

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
            f"{self.who} at {self.endpoint.origin} cannot be reached"
            f" ({why or type(error).__name__}).",
            then="Check the network and the address, then ask again.",
            retryable=True,
        )


@dataclass(slots=True)
class Arriving:
    letter: Letter
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
            self.failed = ProviderError(f"{self.letter.who}: {error}.")
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
            f"{self.letter.who} broke the answer off before its end.",
            then="Ask again.",
            retryable=True,
        )


def client(where: Endpoint) -> httpx2.AsyncClient:
    """What speaks to `where`, and follows nobody elsewhere."""
    return httpx2.AsyncClient(
        verify=_certificates() if where.origin.startswith("https:") else False,
        timeout=SILENCE,
        follow_redirects=False,
        trust_env=not where.local,
    )


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
