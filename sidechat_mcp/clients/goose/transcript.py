"""Rows of a Goose session → `Transcript`. Pure.

Read by the schema of version 17 (session_manager.rs); unverified against a file of a real person.
A compaction takes older rows out of the model's sight and puts a summary behind them that the
person does not see; what else only the model sees is context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
    tell,
)
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.values import compact, instant, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.ports.client import Transcript

NAME = "goose"

_ASIDE = ("systemNotification", "toolConfirmationRequest", "actionRequired", "redactedThinking")


@dataclass(frozen=True, slots=True)
class Session:
    """A row of `sessions`. `parent` is that of a subagent; times in milliseconds since 1970."""

    id: str
    kind: str | None
    title: str | None
    cwd: str | None
    updated: int
    parent: str | None

    @property
    def persons(self) -> bool:
        """Whether a person talks there."""
        return self.parent is None and self.kind not in ("subagent", "hidden")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of `messages`. `content` and `sight` are JSON text; None: too long to be read."""

    place: int
    id: str | None
    role: str | None
    content: bytes | None
    created: Any
    sight: bytes | None


def told(session: Session, rows: Iterable[Row], version: str | None) -> Transcript:
    """The conversation in `rows`, which are in the client's order."""
    tally = Tally()
    found = tell(NAME, records(rows, tally), tally)
    return Transcript(
        client=NAME,
        ref=session.id,
        drafts=found.drafts,
        cwd=session.cwd,
        open_turns=found.open_turns,
        open_events=found.open_events,
        open_calls=found.open_calls,
        repaired=found.repaired,
        skipped=files.skipped(tally),
        delivered=found.delivered,
        version=version,
    )


def records(rows: Iterable[Row], tally: Tally) -> Iterator[Record]:
    at, unseen = 0, False
    for row in rows:
        at = instant(row.created, at)
        id = row.id or f"row-{row.place}"
        content = files.document(row.content) if row.content is not None else None
        if not isinstance(content, list):
            tally.unreadable["message that is no list of JSON"] += 1
            continue
        sight = mapping(files.document(row.sight or b"{}"))
        model, person = sight.get("agentVisible"), sight.get("userVisible")
        for says in _says(row.role, sequence(content), person is False, unseen, tally):
            yield Record(id, at, says)
        # Behind rows that the model sees no more, the first that it alone sees is the summary.
        unseen = model is False


def first_words(row: Row) -> str | None:
    """A title: what a message says first."""
    items = sequence(files.document(row.content)) if row.content is not None else []
    return files.title(_content(items, Tally()))


def _says(
    role: str | None, items: Sequence[Any], hidden: bool, unseen: bool, tally: Tally
) -> Iterator[Saying]:
    for one in map(mapping, items):
        call = word(one.get("id"))
        if one.get("type") == "toolResponse" and call is not None:
            yield _result(call, mapping(one.get("toolResult")))
    content = _content(items, tally)
    if hidden and unseen and content:
        yield Compacted(content)
    elif hidden and content:
        yield Shown(content, "for the model alone")
    elif role == "assistant":
        yield Answer(content)
    elif role == "user":
        if content:
            yield Said(content)
    else:
        tally.unknown[str(role)[:40]] += 1


def _content(items: Sequence[Any], tally: Tally) -> Content:
    found: list[Block] = []
    calls: set[str] = set()
    for item in map(mapping, items):
        block = _block(item, tally)
        if isinstance(block, ToolUse):
            if block.id in calls:
                continue
            calls.add(block.id)
        if block is not None:
            found.append(block)
    return tuple(found)


def _block(item: dict[str, Any], tally: Tally) -> Block | None:
    match item.get("type"):
        case "text":
            words = word(item.get("text"))
            return Text(words) if words is not None else None
        case "thinking":
            thought = word(item.get("thinking"))
            return Thinking(thought, NAME, compact(item)) if thought is not None else None
        case "image":
            data = word(item.get("data"))
            return media(data, word(item.get("mimeType"))) if data is not None else None
        case "toolRequest" | "frontendToolRequest":
            value = mapping(mapping(item.get("toolCall")).get("value"))
            id, name = word(item.get("id")), word(value.get("name"))
            if id is None or name is None:
                return None
            return ToolUse(id, name, compact(value.get("arguments") or {}))
        case "toolResponse":
            return None
        case str() as kind if kind in _ASIDE:
            tally.ignored[kind] += 1
            return None
        case str():
            return Verbatim(NAME, compact(item))
        case _:
            return None


def _result(call: str, result: dict[str, Any]) -> Result:
    """What the model was told: a tool's content, or why there is none."""
    value = result.get("value")
    given = mapping(value).get("content") if isinstance(value, dict) else value
    found: list[Block] = []
    for one in map(mapping, sequence(given)):
        words, data = word(one.get("text")), word(one.get("data"))
        if words is not None:
            found.append(Text(words))
        elif data is not None:
            found.append(media(data, word(one.get("mimeType"))))
        elif one:
            found.append(Verbatim(NAME, compact(one)))
    why = word(result.get("error"))
    if why is not None:
        found.append(Text(why))
    failed = result.get("status") == "error" or mapping(value).get("isError") is True
    return Result(call, tuple(found), failed)
