"""A whole session file: bytes → `Transcript`. Pure but for the reading of its source."""

from __future__ import annotations

from sidechat_mcp.clients.jsonl import Source, Tally, objects
from sidechat_mcp.clients.pi import records, tree, turns
from sidechat_mcp.clients.pi.drafting import NAME
from sidechat_mcp.clients.pi.says import Record
from sidechat_mcp.errors import UnknownFormat
from sidechat_mcp.ports.client import Skipped, Transcript

RECOGNISED = 0.1
"""The part of a file's lines that must be understood: below it this is another format."""


def read(source: Source, name: str, ref: str | None = None) -> Transcript:
    """The conversation in `source`. `name` is its file's, without the ending; `ref` the client's
    id of it, where the caller knows it (else it is taken from the header, or from `name`).

    Raises: UnknownFormat."""
    tally = Tally()
    shelf = records.Shelf(tally)
    found = _records(source, shelf)
    _refuse(shelf)
    path = tree.path(found)
    del found
    told = turns.tell(path.records, tally)
    if path.gap:
        tally.unreadable["parent entry missing"] = 1
    if path.aside:
        tally.ignored["on another branch"] = path.aside
    for kind, times in tally.unknown.items():
        tally.ignored[f"unknown entry {kind!r}"] = times
    return Transcript(
        client=NAME,
        ref=ref or shelf.ref or name.rpartition("_")[2],
        drafts=told.drafts,
        cwd=shelf.cwd,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=Skipped(dict(tally.unreadable), dict(tally.ignored)),
        delivered=told.delivered,
        version=str(shelf.version) if shelf.version is not None else None,
    )


def _records(source: Source, shelf: records.Shelf) -> list[Record]:
    found: list[Record] = []
    for one in objects(source, records.SHAPE, shelf.tally):
        try:
            record = records.read(one, shelf)
        except RecursionError:
            shelf.tally.unreadable["nested too deeply"] += 1
        else:
            if record is not None:
                found.append(record)
    return found


def _refuse(shelf: records.Shelf) -> None:
    tally = shelf.tally
    if not tally.lines or tally.understood >= RECOGNISED * tally.lines:
        return
    kinds = ", ".join(repr(kind) for kind, _ in tally.unknown.most_common(5))
    raise UnknownFormat(
        f"This file is no pi session that this version can read: of {tally.lines} lines"
        f" {tally.understood} were understood"
        + (f", unknown entries {kinds}" if kinds else "")
        + (f", written in format {shelf.version}" if shelf.version is not None else "")
        + ".",
        then="Upgrade sidechat-mcp, or name another conversation.",
    )
