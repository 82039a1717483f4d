"""What a client's own fork has to be told: it knows the parent's history, and nothing of the side
conversation but what it was told before. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import plain
from sidechat_mcp.core.framing import SOURCE

EARLIER = "[Earlier in this side conversation]"


def own(context: Context) -> Sequence[Message]:
    """The messages that no transcript of the client's holds: those behind the inherited ones, and
    of these what an earlier side session said, for a fork of a fork inherits that too."""
    for place, message in enumerate(context.messages[: context.inherited]):
        if message.source is not None and dict(message.source) == dict(SOURCE):
            return context.messages[place:]
    return context.messages[context.inherited :]


def words(messages: Sequence[Message]) -> str:
    """Messages as one text from a person: what was said before stands under a label, the last
    message at the end."""
    said = [(message.role, plain(message.content)) for message in messages]
    if not any(role == "assistant" for role, _ in said):
        return "\n\n".join(text for _, text in said if text)
    framing = [text for role, text in said if role == "context"][:1]
    middle = [f"{role}: {text}" for role, text in said[len(framing) : -1] if text]
    return "\n\n".join([*framing, EARLIER, *middle, said[-1][1]])
