"""A whole conversation: its rows → `Transcript`. Pure but for the reading of its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.opencode.database import Session
from sidechat_mcp.clients.opencode.drafting import NAME
from sidechat_mcp.clients.opencode.records import Row, parsed, read
from sidechat_mcp.clients.opencode.turns import Teller
from sidechat_mcp.clients.values import word
from sidechat_mcp.errors import ParentNotFound, UnknownFormat
from sidechat_mcp.ports.client import Skipped, Transcript

RECOGNISED = 0.1
"""The part of the messages that must be understood: below it the format has changed."""


def told(session: Session, rows: Iterable[Row]) -> Transcript:
    """The conversation that `rows` hold.

    Raises: UnknownFormat; ParentNotFound for the session of a task's agent."""
    if session.parent is not None:
        raise ParentNotFound(
            f"{session.id} is the session of a task's agent, which is no conversation of its own.",
            then=f"Fork the conversation that started it: {NAME}:{session.parent}.",
        )
    tally = Tally()
    teller = Teller(tally)
    cwd = session.directory
    for row in standing(session, rows, tally):
        record = read(row, tally)
        if record is not None:
            cwd = cwd or record.cwd
            teller.take(record)
    _refuse(session, tally)
    found = teller.end()
    for kind, times in tally.unknown.items():
        tally.ignored[f"unknown {kind}"] = times
    return Transcript(
        client=NAME,
        ref=session.id,
        drafts=found.drafts,
        cwd=cwd,
        open_turns=found.open_turns,
        open_events=found.open_events,
        open_calls=found.open_calls,
        repaired=found.repaired,
        skipped=Skipped(dict(tally.unreadable), dict(tally.ignored)),
        delivered=found.delivered,
        version=session.version,
    )


def standing(session: Session, rows: Iterable[Row], tally: Tally) -> Iterator[Row]:
    """The rows that were not taken back: a person's undo hides what follows until their next
    prompt removes it."""
    message, part = undone(session)
    back = False
    for row in rows:
        if back or (row.id == message and part is None):
            back = True
            tally.ignored["taken back by the person"] += 1
        elif row.id == message:
            ids = [id for id, _ in row.parts]
            kept = row.parts[: ids.index(part)] if part in ids else row.parts
            back = True
            yield replace(row, parts=kept)
        else:
            yield row


def undone(session: Session | None) -> tuple[str | None, str | None]:
    """The message, and where it stays in part the part, from which on a person took back what
    was said."""
    if session is None or session.revert is None:
        return None, None
    said = parsed(session.revert.encode("utf-8", "surrogatepass"), "undo", Tally()) or {}
    return word(said.get("messageID")), word(said.get("partID"))


def _refuse(session: Session, tally: Tally) -> None:
    if not tally.lines or tally.understood >= RECOGNISED * tally.lines:
        return
    kinds = ", ".join(kind for kind, _ in tally.unknown.most_common(5))
    raise UnknownFormat(
        f"{session.id} is no opencode conversation that this version can read: of {tally.lines}"
        f" messages {tally.understood} were understood"
        + (f", unknown {kinds}" if kinds else "")
        + (f", written by opencode {session.version}" if session.version else "")
        + ".",
        then="Upgrade sidechat-mcp, or name another conversation.",
    )
