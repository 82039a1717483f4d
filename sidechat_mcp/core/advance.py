"""How far a session went on since a place in it: what a note's reader may find outdated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.core.events import AssistantMessage, Event, TurnStart

MOST_FILES = 20
_CHANGES = re.compile(r"edit|write|create|patch|delete|move|rename|replace", re.IGNORECASE)
_OURS = re.compile(r"sidechat.*(fork|converse|merge|sessions|forget|read_session|pending_notes)$")
_PATHS = ("file_path", "path", "notebook_path", "filename")


@dataclass(frozen=True, slots=True)
class Advance:
    """`turns` counts numbered turns that did more than call us; `files` (at most 20, in order
    of first mention) are the paths that changing tools were called with."""

    turns: int
    files: Sequence[str]


def advance(events: Sequence[Event], since: int) -> Advance:
    """What `events` add from seq `since` on."""
    turns: dict[str, list[ToolUse]] = {}
    for event in events:
        if event.seq < since:
            continue
        match event.body:
            case TurnStart(turn=turn, of="turn"):
                turns[turn] = []
            case AssistantMessage(turn=turn, content=content) if turn in turns:
                turns[turn].extend(block for block in content if isinstance(block, ToolUse))
            case _:
                pass
    counted = [calls for calls in turns.values() if not calls or not all(map(_ours, calls))]
    files = dict.fromkeys(path for calls in turns.values() for use in calls for path in _paths(use))
    return Advance(len(counted), tuple(files)[:MOST_FILES])


def _ours(use: ToolUse) -> bool:
    return _OURS.search(use.name) is not None


def _paths(use: ToolUse) -> Iterator[str]:
    if _CHANGES.search(use.name) is None:
        return
    try:
        given = json.loads(use.input)
    except (ValueError, RecursionError):
        return
    if isinstance(given, dict):
        for key in _PATHS:
            path = given.get(key)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            if isinstance(path, str):
                yield path
