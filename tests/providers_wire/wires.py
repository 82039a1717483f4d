"""The three wires side by side, so that one test holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.provider import About, Chunk
from sidechat_mcp.providers.anthropic import wire as anthropic
from sidechat_mcp.providers.exchange.endpoint import endpoint
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.exchange.pace import Pace, Turnstiles
from sidechat_mcp.providers.exchange.speech import Access, Wire
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.providers.openai_chat import wire as openai_chat
from sidechat_mcp.providers.openai_responses import wire as openai_responses
from sidechat_mcp.providers.wire.answering import Answer
from sidechat_mcp.providers.wire.sse import Decoder
from tests.providers_wire import streams

KEY = "sk-planted-0123456789abcdef"
FAST = Pace(first=0.01, longest=0.02, deadline=5.0)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A wire, a model of it, and what its streams look like."""

    model: str
    make: Callable[[str, str], Wire]
    long: Sequence[bytes]
    plain: Sequence[bytes]
    refused: Sequence[bytes]
    overloaded: Sequence[bytes]

    @property
    def name(self) -> str:
        return self.wire.name

    @property
    def wire(self) -> Wire:
        return self.make("Stub", self.model)

    def answer(self) -> Answer:
        return self.wire.answer(Context(RequestHeader(), ()))

    def at(
        self, url: str, *, pace: Pace = FAST, stiles: Turnstiles | None = None, key: str = KEY
    ) -> Wired:
        access = Access("Stub", endpoint(url, ""), lambda: Secret(key))
        about = About("stub", self.model, "nobody", "none")
        return Wired(about, self.wire, access, stiles or Turnstiles(), pace)


SPOKEN = [
    Spoken(
        "claude-m",
        anthropic.wire,
        streams.ANTHROPIC,
        streams.ANTHROPIC_PLAIN,
        streams.ANTHROPIC_REFUSED,
        streams.ANTHROPIC_OVERLOADED,
    ),
    Spoken(
        "gpt-m",
        openai_responses.wire,
        streams.RESPONSES,
        streams.RESPONSES_PLAIN,
        streams.RESPONSES_REFUSED,
        streams.RESPONSES_OVERLOADED,
    ),
    Spoken(
        "m",
        openai_chat.wire,
        streams.CHAT,
        streams.CHAT_PLAIN,
        streams.CHAT_REFUSED,
        streams.CHAT_OVERLOADED,
    ),
]


def fold(answer: Answer, pieces: Iterable[bytes]) -> tuple[list[Chunk], Reply, str]:
    """What a stream in these pieces gives: its chunks, the reply that the loop folds of them, and
    what a listener hears."""
    decoder, chunks, reply, heard = Decoder(), list[Chunk](), Reply(TurnId("t")), ""
    for piece in pieces:
        for event in decoder.feed(piece):
            for chunk in answer.take(event):
                chunks.append(chunk)
                heard += reply.fold(chunk)
    return chunks, reply, heard
