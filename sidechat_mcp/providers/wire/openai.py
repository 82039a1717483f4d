"""What OpenAI's two wires have in common, and what those who speak one of them made of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.providers.wire.pieces import Piece, listed, spell

BREAKPOINT = b'"prompt_cache_breakpoint":{"mode":"explicit"}'
BREAKPOINTS = 3
"""Explicit breakpoints that are written beside the provider's own one."""
_GPT = re.compile(r"(?:^|/)gpt-(\d+)(?:\.(\d+))?")


def takes_breakpoints(model: str) -> bool:
    """Whether the model has explicit breakpoints: gpt-5.6 and later."""
    found = _GPT.search(model)
    return found is not None and (int(found[1]), int(found[2] or 0)) >= (5, 6)


def cache_root(header: RequestHeader, pieces: Sequence[Piece]) -> str:
    """The `prompt_cache_key` of a conversation and of all that is forked from it: a name of what
    they all begin with, so that a child's requests go where its parent's left their entries."""
    begins = (header.system.text or "", header.tools.text or "")
    found = hashlib.sha256()
    for part in (*map(spell, begins), *(piece.body for piece in pieces[:1])):
        found.update(b"%d:" % len(part) + part)
    return f"sidechat-{found.hexdigest()[:32]}"


def system_text(text: str | None) -> str | None:
    """A system prompt as one text, also one that was kept as a list of text blocks."""
    if text is None or not text.strip():
        return None
    blocks = listed(text) if text.lstrip().startswith("[") else []
    if blocks and all(isinstance(block.get("text"), str) for block in blocks):
        return "\n\n".join(block["text"] for block in blocks)
    return text
