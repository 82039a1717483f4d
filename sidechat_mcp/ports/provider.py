"""A model behind a wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Block
from sidechat_mcp.core.events import Verdict

Stop = Literal["end", "tool_use", "max_tokens", "refusal", "content_filter", "empty"]


@dataclass(frozen=True, slots=True)
class Delta:
    """Readable text as it arrives; heard, never kept."""

    text: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A finished block of the answer, in order. Text blocks come once whole, after their deltas."""

    block: Block


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of this request, as reported; None = not reported. `input` is the whole prompt."""

    input: int | None
    output: int | None
    cache_read: int | None = None
    cache_write: int | None = None
    ids: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Done:
    """The provider's own terminal event was seen."""

    stop: Stop = "end"
    model: str | None = None
    verdict: Verdict | None = None
    detail: str | None = None


Chunk = Delta | Whole | Spent | Done


@dataclass(frozen=True, slots=True)
class About:
    """What a person is told of an agent before they talk to it."""

    name: str
    model: str | None
    pays: str
    rights: str
    notice: str = ""
    """A first line for the fork report, where the agent is not what one would expect."""
    head: Literal["same", "substituted", "client"] = "same"
    """Whether requests carry the log's own head, or this agent puts its own in its place, or a
    client builds it anew as it did for the parent."""
    window: int | None = None
    """How many tokens one request may have, where that is known."""


class Provider(Protocol):
    """Contract (checked by `testing.provider_contract`): only `ProviderError` escapes; the last
    chunk is `Done`, and without it the answer was cut; leaving the context manager early cancels
    the request and leaves nothing running; the same `Context` gives the same bytes."""

    @property
    def about(self) -> About: ...

    def wire(self, context: Context) -> Mapping[str, str]:
        """Digests of the bytes that `stream` would send, by part; empty without a wire."""
        ...

    def stream(self, context: Context) -> AbstractAsyncContextManager[AsyncIterator[Chunk]]:
        """Send the request and yield its answer as it arrives."""
        ...


@runtime_checkable
class Windowed(Protocol):
    """A provider that can find out how large a request may be."""

    async def window(self) -> int | None:
        """Tokens of one request, as the model's own server or file says; None where neither
        does. In bounded time, without cost, and it raises nothing."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """A provider whose host may want a key."""

    async def key_place(self) -> str:
        """Where the key was found, without saying it; empty where there is none and none is
        needed. Raises: BadCredentials (one is needed)."""
        ...
