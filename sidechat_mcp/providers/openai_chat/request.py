"""A context as the body of a Chat Completions request. Pure; the same context, the same bytes.

Order: model and settings, tools, then the messages, the system prompt first. What a user says in
several messages is one message, since many models' templates want the roles to alternate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Block, Media, Text, Thinking, ToolUse
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.providers.wire.marks import places
from sidechat_mcp.providers.wire.openai import (
    BREAKPOINT,
    BREAKPOINTS,
    cache_root,
    system_text,
    takes_breakpoints,
)
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
from sidechat_mcp.providers.wire.turns import Result, Taste, Turn, turns

WIRE = "openai-chat"
_CACHE_CONTROL = b'"cache_control":{"type":"ephemeral"}'
_OWN = {"stream_options"}
_USER = ("role", b'"user"')
_WORDS = item(_USER, ("content", b'"'))[:-1]
_PARTS = item(_USER, ("content", b"["))[:-1]


def encode(context: Context, model: str, defaults: Mapping[str, Any] | None = None) -> Request:
    """`model` is asked where the header names none; `defaults` are settings where it has none."""
    header = context.header
    model = header.model or model
    mark = _mark(model)
    taste = Taste(WIRE, model, _intact, bound=False, verbatim="nowhere", media_in_results=False)
    found = turns(context, taste)
    pieces = list(_pieces(found, bool(mark)))
    given = dict(defaults or {})
    if mark == BREAKPOINT:
        # Whoever has these breakpoints knows this name too; others refuse names they do not know.
        given["prompt_cache_key"] = cache_root(header, pieces)
    head = [("model", spell(model)), *_settings(header, given)]
    head += [("stream", b"true"), ("stream_options", b'{"include_usage":true}')]
    if tools := listed(header.tools.text):
        head.append(("tools", _tools(tools, header.tools.text or "")))
    start = b"{" + members(head) + b',"messages":[' + _system(header, mark)
    return Request(start, pieces, b"]}", mark, places(pieces, BREAKPOINTS if mark else 0))


def _mark(model: str) -> bytes:
    """The breakpoint that the model's host takes on this wire; empty for none."""
    if takes_breakpoints(model):
        return BREAKPOINT
    return _CACHE_CONTROL if model.startswith("anthropic/") else b""


def _settings(header: RequestHeader, defaults: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    alone = set[str]() if listed(header.tools.text) else {"tool_choice", "parallel_tool_calls"}
    yield from settings({**defaults, **header.settings}, _OWN | alone)


def _system(header: RequestHeader, mark: bytes) -> bytes:
    text = system_text(header.system.text)
    if text is None:
        return b""
    content = spell(text)
    if mark == _CACHE_CONTROL:
        content = b"[" + item(("type", b'"text"'), ("text", content))[:-1] + b"," + mark + b"}]"
    return item(("role", b'"system"'), ("content", content)) + b","


def _tools(tools: Sequence[Mapping[str, Any]], text: str) -> bytes:
    if all("type" in tool for tool in tools):
        return raw(text)
    return spell([tool if "type" in tool else _tool(tool) for tool in tools])


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.get("name"),
            "description": tool.get("description", ""),
            "parameters": tool.get("input_schema", tool.get("inputSchema", {"type": "object"})),
        },
    }


def _pieces(found: Sequence[Turn], parts: bool) -> Iterator[Piece]:
    """With `parts` all content is a list of parts, which can be marked; else text, but for
    messages with an image and what follows in the same message."""
    listing = False
    for turn in found:
        if turn.role == "assistant":
            listing = False
            yield Piece(_answer(turn), "assistant", turn.inherited)
        elif any(isinstance(part, Result) for part in turn.parts):
            listing = False
            yield from _results(turn, parts)
        else:
            listing = listing or parts or any(isinstance(part, Media) for part in turn.parts)
            yield from _said(turn, listing)


def _said(turn: Turn, listing: bool) -> Iterator[Piece]:
    for part in turn.parts:
        if listing:
            body = _part(part) if not isinstance(part, Result) else b"{}"
            yield Piece(body, "user", turn.inherited, _PARTS, b"]}", markable=True)
        elif isinstance(part, Text):
            words = spell(part.text)[1:-1]
            yield Piece(words, "user", turn.inherited, _WORDS, b'"}', b"\\n\\n")


def _results(turn: Turn, parts: bool) -> Iterator[Piece]:
    for result in turn.parts:
        if not isinstance(result, Result):
            continue
        start = [("role", b'"tool"'), ("tool_call_id", spell(result.call))]
        text = "\n\n".join(block.text for block in result.content if isinstance(block, Text))
        if parts:
            open = item(*start, ("content", b"["))[:-1]
            yield Piece(_part(Text(text)), "user", turn.inherited, open, b"]}", markable=True)
        else:
            yield Piece(item(*start, ("content", spell(text))), "user", turn.inherited)


def _answer(turn: Turn) -> bytes:
    words = [part.text for part in turn.parts if isinstance(part, Text)]
    pairs = [("role", b'"assistant"'), ("content", spell("\n\n".join(words) if words else None))]
    for part in turn.parts:
        if isinstance(part, Thinking):
            kept = read_object(part.verbatim or "") or {}
            pairs += [(name, spell(kept[name])) for name in kept if name in REASONING]
    calls = [_call(part) for part in turn.parts if isinstance(part, ToolUse)]
    if calls:
        pairs.append(("tool_calls", b"[" + b",".join(calls) + b"]"))
    return item(*pairs)


def _call(call: ToolUse) -> bytes:
    function = item(("name", spell(call.name)), ("arguments", spell(call.input)))
    return item(("id", spell(call.id)), ("type", b'"function"'), ("function", function))


def _part(block: Block) -> bytes:
    match block:
        case Media(kind="image"):
            url = item(("url", spell(f"data:{block.media_type};base64,{block.data}")))
            return item(("type", b'"image_url"'), ("image_url", url))
        case Media():
            data = spell(f"data:{block.media_type};base64,{block.data}")
            file = item(("filename", spell(block.name or "document.pdf")), ("file_data", data))
            return item(("type", b'"file"'), ("file", file))
        case Text(text=text):
            return item(("type", b'"text"'), ("text", spell(text)))
        case _:
            return item(("type", b'"text"'), ("text", b'"(not sent)"'))


REASONING = ("reasoning_content", "reasoning", "reasoning_details")
"""What servers call a model's reasoning on this wire, in an answer and in a history."""


def _intact(block: Thinking, value: Mapping[str, Any]) -> bool:
    return any(name in value for name in REASONING)
