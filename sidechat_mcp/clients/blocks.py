"""Content in the shape of Anthropic's messages, which several clients keep → our content. Pure
and lenient: what is no block is left out, and so is a call whose id its message has already."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from sidechat_mcp.clients.values import compact, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Media, Text, Thinking, ToolUse, Verbatim


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a message tells of a call."""

    call: str
    content: Content
    is_error: bool


def content(value: Any, wire: str, unnamed: str = "") -> Content:
    """Content from text or a list of blocks, without the results in it. A call without an id is
    named `unnamed` and its place; with `unnamed` empty it is left out. `wire` marks what only
    that client can send again."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    found: list[Block] = []
    calls: set[str] = set()
    for place, one in enumerate(sequence(value), 1):
        name = f"{unnamed}-{place}" if unnamed else ""
        block = _block(mapping(one), wire, name)
        if isinstance(block, ToolUse):
            if block.id in calls:
                continue
            calls.add(block.id)
        if block is not None:
            found.append(block)
    return tuple(found)


def outcomes(value: Any, wire: str) -> list[Outcome]:
    """The results in a list of blocks."""
    found: list[Outcome] = []
    for block in map(mapping, sequence(value)):
        call = word(block.get("tool_use_id"))
        if block.get("type") == "tool_result" and call is not None:
            said = content(block.get("content"), wire)
            found.append(Outcome(call, said, block.get("is_error") is True))
    return found


def media(data: str, kind: str | None, name: str | None = None) -> Media:
    """A picture or document by reference: what identifies its bytes, not the bytes."""
    try:
        raw = base64.b64decode(data)
    except (binascii.Error, ValueError):
        raw = data.encode("utf-8", "surrogatepass")
    kind = kind or "application/octet-stream"
    what: Literal["image", "document"] = "image" if kind.startswith("image/") else "document"
    return Media(what, kind, hashlib.sha256(raw).hexdigest(), len(raw), name=name)


def _block(block: dict[str, Any], wire: str, unnamed: str) -> Block | None:
    match block.get("type"):
        case "text":
            words = word(block.get("text"))
            return Text(words) if words is not None else None
        case "thinking":
            thought = word(block.get("thinking"))
            return Thinking(thought, wire, compact(block)) if thought is not None else None
        case "tool_use":
            id, name = word(block.get("id")) or unnamed, word(block.get("name"))
            return ToolUse(id, name, compact(block.get("input", {}))) if id and name else None
        case "image" | "document":
            source = mapping(block.get("source"))
            data = word(source.get("data"))
            if data is None:
                return Verbatim(wire, compact(block))
            return media(data, word(source.get("media_type")), word(block.get("title")))
        case str() as kind if kind not in ("tool_result", "redacted_thinking"):
            return Verbatim(wire, compact(block))
        case _:
            return None
