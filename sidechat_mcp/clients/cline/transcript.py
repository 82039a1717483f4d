"""A conversation of Cline (one JSON document, rewritten with each message) → `Transcript`. Pure.

The command line's form (`<id>.messages.json`) was seen with 3.0.65. The extension's form
(`api_conversation_history.json`, a bare list) is unverified against a real file: older ones
spell calls as XML in the text and results as the person's messages; the tools with which its
model hands over to the person (`attempt_completion` and others) are read as words. What the
extension left out of a long history is written elsewhere and is shown here all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sidechat_mcp.clients import blocks, files
from sidechat_mcp.clients.dialogue import Answer, Record, Result, Said, Saying, Shown, Tokens, tell
from sidechat_mcp.clients.jsonl import Shape, Tally
from sidechat_mcp.clients.values import amount, instant, mapping, sequence, word
from sidechat_mcp.core.content import Content, Text, plain
from sidechat_mcp.ports.client import Transcript

NAME = "cline"

_SHAPE = Shape(re.compile(r'\{\s*"(?:id|role)"\s*:'), frozenset({"role", "content"}))
_HANDS_OVER = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
}
_XML_CALL = re.compile(
    r"<(?:read_file|write_to_file|replace_in_file|execute_command|search_files|list_files"
    r"|list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|web_fetch)>"
)
_XML_RESULT = re.compile(r"\s*\[\w+(?: for [^\]]*)?\] Result:")
_FOLDER = re.compile(r"# Current Working Directory \((.+?)\) Files")


def read(text: bytes, name: str, ref: str | None = None, cwd: str | None = None) -> Transcript:
    """The conversation in `text`; `cwd` is its folder, where that is written beside it.

    Raises: UnknownFormat."""
    tally = Tally()
    bare = text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    kept, messages = files.items(text, None if bare else "messages", _SHAPE, tally)
    records: list[Record] = []
    handed: set[str] = set()
    at = 0
    for place, message in enumerate(messages, 1):
        at = instant(message.get("ts"), at)
        id = word(message.get("id")) or f"item-{place}"
        says = [*_says(message, handed, tally)]
        records += (Record(id, at, one) for one in says)
        tally.understood += bool(says)
    if not tally.understood and (messages or bare or "messages" not in kept):
        raise files.alien("Cline", "it is no list of messages with a role")
    told = tell(NAME, records, tally)
    return Transcript(
        client=NAME,
        ref=ref or word(kept.get("sessionId")) or name,
        drafts=told.drafts,
        cwd=cwd or _folder(messages),
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=files.skipped(tally),
        delivered=told.delivered,
        version=word(mapping(kept.get("origin")).get("version")),
    )


def _says(message: dict[str, Any], handed: set[str], tally: Tally) -> Iterator[Saying]:
    match message.get("role"):
        case "user":
            yield from _said(message.get("content"), handed)
        case "assistant":
            yield from _answer(message, handed)
        case role:
            tally.unknown[str(role)[:40]] += 1


def _said(value: Any, handed: set[str]) -> Iterator[Saying]:
    """Results, and what the person says with them. A result of a call that handed over is what
    the person said to it."""
    words: Content = ()
    results = blocks.outcomes(value, NAME)
    for one in results:
        if one.call in handed:
            words += one.content
        else:
            yield Result(one.call, one.content, one.is_error)
    words += blocks.content(value, NAME)
    if words and _XML_RESULT.match(plain(words)):
        yield Shown(words, "tool result")
    elif words:
        carried_on = any(one.call not in handed for one in results)
        yield Said(words, joins=carried_on)


def _answer(message: dict[str, Any], handed: set[str]) -> Iterator[Saying]:
    given = message.get("content")
    spoken = given if isinstance(given, str) else [_spoken(one, handed) for one in sequence(given)]
    content = blocks.content(spoken, NAME)
    info = mapping(message.get("modelInfo"))
    yield Answer(
        content,
        word(info.get("id")) or word(info.get("modelId")),
        _tokens(mapping(message.get("metrics"))),
        marked=_XML_CALL.search(plain(content)) is not None,
    )


def _spoken(value: Any, handed: set[str]) -> Any:
    block = mapping(value)
    member = _HANDS_OVER.get(str(block.get("name"))) if block.get("type") == "tool_use" else None
    words = word(mapping(block.get("input")).get(member)) if member is not None else None
    if words is None:
        return value
    handed.add(word(block.get("id")) or "")
    return {"type": "text", "text": words}


def _folder(messages: list[dict[str, Any]]) -> str | None:
    """The folder that the extension tells its model with the first message."""
    for message in messages[:1]:
        shown = _FOLDER.search(plain(blocks.content(message.get("content"), NAME)))
        if shown is not None:
            return shown[1]
    return None


def _tokens(metrics: dict[str, Any]) -> Tokens | None:
    """A count of 0 was not reported. Whether the prompt's count has what is cached in it differs
    from model to model, so with both the whole prompt is not known."""
    given, answered = amount(metrics.get("inputTokens")), amount(metrics.get("outputTokens"))
    cached = amount(metrics.get("cacheReadTokens")) or None
    written = amount(metrics.get("cacheWriteTokens")) or None
    if not given and not answered:
        return None
    return Tokens(None if cached or written else given, answered, cached, written)


def first_words(text: bytes) -> str | None:
    """A title: the first words that the person said."""
    bare = text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    _, messages = files.items(text, None if bare else "messages", _SHAPE, Tally())
    for message in messages:
        words = blocks.content(message.get("content"), NAME)
        if message.get("role") == "user" and words:
            return files.title(tuple(one for one in words if isinstance(one, Text)))
    return None
