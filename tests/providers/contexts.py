"""Contexts for the providers' tests, as `core.assemble` would make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import Content, Text, text
from sidechat_mcp.core.events import RequestHeader, Verdict
from sidechat_mcp.core.framing import FRAMING, SOURCE, condense_order, condense_source
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Provider, Whole
from sidechat_mcp.testing.provider_contract import hear


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    verdict: Verdict | None


@dataclass
class Talk:
    """A conversation that grows. `fork` marks where a child begins."""

    messages: list[Message] = field(default_factory=list[Message])
    inherited: int = 0
    turn: int = 0

    def add(self, role: str, said: str | Content, **more: object) -> Talk:
        content = text(said) if isinstance(said, str) else said
        message = Message("user", content, turn=self.turn, seq=len(self.messages))
        self.messages.append(replace(message, role=role, **more))  # pyright: ignore[reportArgumentType]
        return self

    def user(self, said: str) -> Talk:
        self.turn += 1
        return self.add("user", said)

    def assistant(self, said: str | Content) -> Talk:
        return self.add("assistant", said)

    def fork(self) -> Talk:
        self.inherited = len(self.messages)
        return self.add("context", FRAMING, turn=None, source=SOURCE)

    def order(self, cap: int = 2000) -> Talk:
        return self.add("context", condense_order(cap), turn=None, source=condense_source(cap))

    def context(self) -> Context:
        return Context(RequestHeader(), tuple(self.messages), self.inherited, "s")


def talk(*said: str) -> Talk:
    """User and assistant in turns, the user first."""
    made = Talk()
    for n, words in enumerate(said):
        if n % 2:
            made.assistant(words)
        else:
            made.user(words)
    return made


def answer_of(chunks: Sequence[Chunk]) -> Answer:
    whole = [c.block.text for c in chunks if isinstance(c, Whole) and isinstance(c.block, Text)]
    assert "".join(c.text for c in chunks if isinstance(c, Delta)) == "".join(whole)
    done = chunks[-1]
    assert isinstance(done, Done)
    return Answer("".join(whole), done.verdict)


async def ask(provider: Provider, made: Talk, question: str) -> Answer:
    """Ask, and keep question and answer in the talk."""
    made.user(question)
    answer = answer_of(await hear(provider, made.context()))
    made.assistant(answer.text)
    return answer


async def condense(provider: Provider, made: Talk, cap: int = 2000) -> str:
    """Order a note, and keep order and note in the talk."""
    made.order(cap)
    note = answer_of(await hear(provider, made.context()))
    assert note.verdict is None
    made.add("assistant", note.text, turn=None)
    return note.text
