"""The events of a session that Copilot CLI keeps, and VS Code's Copilot for its hooks → what they
say. Pure; unknown kinds are counted.

Seen with Copilot CLI 1.0.102, whose package has a schema of them. A person's turn goes from a
`user.message` to the `assistant.turn_end` behind an answer that asks for nothing more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.clients import files
from sidechat_mcp.clients.blocks import media
from sidechat_mcp.clients.dialogue import (
    Answer,
    Compacted,
    Over,
    Record,
    Result,
    Said,
    Saying,
    Shown,
    Spent,
    Tokens,
)
from sidechat_mcp.clients.jsonl import Shape, Source, Tally, objects
from sidechat_mcp.clients.values import amount, compact, instant, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Text, Thinking, ToolUse, Verbatim

WIRE = "copilot"
SHAPE = Shape(re.compile(r'\{\s*"type"\s*:'), frozenset({"type", "data", "id"}))
NOT_HELD = "[What this call answered is not in the transcript.]"
CLEARED = "[The person cleared the conversation before this point.]"

_RECOGNISED = 0.1


@dataclass(slots=True)
class Shelf:
    """What reading a file gathers beside its records; `editor` is VS Code's version."""

    tally: Tally
    ref: str | None = None
    cwd: str | None = None
    version: str | None = None
    editor: str | None = None
    at: int = 0


def gather(source: Source, shelf: Shelf) -> list[Record]:
    """All events that say something, in their order."""
    found: list[Record] = []
    for event in objects(source, SHAPE, shelf.tally):
        found += read(event, shelf)
    return found


def refuse(shelf: Shelf, what: str) -> None:
    """Raises: UnknownFormat, when too little was understood."""
    tally = shelf.tally
    if tally.lines and tally.understood < max(1, _RECOGNISED * tally.lines):
        raise files.alien(what, "its lines are no events of a session")


def read(event: dict[str, Any], shelf: Shelf) -> Sequence[Record]:
    """What an event says: mostly one thing, or nothing."""
    kind, id, data = event.get("type"), word(event.get("id")), event.get("data")
    if not isinstance(kind, str) or id is None or not isinstance(data, dict):
        shelf.tally.unknown[kind[:40] if isinstance(kind, str) else "no type"] += 1
        return []
    known = kind in _SAYINGS or kind.partition(".")[0] in _FAMILIES
    shelf.tally.understood += known
    shelf.at = instant(event.get("timestamp"), shelf.at)
    given = mapping(data)
    if word(given.get("parentToolCallId")) or word(event.get("agentId")):
        shelf.tally.ignored["subagent"] += 1
        return []  # What an agent's agent does.
    if kind == "session.start":
        _started(given, shelf)
    if kind not in _SAYINGS:
        (shelf.tally.ignored if known else shelf.tally.unknown)[kind[:40]] += 1
        return []
    return [Record(id, shelf.at, says) for says in _SAYINGS[kind](given, shelf.tally.ignored)]


def _started(data: dict[str, Any], shelf: Shelf) -> None:
    shelf.ref = shelf.ref or word(data.get("sessionId"))
    shelf.cwd = shelf.cwd or word(mapping(data.get("context")).get("cwd"))
    shelf.version = shelf.version or word(data.get("copilotVersion"))
    shelf.editor = shelf.editor or word(data.get("vscodeVersion"))


def _user(data: dict[str, Any], _: Counter[str]) -> Iterator[Saying]:
    """What the person typed, and what the client puts around it for its model. Messages of
    another source (a skill, another agent, the client going on by itself) nobody typed."""
    typed, sent = word(data.get("content")) or "", word(data.get("transformedContent")) or ""
    around: Sequence[str] = ()
    if typed and typed in sent:
        around = sent.rpartition(typed)[::2]
    typed = typed or sent
    attached = [Verbatim(WIRE, compact(one)) for one in sequence(data.get("attachments"))]
    content: Content = (*((Text(typed),) if typed else ()), *attached)
    shown = [Shown((Text(one),), "transformedContent") for one in around if one.strip()]
    source = word(data.get("source"))
    if source not in (None, "user") or data.get("isAutopilotContinuation") is True:
        yield Shown(content, (source or "autopilot")[:60])
    else:
        yield Said(content, joins=data.get("delivery") == "steering", before=shown)


def _assistant(data: dict[str, Any], _: Counter[str]) -> Iterator[Saying]:
    found: list[Block] = []
    thought, words = word(data.get("reasoningText")), word(data.get("content"))
    if thought is not None:
        found.append(Thinking(thought, WIRE))
    if words is not None:
        found.append(Text(words))
    calls: set[str] = set()
    for one in map(mapping, sequence(data.get("toolRequests"))):
        call, name = word(one.get("toolCallId")), word(one.get("name"))
        if call is not None and name is not None and call not in calls:
            calls.add(call)
            found.append(ToolUse(call, name, _arguments(one.get("arguments"))))
    yield Answer(tuple(found), word(data.get("model")), marked=True)


def _complete(data: dict[str, Any], ignored: Counter[str]) -> Iterator[Saying]:
    call = word(data.get("toolCallId"))
    if call is None:
        return
    failed = data.get("success") is not True
    result = mapping(data.get("result"))
    told = word(mapping(data.get("error")).get("message")) if failed else None
    content: list[Block] = [Text(words)] if (words := told or word(result.get("content"))) else []
    for one in map(mapping, sequence(result.get("binaryResultsForLlm"))):
        held = word(one.get("data"))
        if held is not None:
            content.append(media(held, word(one.get("mimeType"))))
    if not content and "result" not in data and "error" not in data:
        ignored["result that is not in the transcript"] += 1
        content.append(Text(NOT_HELD))
    yield Result(call, tuple(content), failed)


def _notified(data: dict[str, Any], _: Counter[str]) -> Iterator[Saying]:
    words = word(data.get("content"))
    if words is not None:
        yield Shown((Text(words),), word(data.get("source")) or "notification")


def _ended(_: dict[str, Any], __: Counter[str]) -> Iterator[Saying]:
    yield Over("completed")


def _aborted(data: dict[str, Any], _: Counter[str]) -> Iterator[Saying]:
    yield Over("aborted", (word(data.get("reason")) or "")[:200] or None)


def _compacted(data: dict[str, Any], _: Counter[str]) -> Iterator[Saying]:
    summary = word(data.get("summaryContent"))
    if data.get("success") is True and summary is not None:
        yield Compacted((Text(summary),))


def _cleared(data: dict[str, Any], _: Counter[str]) -> Iterator[Saying]:
    first = word(data.get("initialMessage"))
    yield Compacted((Text(CLEARED if first is None else f"{CLEARED}\n\n{first}"),))


def _spent(data: dict[str, Any], _: Counter[str]) -> Iterator[Saying]:
    usage = mapping(data.get("usage"))
    given, answered = amount(usage.get("inputTokens")), amount(usage.get("outputTokens"))
    if given is None and answered is None:
        return
    told = usage.get("cacheDetailsReported") is not False
    read_, written = amount(usage.get("cacheReadTokens")), amount(usage.get("cacheWriteTokens"))
    call = word(usage.get("apiCallId"))
    yield Spent(Tokens(given, answered, *((read_, written) if told else (None, None)), call))


def _arguments(value: Any) -> str:
    """JSON text of a call's arguments: some versions keep that text, some what it spells."""
    if isinstance(value, str):
        spelled = files.document(value.encode("utf-8", "replace"))
        return value if spelled is not None else compact(value)
    return compact(value if value is not None else {})


_FAMILIES = frozenset(
    (
        *("session", "user", "assistant", "tool", "external_tool", "tool_search", "system"),
        *("hook", "skill", "subagent", "permission", "human_response", "mcp", "abort"),
    )
)
"""First words of kinds that the format has; most say nothing to a model."""
_SAYINGS = {
    "user.message": _user,
    "assistant.message": _assistant,
    "assistant.turn_end": _ended,
    "tool.execution_complete": _complete,
    "system.notification": _notified,
    "skill.context_delivered": _notified,
    "session.compaction_complete": _compacted,
    "session.context_cleared": _cleared,
    "session.usage_record": _spent,
    "abort": _aborted,
}
