"""Reports → the JSON of CONTRACT's table, for `--json`. The same shapes as the tools answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sidechat_mcp.sidechat.reports import (
    Answer,
    ForkReport,
    Listing,
    Note,
    Reading,
    Replayed,
    UsageReport,
)


def fork(report: ForkReport) -> dict[str, Any]:
    agent = report.agent
    return {
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
        "agent": {
            "name": agent.name,
            "model": agent.model,
            "pays": agent.pays,
            "rights": agent.rights,
        },
        "head": report.head,
        "head_digest": report.head_digest,
        "prefix_digest": report.prefix_digest,
        "first": None if report.first is None else answer(report.first),
    }


def answer(report: Answer) -> dict[str, Any]:
    return {
        "session": report.session,
        "turn": report.turn,
        "answer": report.answer,
        "reason": report.reason,
        "status": report.status,
        "usage": None if report.usage is None else _usage(report.usage),
        "cache": report.cache,
    }


def _usage(usage: UsageReport) -> dict[str, Any]:
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
    }


def note(report: Note) -> dict[str, Any]:
    return {
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


def listing(report: Listing) -> dict[str, Any]:
    return {
        "sessions": [
            {
                "session": row.session,
                "uri": row.uri,
                "title": row.title,
                "parent": row.parent,
                "created": instant(row.created),
                "active": instant(row.active),
                "turns": row.turns,
                "merged": row.merged,
            }
            for row in report.sessions
        ],
        "next": report.next,
    }


def instant(milliseconds: int) -> str:
    """As the tools spell a time: UTC, to the millisecond."""
    when = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def reading(report: Reading) -> dict[str, Any]:
    return {
        "session": report.session,
        "turns": [
            {"turn": said.turn, "role": said.role, "text": said.text} for said in report.turns
        ],
        "next": report.next,
    }


def replayed(reports: list[Replayed], verdict: str) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "sessions": [
            {
                "session": report.session,
                "requests": report.requests,
                "verdict": report.verdict,
                "why": report.why,
                "seq": report.seq,
            }
            for report in reports
        ],
    }
