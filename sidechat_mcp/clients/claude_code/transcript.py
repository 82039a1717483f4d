"""A whole transcript: bytes → `Transcript`. Pure but for the reading of its source."""

from __future__ import annotations

from collections import deque

from sidechat_mcp.clients.claude_code import going_on, records, tree, turns
from sidechat_mcp.clients.claude_code.drafting import NAME
from sidechat_mcp.clients.claude_code.going_on import Read, Sketch, Standing
from sidechat_mcp.clients.jsonl import Source, Tally
from sidechat_mcp.errors import ParentNotFound, UnknownFormat
from sidechat_mcp.ports.client import Skipped, Transcript

RECOGNISED = 0.1
"""The part of a file's lines that must be understood: below it the format has changed."""


def read(source: Source, name: str, ref: str | None = None) -> Transcript:
    """The conversation in `source`. `name` is its file's, without the ending; `ref` the client's
    id of it, where the caller knows it (else it is taken from the records, or is `name`).

    Raises: UnknownFormat; ParentNotFound for the transcript of a subagent."""
    return whole(source, name, ref)[0]


def whole(source: Source, name: str, ref: str | None) -> tuple[Transcript, Standing | None]:
    """As `read`, and where the file can be gone on with when it has grown."""
    shelf = records.Shelf(Tally())
    found = [*records.each(source, shelf)]
    _refuse(shelf, found, name)
    line = tree.line(found, shelf.progress)
    sketch, ahead = Sketch.of(found, line), deque(line.records)
    del found, line
    told = turns.tell(ahead, sketch.beside, shelf.tally)
    return _both(Read(sketch, told, shelf), ref, name)


def since(
    source: Source, before: Standing, ref: str | None
) -> tuple[Transcript, Standing | None] | None:
    """What `source` holds from `before` on; None where all of it must be read."""
    found = going_on.behind(source, before)
    return _both(found, ref, before.ref) if found is not None else None


def _both(read: Read, ref: str | None, name: str) -> tuple[Transcript, Standing | None]:
    ref = ref or read.sketch.session or name
    return _transcript(read, ref), going_on.standing(read, ref)


def _transcript(read: Read, ref: str) -> Transcript:
    sketch, told, shelf = read.sketch, read.told, read.shelf
    tally = shelf.tally
    if sketch.gaps:
        tally.unreadable["parent record missing"] = sketch.gaps
    if sketch.aside:
        tally.ignored["on another branch"] = sketch.aside
    for kind, times in tally.unknown.items():
        tally.ignored[f"unknown record {kind!r}"] = times
    return Transcript(
        client=NAME,
        ref=ref,
        drafts=told.drafts,
        cwd=shelf.cwd,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=Skipped(dict(tally.unreadable), dict(tally.ignored)),
        delivered=told.delivered,
        version=sketch.version,
        after=read.before.after if read.before is not None else None,
    )


def _refuse(shelf: records.Shelf, found: list[records.Record], name: str) -> None:
    tally = shelf.tally
    if shelf.subagents and not found:
        who = f"agent-{shelf.agent}" if shelf.agent else name
        then = f"claude-code:{shelf.session}." if shelf.session else "it is named in its records."
        raise ParentNotFound(
            f"This file is the transcript of a subagent ({who}), which is no conversation of its"
            " own.",
            then=f"Fork the conversation that started it: {then}",
        )
    if tally.lines and tally.understood < RECOGNISED * tally.lines:
        kinds = ", ".join(repr(kind) for kind, _ in tally.unknown.most_common(5))
        versions = ", ".join(version for version, _ in shelf.versions.most_common(3))
        raise UnknownFormat(
            f"This file is no Claude Code transcript that this version can read: of {tally.lines}"
            f" lines {tally.understood} were understood"
            + (f", unknown records {kinds}" if kinds else "")
            + (f", written by Claude Code {versions}" if versions else "")
            + ".",
            then="Upgrade sidechat-mcp, or name another conversation.",
        )
