"""Reports → the data of CONTRACT's table: the tools' structured content and `--json`. One place,
so that both say the same. Pure: the same report gives the same data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sidechat_mcp.sidechat.reports import (
    Answer,
    ForkReport,
    Listed,
    Listing,
    Note,
    Reading,
    Replayed,
    SpentReport,
)

Shape = dict[str, Any]


def forked(report: ForkReport, *, aside: str = "") -> Shape:
    """`notice` only where there is one; `aside` as in `answered`, for the first answer."""
    shape: Shape = {
        "session": report.session,
        "uri": report.uri,
        "parent": report.parent,
        "fork_seq": report.fork_seq,
        "seed_length": report.seed_length,
        "turns": report.turns,
        "tokens": {"estimate": report.tokens, "method": report.tokens_method},
        "cut": {"turns": report.cut_turns, "events": report.cut_events},
        "repaired": {"calls": report.repaired},
        "compacted": None if report.compacted is None else {"turns": report.compacted},
        "agent": asdict(report.agent),
        "head": report.head,
        "head_digest": report.head_digest,
        "prefix_digest": report.prefix_digest,
        "first": None if report.first is None else answered(report.first, aside=aside),
    }
    return _noticed(shape, report.notice, unread(report.skipped))


def answered(report: Answer, *, aside: str = "") -> Shape:
    """`aside` is what a surface has to say about every exchange; it ends the `notice`."""
    shape: Shape = {
        "session": report.session,
        "turn": report.turn,
        "answer": report.answer,
        "reason": report.reason,
        "status": report.status,
        "usage": None if report.usage is None else asdict(report.usage),
        "cache": report.cache,
    }
    return _noticed(shape, report.advice, aside)


def merged(report: Note) -> Shape:
    """`wrapped` only where something was merged: a draft is shown to no model. `notice` only
    where there is one."""
    shape: Shape = {
        "note": report.note,
        "session": report.session,
        "parent": report.parent,
        "text": report.text,
        "chars": report.chars,
        "cap": report.cap,
        "seq": report.seq,
        "revision": report.revision,
        "delivery": report.delivery,
    }
    shape = _noticed(shape, report.notice)
    return shape if report.seq is None else {**shape, "wrapped": report.wrapped}


def listed(report: Listing) -> Shape:
    return {"sessions": [_row(one) for one in report.sessions], "next": report.next}


def _row(one: Listed) -> Shape:
    """`damaged` only where something is."""
    shape: Shape = {
        "session": one.session,
        "uri": one.uri,
        "title": one.title,
        "parent": one.parent,
        "created": instant(one.created),
        "active": instant(one.active),
        "turns": one.turns,
        "merged": one.merged,
    }
    return {**shape, "damaged": one.damaged} if one.damaged else shape


def read(report: Reading) -> Shape:
    turns = [{"turn": said.turn, "role": said.role, "text": said.text} for said in report.turns]
    return {"session": report.session, "turns": turns, "next": report.next}


def shown(report: Reading, spent: SpentReport | None) -> Shape:
    """A whole session with what its own requests came to, where it is a side session."""
    return read(report) if spent is None else {**read(report), **asdict(spent)}


def forgotten(session: str) -> Shape:
    return {"session": session, "forgotten": True}


def replayed(reports: Sequence[Replayed], verdict: str) -> Shape:
    return {"verdict": verdict, "sessions": [asdict(report) for report in reports]}


def unread(skipped: Mapping[str, int]) -> str:
    """What a reader of a transcript left out, as a sentence; nothing where that is nothing."""
    if not skipped:
        return ""
    return "Not read: " + ", ".join(f"{n} × {why}" for why, n in sorted(skipped.items())) + "."


def instant(milliseconds: int) -> str:
    """A time as the protocol spells it: UTC, to the millisecond."""
    when = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _noticed(shape: Shape, *said: str) -> Shape:
    notice = " ".join(filter(None, said))
    return {**shape, "notice": notice} if notice else shape
