"""A Responses API item as Codex keeps it → our content. Pure and lenient: an item of a kind that
this version has no word for is carried as it is."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.clients.values import compact, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Media, Text, Thinking, ToolUse, Verbatim

WIRE = "openai"
"""The wire that these items go back to unchanged."""

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "tool_search_output",
        "mcp_tool_call_output",
    }
)
MESSAGE = "message"
_DATA = re.compile(r"data:([^;,]*)(;base64)?,")
_NO_OUTPUT = frozenset({"compaction_trigger", "ghost_snapshot", "other"})
"""Kinds that no model is ever shown."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the model is told of a call."""

    call: str
    content: Content


def is_item(item: Mapping[str, Any]) -> bool:
    """Whether `item` is what a model said or was shown, in a form that can be told apart."""
    match item.get("type"):
        case "message":
            return isinstance(item.get("role"), str)
        case str(kind) if kind in CALLS | OUTPUTS:
            return word(item.get("call_id")) is not None or kind == "local_shell_call"
        case str(kind):
            return kind in ("reasoning", "compaction", "agent_message") or kind.endswith("_call")
        case _:
            return False


def shown(item: Mapping[str, Any]) -> bool:
    """Whether a model ever sees items of this kind."""
    return word(item.get("type")) not in _NO_OUTPUT


def answer(item: Mapping[str, Any]) -> Content:
    """The blocks of an item that is a part of a model's answer."""
    kind = item.get("type")
    match kind:
        case "message":
            return content(item.get("content"))
        case "reasoning":
            summary = [mapping(one).get("text") for one in sequence(item.get("summary"))]
            said = "\n\n".join(text for text in summary if isinstance(text, str))
            return (Thinking(said, WIRE, compact(_sent(item))),)
        case str() if kind in CALLS:
            call = word(item.get("call_id")) or word(item.get("id"))
            return (ToolUse(call, _name(item), _input(item)),) if call else ()
        case _:
            return (Verbatim(WIRE, compact(_sent(item))),)


def outcome(item: Mapping[str, Any]) -> Outcome | None:
    """What an output item tells of its call."""
    call = word(item.get("call_id"))
    if call is None:
        return None
    if item.get("type") == "tool_search_output":
        return Outcome(call, (Text(compact(item.get("tools"))),))
    output = item.get("output")
    wrapped = mapping(output)
    if wrapped:
        output = wrapped.get("content", wrapped.get("output", compact(output)))
    return Outcome(call, content(output))


def content(value: Any) -> Content:
    """Content from text or from a list of content parts; what is neither is left out."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    return tuple(_blocks(value))


def _blocks(value: Any) -> Iterator[Block]:
    for one in sequence(value):
        part = mapping(one)
        match part.get("type"):
            case "input_text" | "output_text" | "text":
                text = part.get("text")
                if isinstance(text, str) and text:
                    yield Text(text)
            case "input_image" | "input_file":
                yield _media(part)
            case str():
                yield Verbatim(WIRE, compact(part))
            case _:
                pass


def _media(part: Mapping[str, Any]) -> Block:
    """An image or a file by reference: what identifies its bytes, not the bytes."""
    data = part.get("image_url", part.get("file_data"))
    found = _DATA.match(data) if isinstance(data, str) else None
    if found is None or not isinstance(data, str):
        return Verbatim(WIRE, compact(part))
    rest = data[found.end() :]
    try:
        raw = base64.b64decode(rest) if found[2] else rest.encode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        raw = rest.encode("utf-8", "surrogatepass")
    return Media(
        "image" if part["type"] == "input_image" else "document",
        found[1] or "application/octet-stream",
        hashlib.sha256(raw).hexdigest(),
        len(raw),
        name=word(part.get("filename")),
    )


def _name(item: Mapping[str, Any]) -> str:
    """The tool's name with its namespace before it, as one word: `mcp__SERVER__TOOL`."""
    match item.get("type"):
        case "local_shell_call":
            return "local_shell"
        case "tool_search_call":
            return "tool_search"
        case _:
            name, space = word(item.get("name")) or "unnamed", word(item.get("namespace"))
            return f"{space.removesuffix('__')}__{name}" if space else name


def _input(item: Mapping[str, Any]) -> str:
    """JSON text of what the call was made with."""
    match item.get("type"):
        case "custom_tool_call":
            return compact({"input": item.get("input")})
        case "local_shell_call":
            return compact(item.get("action"))
        case _:
            given = item.get("arguments")
            return given if isinstance(given, str) else compact(given)


def _sent(item: Mapping[str, Any]) -> dict[str, Any]:
    """The item without what the client noted on it for itself."""
    return {name: value for name, value in item.items() if not name.startswith("internal_")}
