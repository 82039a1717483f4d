"""A whole session file of Gemini CLI → `Transcript`. Pure but for the reading of its source.

Seen with 0.61.0. An answer's calls are written down once they were carried out: one that says
something first looks whole until then, and its turn changes when they come."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from sidechat_mcp.clients import files
from sidechat_mcp.clients.dialogue import (
    Answer,
    Cancelled,
    Record,
    Result,
    Said,
    Saying,
    Shown,
    tell,
)
from sidechat_mcp.clients.gemini.messages import Message, Session
from sidechat_mcp.clients.jsonl import Shape, Source, Tally, objects
from sidechat_mcp.core.content import plain
from sidechat_mcp.errors import ParentNotFound
from sidechat_mcp.ports.client import Transcript

NAME = "gemini"
RECOGNISED = 0.1
"""The part of a file's lines that must be understood: below it this is another format."""

_LINE = Shape(re.compile(r'\{\s*"(?:id|sessionId|\$set|\$rewindTo)"\s*:'), frozenset())
_ITEM = Shape(re.compile(r'\{\s*"id"\s*:'), frozenset({"id", "type"}))
_SUBAGENT = "subagent"
_CANCELLED = "Request cancelled"


def read(source: Source, name: str, ref: str | None = None, cwd: str | None = None) -> Transcript:
    """The conversation in `source`; `cwd` is its folder, where that is written beside it.

    Raises: UnknownFormat, ParentNotFound (a subagent's)."""
    session = sorted_out(source)
    tally = session.tally
    if tally.understood < max(1, RECOGNISED * tally.lines) and tally.lines:
        raise files.alien("Gemini CLI", "its lines are no messages of a session")
    if session.kind == _SUBAGENT:
        raise ParentNotFound(
            f"{name} is what a subagent of Gemini CLI did, no conversation of a person.",
            then="Name the conversation that started it.",
        )
    told = tell(NAME, _records(session), tally)
    return Transcript(
        client=NAME,
        ref=ref or session.ref or name,
        drafts=told.drafts,
        cwd=cwd,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=files.skipped(tally),
        delivered=told.delivered,
    )


def sorted_out(source: Source) -> Session:
    """The messages that stand at the end of `source`: of lines, or of one document."""
    session = Session(Tally())
    first = source.readline(files.LARGEST)
    if isinstance(files.document(first), dict) or not first.lstrip().startswith(b"{"):
        for line in objects(_Behind(first, source), _LINE, session.tally):
            session.take(line)
        return session
    text = first + b"".join(iter(lambda: source.readline(files.LARGEST), b""))
    about, listed = files.items(text, "messages", _ITEM, session.tally)
    if about:
        session.take({**about, "messages": None})
    session.replace(listed)
    session.tally.lines = max(1, len(listed))
    return session


class _Behind:
    """A source after its first line was looked at: that line comes again."""

    def __init__(self, first: bytes, rest: Source) -> None:
        self._first = io.BytesIO(first)
        self._rest = rest

    def readline(self, size: int, /) -> bytes:
        return self._first.readline(size) or self._rest.readline(size)


def _records(session: Session) -> Iterator[Record]:
    for id, message in session.messages.items():
        for says in _says(message, session.tally):
            yield Record(id, message.at, says)


def _says(message: Message, tally: Tally) -> Iterator[Saying]:
    results = [Result(one.call, one.content, one.is_error) for one in message.outcomes]
    match message.kind:
        case "user":
            yield from results
            words = plain(message.content).lstrip()
            if words.startswith("<session_context>"):
                yield Shown(message.content, "session_context")
            elif message.content:
                yield Said(message.content, joins=bool(results))
        case "gemini":
            yield Answer(message.content, message.model, message.tokens)
            yield from results
        case kind:
            tally.ignored[f"{kind} for the person"] += 1
            if plain(message.content).startswith(_CANCELLED):
                yield Cancelled()


def is_conversation(session: Session) -> bool:
    """Whether a person and a model talk there."""
    said = any(message.kind in ("user", "gemini") for message in session.messages.values())
    return said and session.kind != _SUBAGENT


def words(session: Session) -> str | None:
    """A title: the first words that the person said."""
    for message in session.messages.values():
        shown = plain(message.content).lstrip() if message.kind == "user" else ""
        if shown and not shown.startswith("<session_context>"):
            return files.title(message.content)
    return None
