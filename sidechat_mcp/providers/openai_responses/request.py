"""A context as the body of a Responses request. Pure; the same context gives the same bytes.

Order: model and settings, instructions, tools, input, and last the cache options with the name of
the response to compare with, so that a child's body begins with its parent's last one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Block, Media, Text, Thinking, ToolUse, Verbatim
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
    settings,
    spell,
)
from sidechat_mcp.providers.wire.turns import Result, Taste, Turn, turns

WIRE = "openai"
# The last two would let the provider's memory of a conversation stand for the log.
_OWN = {"prompt_cache_options", "previous_response_id", "conversation"}
_REASONS = re.compile(r"(?:^|/)(?:o\d|gpt-[5-9])")


def encode(context: Context, model: str) -> Request:
    """`model` is asked where the header names none."""
    header = context.header
    model = header.model or model
    marks = takes_breakpoints(model)
    found = turns(context, Taste(WIRE, model, _intact, verbatim="in answers"))
    pieces = [piece for turn in found for piece in _pieces(turn, marks)]
    root = cache_root(header, pieces)
    head = [("model", spell(model)), *_settings(header, model, root), ("stream", b"true")]
    if (system := system_text(header.system.text)) is not None:
        head.append(("instructions", spell(system)))
    if tools := listed(header.tools.text):
        head.append(("tools", _tools(tools, header.tools.text or "")))
    end = b"]" + _cache_options(context, marks) + b"}"
    start = b"{" + members(head) + b',"input":['
    marked = places(pieces, BREAKPOINTS if marks else 0)
    return Request(start, pieces, end, BREAKPOINT, marked)


def _settings(header: RequestHeader, model: str, root: str) -> Iterator[tuple[str, bytes]]:
    given: dict[str, Any] = {"store": False, "prompt_cache_key": root, **header.settings}
    if _REASONS.search(model):
        given.setdefault("include", ["reasoning.encrypted_content"])
    alone = set[str]() if listed(header.tools.text) else {"tool_choice", "parallel_tool_calls"}
    yield from settings(given, _OWN | alone)


def _tools(tools: list[dict[str, Any]], text: str) -> bytes:
    if all("type" in tool for tool in tools):
        return raw(text)
    return spell([tool if "type" in tool else _tool(tool) for tool in tools])


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.get("name"),
        "description": tool.get("description", ""),
        "parameters": tool.get("input_schema", tool.get("inputSchema", {"type": "object"})),
        # Schemas of other people's tools are not of the strict kind.
        "strict": False,
    }


def _cache_options(context: Context, marks: bool) -> bytes:
    given = context.header.settings.get("prompt_cache_options")
    options: dict[str, Any] = {**given} if isinstance(given, Mapping) else {}
    if marks and context.last_response is not None:
        options["comparison_response_id"] = context.last_response
    return b"," + members([("prompt_cache_options", spell(options))]) if options else b""


def _pieces(turn: Turn, marks: bool) -> Iterator[Piece]:
    for part in turn.parts:
        match part:
            case ToolUse():
                body = item(
                    ("type", b'"function_call"'),
                    ("call_id", spell(part.id)),
                    ("name", spell(part.name)),
                    ("arguments", spell(part.input)),
                )
                yield Piece(body, turn.role, turn.inherited)
            case Result():
                yield from _result(part, turn.inherited, marks)
            case Thinking(verbatim=json) | Verbatim(json=json):
                yield Piece(raw(json or "{}"), turn.role, turn.inherited)
            case Text() | Media() if turn.role == "user":
                start = item(("type", b'"message"'), ("role", b'"user"'), ("content", b"["))[:-1]
                yield Piece(_block(part), "user", turn.inherited, start, b"]}", markable=True)
            case Text(text=text):
                body = item(("type", b'"output_text"'), ("text", spell(text)))
                role = ("role", b'"assistant"')
                start = item(("type", b'"message"'), role, ("content", b"["))[:-1]
                yield Piece(body, "assistant", turn.inherited, start, b"]}")
            case Media():
                pass  # An answer has none: `turns` put words in its place.


def _result(result: Result, inherited: bool, marks: bool) -> Iterator[Piece]:
    start = [("type", b'"function_call_output"'), ("call_id", spell(result.call))]
    words = [block.text for block in result.content if isinstance(block, Text)]
    if len(words) == len(result.content) and not marks:
        whole = item(*start, ("output", spell("\n\n".join(words))))
        yield Piece(whole, "user", inherited)
        return
    for block in result.content:
        open = item(*start, ("output", b"["))[:-1]
        yield Piece(_block(block), "user", inherited, open, b"]}", markable=True)


def _block(block: Block) -> bytes:
    match block:
        case Text(text=text):
            return item(("type", b'"input_text"'), ("text", spell(text)))
        case Media(kind="image"):
            url = f"data:{block.media_type};base64,{block.data}"
            return item(
                ("type", b'"input_image"'), ("detail", b'"auto"'), ("image_url", spell(url))
            )
        case Media():
            url = f"data:{block.media_type};base64,{block.data}"
            name = block.name or "document.pdf"
            return item(
                ("type", b'"input_file"'), ("filename", spell(name)), ("file_data", spell(url))
            )
        case Verbatim(json=json):
            return raw(json)
        case _:
            return item(("type", b'"input_text"'), ("text", b'""'))


def _intact(block: Thinking, value: Mapping[str, Any]) -> bool:
    """Without its encrypted content the provider cannot read a reasoning item again."""
    match value:
        case {"type": "reasoning", "encrypted_content": str(content)}:
            return bool(content)
        case _:
            return False
