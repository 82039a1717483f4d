"""A context as the body of a Messages request. Pure; the same context gives the same bytes.

Order: model and settings, tools, system, messages, and last the name of the response to compare
with, so that a child's body begins with its parent's last one up to the fork (marks aside)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.providers.wire.marks import places
from sidechat_mcp.providers.wire.pieces import (
    Piece,
    Request,
    item,
    listed,
    members,
    raw,
    read_object,
    settings,
    spell,
)
from sidechat_mcp.providers.wire.turns import Part, Result, Taste, Turn, turns

WIRE = "anthropic"
MARK = b'"cache_control":{"type":"ephemeral"}'
MARKS = 4
"""Breakpoints that a request may have."""
MAX_TOKENS = 8192
"""What an answer may have when the settings do not say."""
_OWN = {"diagnostics", "betas"}
_MARKED = re.compile(r'"cache_control"\s*:\s*\{')
_OPEN = {
    role: item(("role", spell(role)), ("content", b"["))[:-1] for role in ("user", "assistant")
}


def encode(context: Context, model: str, *, compared: bool = True) -> Request:
    """`model` is asked where the header names none. `compared` asks the provider to say what
    kept it from using the prefix of the response before."""
    header = context.header
    model = header.model or model
    found = turns(context, Taste(WIRE, model, _intact, longest_name=128))
    pieces = [piece for turn in found for piece in _pieces(turn)]
    head = [("model", spell(model)), *_settings(header), ("stream", b"true")]
    head += _tools(header, found)
    if system := _system(header):
        head.append(("system", system))
    start = b"{" + members(head) + b',"messages":['
    left = MARKS - len(_MARKED.findall(start.decode()))
    end = b"]" + _comparison(context, compared) + b"}"
    return Request(start, pieces, end, MARK, places(pieces, left))


def _settings(header: RequestHeader) -> Iterator[tuple[str, bytes]]:
    given = header.settings
    if "max_tokens" not in given:
        match given.get("thinking"):
            case {"budget_tokens": int(budget)}:
                yield "max_tokens", spell(MAX_TOKENS + budget)
            case _:
                yield "max_tokens", spell(MAX_TOKENS)
    # A choice among no tools is refused.
    alone = set[str]() if listed(header.tools.text) else {"tool_choice"}
    yield from settings(given, _OWN | alone)


def _system(header: RequestHeader) -> bytes | None:
    """The system prompt: the blocks that it is, or one marked block of its text."""
    text = header.system.text
    if not text or not text.strip():
        return None
    blocks = listed(text) if text.lstrip().startswith("[") else []
    if blocks and all(block.get("type") == "text" for block in blocks):
        return raw(text)
    return b"[" + item(("type", b'"text"'), ("text", spell(text)))[:-1] + b"," + MARK + b"}]"


def _tools(header: RequestHeader, found: Sequence[Turn]) -> Iterator[tuple[str, bytes]]:
    tools = listed(header.tools.text)
    if tools and header.tools.text:
        own = all("inputSchema" not in tool for tool in tools)
        yield "tools", raw(header.tools.text) if own else spell([_tool(t) for t in tools])
        return
    # Calls in a history are only taken beside tools. What they were is not known here, and
    # none of them can be called.
    names = [part.name for turn in found for part in turn.parts if isinstance(part, ToolUse)]
    if names:
        schema = {"type": "object"}
        unknown = [{"name": name, "input_schema": schema} for name in dict.fromkeys(names)]
        yield "tools", spell(unknown)
        yield "tool_choice", b'{"type":"none"}'


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"input_schema" if key == "inputSchema" else key: tool[key] for key in tool}


def _comparison(context: Context, compared: bool) -> bytes:
    if not compared:
        return b""
    return b"," + members(
        [("diagnostics", item(("previous_message_id", spell(context.last_response))))]
    )


def _pieces(turn: Turn) -> Iterator[Piece]:
    for part in turn.parts:
        yield Piece(
            _block(part),
            turn.role,
            turn.inherited,
            _OPEN[turn.role],
            b"]}",
            markable=not isinstance(part, Thinking),
        )


def _block(part: Part) -> bytes:
    match part:
        case Text(text=text):
            return item(("type", b'"text"'), ("text", spell(text)))
        case ToolUse():
            return item(
                ("type", b'"tool_use"'),
                ("id", spell(part.id)),
                ("name", spell(part.name)),
                ("input", raw(part.input)),
            )
        case Result():
            return _result(part)
        case Media():
            source = {"type": "base64", "media_type": part.media_type, "data": part.data}
            return item(("type", spell(part.kind)), ("source", spell(source)))
        case Thinking(verbatim=json) | Verbatim(json=json):
            return _without_marks(json or "{}")


def _result(result: Result) -> bytes:
    content = b",".join(_block(block) for block in result.content)
    pairs = [
        ("type", b'"tool_result"'),
        ("tool_use_id", spell(result.call)),
        ("content", b"[" + content + b"]"),
    ]
    if result.is_error:
        pairs.append(("is_error", b"true"))
    return item(*pairs)


def _without_marks(json: str) -> bytes:
    """A block's own JSON, byte for byte; a breakpoint that somebody else put there is taken out."""
    if _MARKED.search(json):
        value = read_object(json) or {}
        return spell({name: value[name] for name in value if name != "cache_control"})
    return raw(json)


def _intact(block: Thinking, value: Mapping[str, Any]) -> bool:
    """Thinking needs its words and its signature; redacted thinking its data."""
    match value:
        case {"type": "thinking", "signature": str(signature), "thinking": str()}:
            return bool(signature and block.text)
        case {"type": "redacted_thinking", "data": str(data)}:
            return bool(data)
        case _:
            return False
