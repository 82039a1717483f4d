"""A thread of Zed's agent (one JSON document in a row) → `Transcript`. Pure.

Read by the source of crates/agent/src/db.rs (thread version 0.3.0, and the one before it);
unverified against a real file. A person's message has an id; an answer is named by its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sidechat_mcp.clients import files
from sidechat_mcp.clients.blocks import media
from sidechat_mcp.clients.dialogue import Answer, Record, Result, Said, Saying, tell
from sidechat_mcp.clients.jsonl import Shape, Tally
from sidechat_mcp.clients.values import compact, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.ports.client import Transcript

NAME = "zed"
WHAT = "Zed"

_SHAPE = Shape(re.compile(r'\{\s*"(?:User|Agent)"\s*:'), frozenset())


def read(text: bytes, ref: str, cwd: str | None = None) -> Transcript:
    """The conversation in a thread's document. Raises: UnknownFormat."""
    tally = Tally()
    thread, messages = files.items(text, "messages", _SHAPE, tally)
    records: list[Record] = []
    for place, message in enumerate(messages, 1):
        id, says = _says(message, f"item-{place}", tally)
        tally.understood += bool(says)
        # Zed keeps no times of single messages, and of models the one that is chosen now.
        records += (Record(id, 0, one) for one in says)
    if not tally.understood and (messages or "messages" not in thread):
        raise files.alien(WHAT, f"thread version {thread.get('version')!r}"[:60])
    told = tell(NAME, records, tally)
    return Transcript(
        client=NAME,
        ref=ref,
        drafts=told.drafts,
        cwd=cwd,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=files.skipped(tally),
        delivered=told.delivered,
        version=word(thread.get("version")),
    )


def _says(message: dict[str, Any], place: str, tally: Tally) -> tuple[str, list[Saying]]:
    user, agent = mapping(message.get("User")), mapping(message.get("Agent"))
    if user:
        return word(user.get("id")) or place, [Said(_content(user.get("content")))]
    if agent:
        return place, [*_answer(_content(agent.get("content")), agent.get("tool_results"))]
    if message.get("role") in ("user", "assistant"):
        return place, [*_older(message)]
    tally.unknown[next(iter(message), "no member")[:40]] += 1
    return place, []


def _answer(content: Content, results: Any) -> Iterator[Saying]:
    yield Answer(content)
    given = mapping(results)
    for block in content:
        if isinstance(block, ToolUse) and block.id in given:
            yield _result(block.id, mapping(given[block.id]))


def _older(message: dict[str, Any]) -> Iterator[Saying]:
    """The version before: segments, with calls and results beside them."""
    found: list[Block] = []
    for one in map(mapping, sequence(message.get("segments"))):
        words = word(one.get("text"))
        if words is not None:
            thinks = one.get("type") == "thinking"
            found.append(Thinking(words, NAME, compact(one)) if thinks else Text(words))
    if message["role"] == "user":
        shown = word(message.get("context"))
        yield Said((*((Text(shown),) if shown else ()), *found))
        return
    for one in map(mapping, sequence(message.get("tool_uses"))):
        found += _call(one)
    yield Answer(_unique(found))
    for one in map(mapping, sequence(message.get("tool_results"))):
        call = word(one.get("tool_use_id"))
        if call is not None:
            yield _result(call, one)


def _content(value: Any) -> Content:
    found: list[Block] = []
    for one in map(mapping, sequence(value)):
        for kind, given in one.items():
            found += _block(kind, given)
    return _unique(found)


def _block(kind: str, given: Any) -> Iterator[Block]:
    match kind:
        case "Text":
            if word(given) is not None:
                yield Text(given)
        case "Mention":
            about = mapping(given)
            words = word(about.get("content"))
            yield Text(words) if words is not None else Verbatim(NAME, compact(about))
        case "Thinking":
            thought = word(mapping(given).get("text"))
            if thought is not None:
                yield Thinking(thought, NAME, compact(given))
        case "Image":
            source = word(mapping(given).get("source"))
            if source is not None:
                yield media(source, "image/png")
        case "ToolUse":
            yield from _call(mapping(given))
        case "RedactedThinking":
            pass
        case _:
            yield Verbatim(NAME, compact({kind: given}))


def _call(found: dict[str, Any]) -> Iterator[ToolUse]:
    id, name = word(found.get("id")), word(found.get("name"))
    if id is not None and name is not None:
        yield ToolUse(id, name, compact(found.get("input") or {}))


def _result(call: str, given: dict[str, Any]) -> Result:
    """Its content is text, an image, or a list of either, spelled in several ways."""
    value = given.get("content")
    found: list[Block] = []
    for one in sequence(value) if isinstance(value, list) else [value]:
        part = mapping(one)
        words = word(one) or word(part.get("Text")) or word(part.get("text"))
        image = mapping(part.get("Image") or part.get("image") or part)
        source = word(image.get("source"))
        if words is not None:
            found.append(Text(words))
        elif source is not None:
            found.append(media(source, "image/png"))
    return Result(call, tuple(found), given.get("is_error") is True)


def _unique(found: list[Block]) -> Content:
    """A message calls once under one id."""
    calls: set[str] = set()
    kept: list[Block] = []
    for block in found:
        if isinstance(block, ToolUse):
            if block.id in calls:
                continue
            calls.add(block.id)
        kept.append(block)
    return tuple(kept)


def first_words(text: bytes) -> str | None:
    """A title: what the person said first."""
    _, messages = files.items(text, "messages", _SHAPE, Tally())
    for message in messages:
        for one in _says(message, "", Tally())[1]:
            if isinstance(one, Said):
                return files.title(one.content)
    return None
