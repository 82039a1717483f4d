"""A message's content as pi keeps it → our content. Pure and lenient."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

from sidechat_mcp.clients.values import compact, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Media, Text, Thinking, ToolUse, Verbatim

WIRE = "pi"
"""No wire of ours: a reasoning block goes back to the model that wrote it through pi alone."""


def content(value: Any) -> Content:
    """Content from text or a list of blocks; whatever is neither is left out, and so is a call
    whose id another one of the same message has."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    found: list[Block] = []
    calls: set[str] = set()
    for one in sequence(value):
        block = _block(mapping(one))
        if isinstance(block, ToolUse):
            if block.id in calls:
                continue
            calls.add(block.id)
        if block is not None:
            found.append(block)
    return tuple(found)


def _block(block: dict[str, Any]) -> Block | None:
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str):
            return Text(block["text"]) if block["text"] else None
        case "thinking" if isinstance(block.get("thinking"), str):
            return Thinking(block["thinking"], WIRE, compact(block))
        case "toolCall" if word(block.get("id")) and word(block.get("name")):
            return ToolUse(block["id"], block["name"], compact(block.get("arguments", {})))
        case "image" if isinstance(block.get("data"), str):
            return _image(block)
        case str():
            return Verbatim(WIRE, compact(block))
        case _:
            return None


def _image(block: dict[str, Any]) -> Media:
    """An image by reference: what identifies its bytes, not the bytes."""
    try:
        raw = base64.b64decode(block["data"])
    except (binascii.Error, ValueError):
        raw = block["data"].encode("utf-8", "surrogatepass")
    kind = word(block.get("mimeType")) or "application/octet-stream"
    return Media("image", kind, hashlib.sha256(raw).hexdigest(), len(raw))
