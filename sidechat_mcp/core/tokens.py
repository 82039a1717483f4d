"""How large something is for a model, roughly. An estimate says how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidechat_mcp.core.assemble import Message
from sidechat_mcp.core.content import Block, Media, Text, Thinking, ToolUse
from sidechat_mcp.core.events import RequestHeader

METHOD = "code points / 4"
MEDIA = 1500
"""What an image or a document counts, whatever its size."""


@dataclass(frozen=True, slots=True)
class Weight:
    """How much there is of readable text, calls and results, in code points, and how many media."""

    code_points: int = 0
    media: int = 0

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.code_points + other.code_points, self.media + other.media)

    @property
    def tokens(self) -> int:
        """About how many these are, by METHOD. Media count a fixed 1,500 each."""
        return -(-self.code_points // 4) + MEDIA * self.media


def weigh(messages: Sequence[Message]) -> Weight:
    """What `messages` are; the weight of two stretches is the sum of theirs."""
    blocks = [block for message in messages for block in message.content]
    media = sum(isinstance(block, Media) for block in blocks)
    return Weight(sum(map(_code_points, blocks)), media)


def estimate(messages: Sequence[Message]) -> int:
    """About how many tokens `messages` are, by METHOD."""
    return weigh(messages).tokens


def of_head(header: RequestHeader) -> int:
    """About how many tokens the system prompt and the tool schemas are, as far as their text is
    known."""
    return -(-(len(header.system.text or "") + len(header.tools.text or "")) // 4)


def _code_points(block: Block) -> int:
    match block:
        case Text():
            return len(block.text)
        case Thinking():
            return len(block.verbatim or block.text)
        case ToolUse():
            return len(block.name) + len(block.input)
        case Media():
            return 0
        case _:
            return len(block.json)
