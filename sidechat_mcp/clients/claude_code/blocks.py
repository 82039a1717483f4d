"""A message of the Messages API as Claude Code keeps it → our content. Pure and lenient."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from sidechat_mcp.clients.values import compact
from sidechat_mcp.core.content import (
    Block,
    Content,
    Media,
    Text,
    Thinking,
    ToolUse,
    Verbatim,
)

WIRE = "anthropic"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a `tool_result` block tells of a call."""

    call: str
    content: Content
    is_error: bool


def mapping(value: Any) -> dict[str, Any] | None:
    """`value` when it is a JSON object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def sequence(value: Any) -> list[Any]:
    """`value` when it is a JSON array, else nothing."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def word(value: Any) -> str | None:
    """`value` when it is text that says something."""
    return value if isinstance(value, str) and value else None


def content(value: Any) -> Content:
    """Content from text or a list of blocks; whatever is neither is left out."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    found = (_block(mapping(one)) for one in sequence(value))
    return tuple(block for block in found if block is not None)


def outcomes(value: Any) -> Sequence[Outcome]:
    """The tool results among the blocks of a user message."""
    found: list[Outcome] = []
    for one in sequence(value):
        block = mapping(one)
        if block is None or block.get("type") != "tool_result":
            continue
        call = word(block.get("tool_use_id"))
        if call is not None:
            is_error = block.get("is_error") is True
            found.append(Outcome(call, content(block.get("content")), is_error))
    return found


def _block(block: dict[str, Any] | None) -> Block | None:
    if block is None or not isinstance(block.get("type"), str):
        return None
    match block["type"]:
        case "text" if isinstance(block.get("text"), str):
            return Text(block["text"]) if block["text"] else None
        case "thinking" if isinstance(block.get("thinking"), str):
            return Thinking(block["thinking"], WIRE, compact(block))
        case "redacted_thinking":
            return Thinking("", WIRE, compact(block))
        case "tool_use" if word(block.get("id")) and word(block.get("name")):
            return ToolUse(block["id"], block["name"], compact(block.get("input", {})))
        case "image" | "document":
            return _media(block["type"], block)
        case "tool_result":
            return None
        case _:
            return Verbatim(WIRE, compact(block))


def _media(kind: Literal["image", "document"], block: dict[str, Any]) -> Block:
    """An image or document by reference: what identifies its bytes, not the bytes."""
    source = mapping(block.get("source")) or {}
    data, media_type = source.get("data"), source.get("media_type")
    if source.get("type") != "base64" or not isinstance(data, str):
        return Verbatim(WIRE, compact(block))
    try:
        raw = base64.b64decode(data)
    except (binascii.Error, ValueError):
        raw = data.encode("utf-8", "surrogatepass")
    return Media(
        kind,
        media_type if isinstance(media_type, str) else "application/octet-stream",
        hashlib.sha256(raw).hexdigest(),
        len(raw),
        name=word(block.get("title")),
    )
