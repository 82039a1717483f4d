"""One record of a Qwen Code session → what it says. Pure; unknown kinds are counted.

Seen with 0.24.4. Records are a tree (`parentUuid`); a message is kept as it was sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.clients import parts
from sidechat_mcp.clients.dialogue import (
    Answer,
    Compacted,
    Record,
    Result,
    Said,
    Saying,
    Shown,
    Tokens,
)
from sidechat_mcp.clients.jsonl import Shape, Tally
from sidechat_mcp.clients.values import amount, instant, mapping, sequence, word

WIRE = "qwen"
SHAPE = Shape(re.compile(r'\{\s*"uuid"\s*:'), frozenset({"uuid", "type"}))

_TYPES = ("user", "assistant", "tool_result", "system")
_STEERS = "mid_turn_user_message"
_FAILED = ("error", "cancelled")


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree, and what stands there (nothing, for most of the client's own)."""

    uuid: str
    parent: str | None
    says: list[Record]


@dataclass(slots=True)
class Shelf:
    """What reading a file gathers beside its records."""

    tally: Tally
    ref: str | None = None
    cwd: str | None = None
    version: str | None = None
    title: str | None = None
    at: int = 0


def read(found: dict[str, Any], shelf: Shelf) -> Node | None:
    """The node that an object of the file is, or None for anything else (then counted)."""
    kind, uuid = found.get("type"), word(found.get("uuid"))
    ours = (
        "systemPayload" in found if kind == "system" else "parts" in mapping(found.get("message"))
    )
    if kind not in _TYPES or uuid is None or not ours:
        shelf.tally.unknown[kind[:40] if isinstance(kind, str) else "no type"] += 1
        return None
    shelf.tally.understood += 1
    if found.get("isSidechain") is True or word(found.get("agentId")) is not None:
        shelf.tally.ignored["subagent"] += 1
        return None
    shelf.ref = shelf.ref or word(found.get("sessionId"))
    shelf.cwd = shelf.cwd or word(found.get("cwd"))
    shelf.version = word(found.get("version")) or shelf.version
    shelf.at = instant(found.get("timestamp"), shelf.at)
    says = [Record(uuid, shelf.at, one) for one in _says(found, shelf)]
    return Node(uuid, word(found.get("parentUuid")), says)


def _says(found: dict[str, Any], shelf: Shelf) -> Iterator[Saying]:
    given = mapping(found.get("message")).get("parts")
    match found["type"]:
        case "user":
            yield from _said(found, given)
        case "assistant":
            tokens = _tokens(mapping(found.get("usageMetadata")))
            yield Answer(parts.content(given, WIRE), word(found.get("model")), tokens)
        case "tool_result":
            failed = mapping(found.get("toolCallResult")).get("status") in _FAILED
            for one in parts.outcomes(given, WIRE):
                yield Result(one.call, one.content, one.is_error or failed)
        case _:
            yield from _system(found, shelf)


def _said(found: dict[str, Any], given: Any) -> Iterator[Saying]:
    """What a person typed; old versions do not say who did. What else goes to the model as a
    user's message (a notification, a timer, a goal) is the client's."""
    content = parts.content(given, WIRE)
    kind = word(found.get("subtype"))
    if found.get("provenance", "real_user") == "real_user" and kind in (None, _STEERS):
        yield Said(content, joins=kind == _STEERS)
    elif content:
        yield Shown(content, kind or "client")


def _system(found: dict[str, Any], shelf: Shelf) -> Iterator[Saying]:
    kind, payload = str(found.get("subtype"))[:40], mapping(found.get("systemPayload"))
    match kind:
        case "chat_compression":
            history = [*_history(payload.get("compressedHistory"))]
            if history and isinstance(history[0], Said):
                yield Compacted(history[0].content, history[1:])
        case "custom_title":
            shelf.title = word(payload.get("customTitle")) or shelf.title
        case _:
            shelf.tally.ignored[kind] += 1


def _history(value: Any) -> Iterator[Said | Answer | Result]:
    """The messages that a compression leaves its model with."""
    for message in map(mapping, sequence(value)):
        given = message.get("parts")
        content = parts.content(given, WIRE)
        if message.get("role") == "model":
            yield Answer(content)
            continue
        for one in parts.outcomes(given, WIRE):
            yield Result(one.call, one.content, one.is_error)
        if content:
            yield Said(content)


def _tokens(found: dict[str, Any]) -> Tokens | None:
    """The client writes 0 for what was not reported."""
    given, answered = (
        amount(found.get("promptTokenCount")),
        amount(found.get("candidatesTokenCount")),
    )
    if not given and not answered:
        return None
    thought = amount(found.get("thoughtsTokenCount")) or 0
    cached = amount(found.get("cachedContentTokenCount")) or None
    return Tokens(given, answered + thought if answered is not None else None, cached)
