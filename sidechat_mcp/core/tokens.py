"""How large something is for a model, roughly. An estimate says how it was made."""

from __future__ import annotations

from collections.abc import Sequence

from sidechat_mcp.core.assemble import Message
from sidechat_mcp.core.content import Block, Media, Text, Thinking, ToolUse

METHOD = "code points / 4"
MEDIA = 1500
"""What an image or a document counts, whatever its size."""


def estimate(messages: Sequence[Message]) -> int:
    """About how many tokens `messages` are: readable text, calls and results, by METHOD.
    Media count a fixed 1,500 each."""
    blocks = [block for message in messages for block in message.content]
    media = sum(isinstance(block, Media) for block in blocks)
    return -(-sum(map(_code_points, blocks)) // 4) + MEDIA * media


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
