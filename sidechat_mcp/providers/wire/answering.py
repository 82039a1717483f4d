"""One answer as it comes in on any wire. Its text is passed on as it arrives, its blocks when the
provider's terminal event has come: a refused answer leaves no text that would be sent again, and
a call of an answer that ended otherwise is never carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from sidechat_mcp.core.content import Block, Text, ToolUse
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Spent, Stop, Whole
from sidechat_mcp.providers.wire.sse import ServerEvent


class Answer(Protocol):
    """Folds the events of one stream. `begun`: something of the answer has arrived, so the
    request must not be sent again; `ended`: its terminal event has."""

    @property
    def begun(self) -> bool: ...

    @property
    def ended(self) -> bool: ...

    def take(self, event: ServerEvent) -> Sequence[Chunk]:
        """Raises ProviderError for an error inside the stream."""
        ...


@dataclass(slots=True)
class Held:
    """What has arrived. `spent` is the latest word on tokens, said as soon as the answer begins,
    so that a cut one is accounted for, and once more at its end."""

    spent: Spent | None = None
    begun: bool = False
    ended: bool = False
    _blocks: list[Block] = field(default_factory=list[Block])
    _said: bool = False
    _paragraph: bool = False

    def starts(self) -> Iterator[Chunk]:
        """A block begins."""
        if not self.begun and self.spent is not None:
            yield self.spent
        self.begun = True
        self._paragraph = self._said

    def says(self, text: str) -> Iterator[Chunk]:
        """Readable text of the block arrives."""
        if text and self._paragraph:
            yield Delta("\n\n")
            self._paragraph = False
        if text:
            self._said = True
            yield Delta(text)

    def has(self, block: Block) -> None:
        """The block is finished."""
        self._blocks.append(block)

    def ends(self, stop: Stop, model: str | None, detail: str | None = None) -> Iterator[Chunk]:
        """The terminal event: all blocks, the tokens, and `Done`."""
        self.ended = True
        blocks = self._blocks
        calls = any(isinstance(block, ToolUse) for block in blocks)
        words = any(isinstance(block, Text) and block.text.strip() for block in blocks)
        if stop in ("refusal", "content_filter"):
            blocks = []
        elif stop == "max_tokens":
            # Whether a call was meant as it stands, nobody knows.
            blocks = [block for block in blocks if not isinstance(block, ToolUse)]
            detail = detail or _cut_words(words, calls)
        elif calls:
            stop = "tool_use"
        elif not words:
            stop, detail = "empty", detail or "The model gave an empty answer; ask it again."
        else:
            stop = "end"
        yield from map(Whole, blocks)
        if self.spent is not None:
            yield self.spent
        yield Done(stop, model, None, detail)


def _cut_words(words: bool, calls: bool) -> str:
    if calls:
        return "The answer's token limit was reached inside a tool call, which was not carried out."
    if words:
        return "The answer reached its token limit."
    return "The answer's token limit was spent before any text: raise max_tokens, or ask for less."


def count(found: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens as reported; None when it is not."""
    value = found.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def part(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object `name` of `found`; empty when there is none."""
    value = found.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def rows(found: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of the array `name` of `found`."""
    value = found.get(name)
    values = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) for one in values if isinstance(one, dict)]


def word(found: Mapping[str, Any], name: str) -> str | None:
    """The text `name` of `found` when it says something."""
    value = found.get(name)
    return value if isinstance(value, str) and value else None
