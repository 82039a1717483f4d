"""A session of Continue (one JSON document, rewritten after each turn) → `Transcript`. Pure.

Seen with its command line 1.5.47. Items have no ids and no times: their place is their name.
Results stand beside the calls (`toolCallStates`), in old sessions in items of the role `tool`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from sidechat_mcp.clients import files
from sidechat_mcp.clients.blocks import media
from sidechat_mcp.clients.dialogue import (
    Answer,
    Compacted,
    Record,
    Result,
    Said,
    Saying,
    Shown,
    Tokens,
    tell,
)
from sidechat_mcp.clients.jsonl import Shape, Tally
from sidechat_mcp.clients.values import amount, compact, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Text, ToolUse, Verbatim
from sidechat_mcp.ports.client import Transcript

NAME = "continue"

_SHAPE = Shape(re.compile(r'\{\s*"message"\s*:'), frozenset({"message"}))
_FAILED = ("errored", "canceled")


def read(text: bytes, name: str, ref: str | None = None) -> Transcript:
    """The conversation in `text`. Raises: UnknownFormat."""
    tally = Tally()
    session, items = files.items(text, "history", _SHAPE, tally)
    records: list[Record] = []
    for place, item in enumerate(items, 1):
        says = [*_says(item, tally)]
        records += (Record(f"item-{place}", 0, one) for one in says)
        tally.understood += bool(says)
    if not tally.understood and (items or "history" not in session):
        raise files.alien("Continue", "it has no `history` of messages")
    told = tell(NAME, records, tally)
    return Transcript(
        client=NAME,
        ref=ref or word(session.get("sessionId")) or name,
        drafts=told.drafts,
        cwd=folder(session),
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=files.skipped(tally),
        delivered=told.delivered,
    )


def folder(session: dict[str, Any]) -> str | None:
    """The folder that a session was begun in: a path, or the address of one."""
    given = word(session.get("workspaceDirectory"))
    if given is None or not given.startswith("file://"):
        return given
    return unquote(urlsplit(given).path) or None


def _says(item: dict[str, Any], tally: Tally) -> Iterator[Saying]:
    message = mapping(item.get("message"))
    match message.get("role"):
        case "user":
            yield Said(_content(message.get("content")), before=[*_context(item)])
        case "assistant":
            yield from _answer(item, message)
        case "tool":
            call = word(message.get("toolCallId"))
            if call is not None:
                yield Result(call, _content(message.get("content")))
        case "system" | "thinking" as role:
            tally.ignored[f"{role} message"] += 1
        case role:
            tally.unknown[str(role)[:40]] += 1
    summary = word(item.get("conversationSummary"))
    if summary is not None:
        yield Compacted((Text(summary),))


def _answer(item: dict[str, Any], message: dict[str, Any]) -> Iterator[Saying]:
    calls: dict[str, ToolUse] = {}
    for one in map(mapping, sequence(message.get("toolCalls"))):
        function = mapping(one.get("function"))
        id, name = word(one.get("id")), word(function.get("name"))
        if id is not None and name is not None and id not in calls:
            calls[id] = ToolUse(id, name, arguments(function.get("arguments")))
    usage = mapping(message.get("usage"))
    content = (*_content(message.get("content")), *calls.values())
    yield Answer(content, word(usage.get("model")), _tokens(usage))
    for state in map(mapping, sequence(item.get("toolCallStates"))):
        call, output = word(state.get("toolCallId")), sequence(state.get("output"))
        if call is not None and (output or state.get("status") in ("done", *_FAILED)):
            told = [word(mapping(one).get("content")) for one in output]
            words = tuple(Text(one) for one in told if one is not None)
            yield Result(call, words, state.get("status") in _FAILED)


def arguments(value: Any) -> str:
    """The arguments of a call as JSON text: mostly they are that already."""
    if isinstance(value, str) and files.document(value.encode("utf-8", "replace")) is not None:
        return value
    return compact(value if value is not None and value != "" else {})


def _context(item: dict[str, Any]) -> Iterator[Shown]:
    for one in map(mapping, sequence(item.get("contextItems"))):
        words = word(one.get("content"))
        if words is not None:
            yield Shown((Text(words),), word(one.get("name")) or "context item")


def _content(value: Any) -> Content:
    if isinstance(value, str):
        return (Text(value),) if value else ()
    found = (_block(mapping(one)) for one in sequence(value))
    return tuple(block for block in found if block is not None)


def _block(part: dict[str, Any]) -> Block | None:
    match part.get("type"):
        case "text":
            words = word(part.get("text"))
            return Text(words) if words is not None else None
        case "imageUrl":
            url = word(mapping(part.get("imageUrl")).get("url")) or ""
            about, comma, data = url.removeprefix("data:").partition(",")
            if url.startswith("data:") and comma:
                return media(data, about.partition(";")[0])
            return Verbatim(NAME, compact(part))
        case _:
            return None


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    """A count of 0 was not reported."""
    cached = amount(mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
    given, answered = amount(usage.get("prompt_tokens")), amount(usage.get("completion_tokens"))
    return Tokens(given, answered, cached or None) if given or answered else None
