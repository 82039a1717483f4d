"""A conversation of VS Code's Copilot Chat → `Transcript`. Pure but for the reading of its source.

Three forms: a log of changes to a session (version 3), the session as one document, and the
events that are written for hooks, which come at once but hold no results."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from typing import Any

from sidechat_mcp.clients import copilot_events, files
from sidechat_mcp.clients.copilot_events import Shelf
from sidechat_mcp.clients.dialogue import Record, Said, tell
from sidechat_mcp.clients.jsonl import Shape, Tally, objects
from sidechat_mcp.clients.values import mapping, sequence, word
from sidechat_mcp.clients.vscode.requests import Around, Mutated, says
from sidechat_mcp.core.content import Text
from sidechat_mcp.ports.client import Transcript

NAME = "vscode"

_CHANGE = Shape(re.compile(r'\{\s*"kind"\s*:\s*[0-3]\s*[,}]'), frozenset({"kind"}))
_REQUEST = Shape(re.compile(r'\{\s*"requestId"\s*:'), frozenset({"requestId", "message"}))
_EVENT = re.compile(rb'\s*(?:\xef\xbb\xbf)?\{\s*"type"\s*:')
_LOGGED = re.compile(rb'\s*(?:\xef\xbb\xbf)?\{\s*"kind"\s*:\s*[0-3]\s*[,}]')


@dataclass(slots=True)
class Told:
    """What a file says, whatever its form."""

    tally: Tally = field(default_factory=Tally)
    records: list[Record] = field(default_factory=list[Record])
    ref: str | None = None
    version: str | None = None
    title: str | None = None


def read(text: bytes, name: str, ref: str | None = None, cwd: str | None = None) -> Transcript:
    """The conversation in `text`; `cwd` is its folder, where that is written beside it.

    Raises: UnknownFormat."""
    gathered = gather(text)
    told = tell(NAME, gathered.records, gathered.tally)
    return Transcript(
        client=NAME,
        ref=ref or gathered.ref or name,
        drafts=told.drafts,
        cwd=cwd,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=files.skipped(gathered.tally),
        delivered=told.delivered,
        version=gathered.version,
    )


def gather(text: bytes) -> Told:
    """Raises: UnknownFormat."""
    told = Told()
    if _EVENT.match(text):
        return _events(text, told)
    if _LOGGED.match(text):
        session = _mutated(text, told)
        listed = [
            mapping(one) for one in sequence(session.get("requests")) if isinstance(one, dict)
        ]
    else:
        session, listed = files.items(text, "requests", _REQUEST, told.tally)
    if not listed and "requests" not in session and (told.tally.lines or text.strip()):
        raise files.alien("VS Code's Copilot Chat", "it holds no session with `requests`")
    return _requests(session, listed, told)


def words(told: Told) -> str | None:
    """A title: what the person or the client called it, else the first words that were said."""
    if told.title is not None:
        return files.title((Text(told.title),))
    asked = (one.says.content for one in told.records if isinstance(one.says, Said))
    return next((found for one in asked if (found := files.title(one)) is not None), None)


def _mutated(text: bytes, told: Told) -> dict[str, Any]:
    session = Mutated()
    for line in objects(io.BytesIO(text), _CHANGE, told.tally):
        if not session.take(line):
            told.tally.unreadable["change that fits nowhere"] += 1
    return session.value


def _requests(session: dict[str, Any], listed: list[dict[str, Any]], told: Told) -> Told:
    around = Around()
    for request in listed:
        if word(request.get("requestId")) is None:
            told.tally.unreadable["request without id"] += 1
            continue
        told.records += says(request, around)
    version = session.get("version")
    told.ref, told.title = word(session.get("sessionId")), word(session.get("customTitle"))
    told.version = str(version) if isinstance(version, int) else None
    return told


def _events(text: bytes, told: Told) -> Told:
    shelf = Shelf(told.tally)
    told.records = copilot_events.gather(io.BytesIO(text), shelf)
    copilot_events.refuse(shelf, "VS Code's Copilot Chat")
    if shelf.ref is not None and shelf.editor is None:
        raise files.alien("VS Code's Copilot Chat", "Copilot CLI wrote it")
    told.ref, told.version = shelf.ref, shelf.version
    return told
