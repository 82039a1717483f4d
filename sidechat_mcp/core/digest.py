"""Fingerprints of what a model is given. Hex SHA-256 over one canonical spelling."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.events import Part, RequestHeader
from sidechat_mcp.core.spelling import spell


def of_text(text: str) -> str:
    """Hex SHA-256 of the UTF-8 of `text` (lone surrogates as the three bytes they would take,
    a pair of them as the character it spells)."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        data = joined.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


def head_digest(header: RequestHeader) -> str:
    """Of system prompt, tool schemas, model and settings; a part known only by its digest
    counts as that digest, an unknown one as unknown."""
    line = spell(
        {
            "system": _part(header.system),
            "tools": _part(header.tools),
            "model": header.model,
            "settings": header.settings,
        }
    )
    return hashlib.sha256(line).hexdigest()


def message_bytes(message: Message) -> bytes:
    """The canonical line of one message (JSON and a newline): role, content, call, is_error."""
    line: dict[str, object] = {"role": message.role, "content": message.content}
    if message.call is not None:
        line["call"] = message.call
    if message.is_error:
        line["is_error"] = True
    return spell(line) + b"\n"


class _Hash(Protocol):
    def copy(self) -> _Hash: ...
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


_NOTHING: _Hash = hashlib.sha256()


@dataclass(frozen=True, slots=True, eq=False)
class Running:
    """The digest of `count` messages that can be continued: `Running().after(a).after(b)` is
    that of `a` and `b`, and what it was taken of need not be at hand any more."""

    count: int = 0
    _state: _Hash = _NOTHING

    def after(self, messages: Sequence[Message]) -> Running:
        """This with `messages` behind; it stays itself."""
        state = self._state.copy()
        for message in messages:
            state.update(message_bytes(message))
        return Running(self.count + len(messages), state)

    @property
    def digest(self) -> str:
        return self._state.hexdigest()


def messages_digest(messages: Sequence[Message]) -> str:
    """Of the canonical lines, in order: SHA-256 of their concatenation, so the digest of a
    prefix can be continued."""
    return Running().after(messages).digest


def canonical(context: Context) -> bytes:
    """The whole request as bytes: a head line, then a line a message. A child's first request
    begins with these bytes of its parent's last one."""
    return b"".join((spell(context.header), b"\n", *map(message_bytes, context.messages)))


def _part(part: Part) -> str | None:
    return of_text(part.text) if part.text is not None else part.digest
