"""One entry of a session file → what it says. Pure; unknown kinds are counted, not guessed.

The format is documented by its owner (session-format.md of 1.6) and has had three versions: the
first has no ids, so that an entry hangs on the one before it; the second called `custom` messages
`hookMessage`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from sidechat_mcp.clients.jsonl import Shape, Source, Tally, readable
from sidechat_mcp.clients.pi.blocks import content
from sidechat_mcp.clients.pi.says import (
    Answer,
    Compacted,
    Declared,
    Edited,
    Link,
    Record,
    Result,
    Said,
    Saying,
    Shown,
    Tokens,
)
from sidechat_mcp.clients.values import amount, instant, mapping, sequence, word
from sidechat_mcp.core.content import Text

SHAPE = Shape(re.compile(r'\{\s*"type"\s*:'), frozenset({"type", "timestamp"}))
_KINDS = 20
_SUMMED_UP = (
    "The conversation history before this point was compacted into the following summary:"
    "\n\n<summary>\n{}\n</summary>"
)
_CAME_BACK = (
    "The following is a summary of a branch that this conversation came back from:"
    "\n\n<summary>\n{}</summary>"
)


@dataclass(slots=True)
class Shelf:
    """What reading a file gathers beside its records. `version` is the format's; without a header
    it is told by the first entry."""

    tally: Tally
    ref: str | None = None
    cwd: str | None = None
    name: str | None = None
    version: int | None = None
    count: int = 0
    last: str | None = None
    at: int = 0


def each(source: Source, shelf: Shelf) -> Iterator[Record]:
    """The entries in `source`, in their order."""
    return readable(source, SHAPE, shelf.tally, partial(read, shelf=shelf))


def read(found: dict[str, Any], shelf: Shelf) -> Record | None:
    """The entry that an object of the file is, or None for anything else (then counted)."""
    shelf.count += 1
    kind = found.get("type")
    if kind == "session":
        _header(found, shelf)
        return None
    if not isinstance(kind, str) or kind not in _SAYINGS:
        _count(kind, shelf)
        return None
    if shelf.version is None:
        shelf.version = 3 if word(found.get("id")) else 1
    name, parent = word(found.get("id")), word(found.get("parentId"))
    if shelf.version < 2:
        name, parent = f"line-{shelf.count}", shelf.last
    if name is None:
        shelf.tally.unreadable["entry without id"] += 1
        return None
    shelf.last = name
    shelf.at = instant(found.get("timestamp"), shelf.at)
    if kind == "session_info":
        shelf.name = word(found.get("name"))
    says = _SAYINGS[kind](found)
    if says is None:
        shelf.tally.unreadable[f"{kind} without content"] += 1
    else:
        shelf.tally.understood += 1
    mark = hashlib.sha256(shelf.tally.line).digest()
    return Record(name, parent, shelf.at, says or Link(), mark, shelf.count, shelf.tally.end)


def _header(found: dict[str, Any], shelf: Shelf) -> None:
    shelf.tally.understood += 1
    if shelf.ref is not None:
        shelf.tally.ignored["another header"] += 1
        return
    shelf.ref, shelf.cwd = word(found.get("id")), word(found.get("cwd"))
    shelf.version = amount(found.get("version")) or 1
    shelf.at = instant(found.get("timestamp"), shelf.at)


def _count(kind: Any, shelf: Shelf) -> None:
    unknown = shelf.tally.unknown
    name = kind[:40] if isinstance(kind, str) else "no type"
    unknown[name if name in unknown or len(unknown) < _KINDS else "others"] += 1


def _message(found: dict[str, Any]) -> Saying | None:
    message = mapping(found.get("message"))
    role = message.get("role")
    if not isinstance(role, str):
        return None
    if role in _ROLES:
        return _ROLES[role](message)
    return Link()  # A role that an extension made up is shown to no model.


def _user(message: dict[str, Any]) -> Saying:
    return Said(content(message.get("content")))


def _assistant(message: dict[str, Any]) -> Saying:
    return Answer(
        content(message.get("content")),
        word(message.get("model")),
        word(message.get("stopReason")),
        tokens(message.get("usage")),
        word(message.get("responseId")),
        word(message.get("errorMessage")),
    )


def _result(message: dict[str, Any]) -> Saying | None:
    call = word(message.get("toolCallId"))
    if call is None:
        return None
    return Result(call, content(message.get("content")), message.get("isError") is True)


def _bash(message: dict[str, Any]) -> Saying | None:
    command, output = message.get("command"), message.get("output")
    if message.get("excludeFromContext") or not isinstance(command, str):
        return Link() if isinstance(command, str) else None
    said = f"Ran `{command}`\n"
    said += f"```\n{output}\n```" if isinstance(output, str) and output else "(no output)"
    code = message.get("exitCode")
    if message.get("cancelled"):
        said += "\n\n(command cancelled)"
    elif isinstance(code, int) and code:
        said += f"\n\nCommand exited with code {code}"
    if message.get("truncated") and isinstance(message.get("fullOutputPath"), str):
        said += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return Shown((Text(said),), "bashExecution")


def _custom(message: dict[str, Any]) -> Saying:
    what = word(message.get("customType")) or "custom"
    return Shown(content(message.get("content")), what[:60])


def _system(message: dict[str, Any]) -> Declared:
    named = [(word(tool.get("name")), tool) for tool in _each(message, "toolsAdded")]
    gone = (word(tool.get("name")) for tool in _each(message, "toolsRemoved"))
    given = mapping(message.get("sections"))
    text = content(message.get("content"))
    return Declared(
        "\n".join(block.text for block in text if isinstance(block, Text)),
        {name: part for name, part in given.items() if part is None or isinstance(part, str)},
        {name: tool for name, tool in named if name is not None},
        [name for name in gone if name is not None],
    )


def _each(message: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [mapping(one) for one in sequence(message.get(name))]


def _compaction(found: dict[str, Any]) -> Saying | None:
    summary = found.get("summary")
    if not isinstance(summary, str):
        return None
    kept = word(found.get("firstKeptEntryId"))
    place = amount(found.get("firstKeptEntryIndex"))
    if kept is None and place is not None:
        kept = f"line-{place + 1}"
    head = mapping(found.get("systemMessage"))
    return Compacted((Text(_SUMMED_UP.format(summary)),), kept, _system(head) if head else None)


def _branch(found: dict[str, Any]) -> Saying:
    summary = word(found.get("summary"))
    if summary is None:
        return Link()
    return Shown((Text(_CAME_BACK.format(summary)),), "branch_summary")


def _edit(found: dict[str, Any]) -> Saying | None:
    target = word(found.get("targetId"))
    if target is None or "replacement" not in found:
        return None
    replacement = found["replacement"]
    if replacement is None:
        return Edited(target, None)
    return Edited(target, content(mapping(replacement).get("content")))


def _link(_: dict[str, Any]) -> Saying:
    return Link()


def tokens(value: Any) -> Tokens | None:
    """What a `usage` of pi's reports. pi writes 0 where a provider said nothing, so a cache count
    says something only when one of the two is more."""
    usage = mapping(value)
    fresh, output = amount(usage.get("input")), amount(usage.get("output"))
    read, write = amount(usage.get("cacheRead")) or 0, amount(usage.get("cacheWrite")) or 0
    if not any((fresh, output, read, write)):
        return None
    whole = fresh + read + write if fresh is not None else None
    cached = bool(read or write)
    return Tokens(whole, output, read if cached else None, write if cached else None)


_ROLES = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _result,
    "bashExecution": _bash,
    "custom": _custom,
    "hookMessage": _custom,
    "system": _system,
}
_SAYINGS = {
    "message": _message,
    "compaction": _compaction,
    "branch_summary": _branch,
    "context_edit": _edit,
    "custom_message": _custom,
    "model_change": _link,
    "thinking_level_change": _link,
    "custom": _link,
    "usage": _link,
    "label": _link,
    "session_info": _link,
}
