"""Content in the parts of Google's generateContent, which Gemini CLI and Qwen keep → our content.
Pure and lenient: what is no part is left out, and so is a call that its message has already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sidechat_mcp.clients.blocks import Outcome, media
from sidechat_mcp.clients.values import compact, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Text, Thinking, ToolUse, Verbatim


def parts(value: Any) -> list[dict[str, Any]]:
    """The parts of a message, however they are spelled: text, one part, or a list of either."""
    if isinstance(value, str):
        return [{"text": value}] if value else []
    if isinstance(value, dict):
        return [mapping(value)]
    return [{"text": one} if isinstance(one, str) else mapping(one) for one in sequence(value)]


def content(value: Any, wire: str, more: Iterable[ToolUse] = ()) -> Content:
    """Content of a message without the results in it; calls in `more` stand behind, unless they
    are in it already."""
    found = [block for part in parts(value) if (block := _block(part, wire)) is not None]
    kept: list[Block] = []
    calls: set[str] = set()
    for block in (*found, *more):
        if isinstance(block, ToolUse):
            if block.id in calls:
                continue
            calls.add(block.id)
        kept.append(block)
    return tuple(kept)


def outcomes(value: Any, wire: str) -> list[Outcome]:
    """The results in a message's parts."""
    return [found for part in parts(value) if (found := _outcome(part, wire)) is not None]


def _outcome(part: dict[str, Any], wire: str) -> Outcome | None:
    given = mapping(part.get("functionResponse"))
    call = word(given.get("id"))
    if call is None:
        return None
    response = given.get("response")
    told = mapping(response)
    shown: list[Block] = []
    for name in ("output", "error"):
        if told.keys() == {name} and isinstance(told[name], str):
            shown = [Text(told[name])] if told[name] else []
            break
    else:
        shown = [Text(compact(response))] if response else []
    shown += content(given.get("parts"), wire)
    return Outcome(call, tuple(shown), "error" in told)


def _block(part: dict[str, Any], wire: str) -> Block | None:
    words = word(part.get("text"))
    if words is not None:
        return Thinking(words, wire, compact(part)) if part.get("thought") is True else Text(words)
    called = mapping(part.get("functionCall"))
    if called:
        id, name = word(called.get("id")), word(called.get("name"))
        return ToolUse(id, name, compact(called.get("args", {}))) if id and name else None
    inline = mapping(part.get("inlineData"))
    data = word(inline.get("data"))
    if data is not None:
        return media(data, word(inline.get("mimeType")), word(inline.get("displayName")))
    if part.get("fileData") or part.get("executableCode") or part.get("codeExecutionResult"):
        return Verbatim(wire, compact(part))
    return None
