"""How large something is for a model, roughly. An estimate says how it was made."""

from __future__ import annotations

from collections.abc import Sequence

from sidechat_mcp.core.assemble import Message

METHOD = "code points / 4"


def estimate(messages: Sequence[Message]) -> int:
    """About how many tokens `messages` are: readable text, calls and results, by METHOD.
    Media count a fixed 1,500 each."""
    raise NotImplementedError
