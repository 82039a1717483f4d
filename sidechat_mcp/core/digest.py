"""Fingerprints of what a model is given. Hex SHA-256 over one canonical spelling."""

from __future__ import annotations

from collections.abc import Sequence

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.events import RequestHeader


def of_text(text: str) -> str:
    """Hex SHA-256 of the UTF-8 of `text` (lone surrogates escaped)."""
    raise NotImplementedError


def head_digest(header: RequestHeader) -> str:
    """Of system prompt, tool schemas, model and settings; a part known only by its digest
    counts as that digest, an unknown one as unknown."""
    raise NotImplementedError


def message_bytes(message: Message) -> bytes:
    """The canonical line of one message (JSON and a newline): role, content, call, is_error."""
    raise NotImplementedError


def messages_digest(messages: Sequence[Message]) -> str:
    """Of the canonical lines, in order: SHA-256 of their concatenation, so the digest of a
    prefix can be continued."""
    raise NotImplementedError


def canonical(context: Context) -> bytes:
    """The whole request as bytes: a head line, then a line a message. A child's first request
    begins with these bytes of its parent's last one."""
    raise NotImplementedError
