"""A part of a message → our content. Pure and lenient."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from sidechat_mcp.clients.values import compact, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Media, Text, Thinking, ToolUse, Verbatim

WIRE = "opencode"
CLEARED = "[Old tool result content cleared]"
"""What the client shows of a result that it has cleared to save room."""

_AS_TEXT = ("text/plain", "application/x-directory")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `result` is what the model is told of it, None while there is nothing to tell;
    `begun` is False while the client has only heard of it."""

    id: str
    use: ToolUse
    result: Content | None
    is_error: bool = False
    begun: bool = True


def block(part: dict[str, Any]) -> Block | None:
    """A text, thought or file as the model is shown it; None when it is shown nothing."""
    match part.get("type"):
        case "text":
            words = word(part.get("text"))
            return Text(words) if words is not None else None
        case "reasoning" if isinstance(part.get("text"), str):
            return _thought(part)
        case "file" if part.get("mime") not in _AS_TEXT:
            return _media(part)
        case _:
            return None


def call(id: str, part: dict[str, Any]) -> Call | None:
    """The call in a `tool` part, named by the part's `id` where it has no name of its own."""
    name, state = word(part.get("tool")), mapping(part.get("state"))
    if name is None:
        return None
    own = word(part.get("callID")) or id
    use = ToolUse(own, name, compact(state.get("input", {})))
    match state.get("status"):
        case "completed" if isinstance(state.get("output"), str):
            return Call(own, use, _output(state))
        case "error":
            return _failed(own, use, state)
        case "pending":
            return Call(own, use, None, begun=False)
        case _:
            return Call(own, use, None)


def _output(state: dict[str, Any]) -> Content:
    if mapping(state.get("time")).get("compacted"):
        return (Text(CLEARED),)
    output = state["output"]
    words: list[Block] = [Text(output)] if output else []
    files = (_media(mapping(one)) for one in sequence(state.get("attachments")))
    return (*words, *(file for file in files if file is not None))


def _failed(id: str, use: ToolUse, state: dict[str, Any]) -> Call:
    about = mapping(state.get("metadata"))
    partial = about.get("output")
    if about.get("interrupted") is True and isinstance(partial, str):
        return Call(id, use, (Text(partial),) if partial else ())
    why = word(state.get("error"))
    return Call(id, use, (Text(why),) if why is not None else (), is_error=True)


def _thought(part: dict[str, Any]) -> Thinking:
    """A signed thought of Anthropic's goes back to that wire in its own form; others cannot."""
    signature = word(mapping(mapping(part.get("metadata")).get("anthropic")).get("signature"))
    if signature is None:
        return Thinking(part["text"], WIRE, compact(part))
    own = {"type": "thinking", "thinking": part["text"], "signature": signature}
    return Thinking(part["text"], "anthropic", compact(own))


def _media(part: dict[str, Any]) -> Block | None:
    """A file by reference: what identifies its bytes, not the bytes."""
    url, kind = word(part.get("url")), word(part.get("mime"))
    if url is None or kind is None:
        return None
    if not url.startswith("data:") or "," not in url:
        return Verbatim(WIRE, compact(part))
    about, _, data = url.partition(",")
    try:
        raw = base64.b64decode(data) if about.endswith(";base64") else data.encode("utf-8")
    except (binascii.Error, ValueError):
        raw = data.encode("utf-8", "surrogatepass")
    what: Literal["image", "document"] = "image" if kind.startswith("image/") else "document"
    digest = hashlib.sha256(raw).hexdigest()
    return Media(what, kind, digest, len(raw), name=word(part.get("filename")))
