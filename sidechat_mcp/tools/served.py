"""A tool of a configured MCP server: what it is called here, a call of it, and its result as
content. Whatever a server sends, a result has a bounded size and spoils no other call."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from sidechat_mcp.core.content import Block, Content, Media, Text, text
from sidechat_mcp.core.events import Header
from sidechat_mcp.errors import OutsideError
from sidechat_mcp.ports.tool import Outcome

MOST_TEXT = 256 * 1024
"""Code points of all texts in one result."""
MOST_MEDIA = 5 * 1024 * 1024
"""Length of one image or document, in base64."""
MOST_BLOCKS = 100
BETWEEN = "__"
"""Between the name of a server, which has none in it, and that of its tool."""

_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


def name(server: str, tool: str) -> str:
    """NAME__TOOL, of the characters that every model's wire takes."""
    return f"{server}{BETWEEN}{_UNFIT.sub('_', tool)}"


@dataclass(frozen=True, slots=True)
class Served:
    """One tool as its server listed it first. `call` takes it and the arguments, and raises
    OutsideError, in words for the model, where there is no result."""

    name: str
    description: str
    schema: Mapping[str, Any]
    read_only: bool
    remote: str
    call: Callable[[Served, dict[str, Any]], Awaitable[Any]]

    async def run(self, input: str, session: Header) -> Outcome:
        given = arguments(input)
        if given is None:
            return Outcome(text("The arguments are no JSON object."), is_error=True)
        try:
            result = await self.call(self, given)
        except OutsideError as error:
            return Outcome(text(str(error)), is_error=True)
        return Outcome(_content(result), is_error=bool(result.is_error))


@dataclass(frozen=True, slots=True)
class Absent:
    """Stands for a tool whose server cannot be used. It does nothing but say why."""

    name: str
    why: str
    description: str = ""
    read_only: bool = True

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"type": "object"}

    async def run(self, input: str, session: Header) -> Outcome:
        return Outcome(text(self.why), is_error=True)


def arguments(input: str) -> dict[str, Any] | None:
    """The JSON object that `input` is, of what JSON can carry over a wire; else None."""
    try:
        given = json.loads(input or "{}", parse_constant=_refuse)
        # A half character ends the connection of who tries to send it.
        json.dumps(given, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", given) if isinstance(given, dict) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _content(result: Any) -> Content:
    left, blocks = MOST_TEXT, list[Block]()
    given: Sequence[Any] = result.content
    for one in given[:MOST_BLOCKS]:
        block = _block(one)
        if isinstance(block, Text) and len(block.text) > left:
            block = Text(block.text[:left] + f"\n[cut here; {len(block.text)} characters]")
        left -= min(left, len(block.text)) if isinstance(block, Text) else 0
        blocks.append(block)
    if len(given) > MOST_BLOCKS:
        blocks.append(Text(f"[left out: {len(given) - MOST_BLOCKS} more parts]"))
    if not blocks and result.structured_content is not None:
        blocks.append(Text(json.dumps(result.structured_content, ensure_ascii=False)[:MOST_TEXT]))
    return tuple(blocks) or text("(no content)")


def _block(block: Any) -> Block:
    match block.type:
        case "text":
            return Text(block.text)
        case "image":
            return _media("image", block.mime_type, block.data)
        case "resource" if getattr(block.resource, "text", None) is not None:
            return Text(block.resource.text)
        case "resource" if block.resource.mime_type == "application/pdf":
            return _media("document", "application/pdf", block.resource.blob)
        case "resource":
            return Text(f"[resource {block.resource.uri}]")
        case "resource_link":
            return Text(f"[resource {block.uri}: {block.description or block.name}]")
        case other:
            return Text(f"[{other}]")


def _media(kind: str, media_type: str, data: str) -> Block:
    if len(data) > MOST_MEDIA:
        return Text(f"[{media_type} left out: {len(data) * 3 // 4} bytes are too many]")
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Text(f"[{media_type} left out: it is damaged]")
    digest = hashlib.sha256(raw).hexdigest()
    return Media("image" if kind == "image" else "document", media_type, digest, len(raw), data)
