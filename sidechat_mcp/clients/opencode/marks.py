"""How a session that we had opencode make is told from a person's: by what we note beside it."""

from __future__ import annotations

import json

from sidechat_mcp.clients.values import mapping, word

MARK = "sidechat"
"""The member of a session's `metadata` that holds our word for it."""


def ours(metadata: str | None) -> str | None:
    """The word that a session of ours is marked with; None for any other session."""
    try:
        return word(mapping(json.loads(metadata or "{}")).get(MARK))
    except (ValueError, RecursionError):
        return None
