"""Entries → the one path of them that the conversation now stands on, as its owner walks it: up
from the last entry of the file. Rewinds leave branches behind, which are no part of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sidechat_mcp.clients.pi.says import Answer, Edited, Link, Record, Result, Said, Shown


@dataclass(frozen=True, slots=True)
class Path:
    """`records` from the oldest to the newest, later edits of their content applied. `gap` says
    that it begins below an entry that is not there; `aside` is how many lie elsewhere."""

    records: Sequence[Record]
    gap: bool
    aside: int


def path(records: Iterable[Record]) -> Path:
    """The path that ends the file. Of two entries with one id the later one counts."""
    known: dict[str, Record] = {}
    count, leaf = 0, None
    for record in records:
        known[record.id] = record
        count, leaf = count + 1, record.id
    upwards: list[Record] = []
    walked: set[str] = set()
    while leaf is not None and leaf in known and leaf not in walked:
        walked.add(leaf)
        upwards.append(known[leaf])
        leaf = known[leaf].parent
    edits = {
        record.says.target: (record.says, record.mark)
        for record in reversed(upwards)
        if isinstance(record.says, Edited)
    }
    found = [_edited(record, edits) for record in reversed(upwards)]
    return Path(found, leaf is not None, count - len(found))


def _edited(record: Record, edits: Mapping[str, tuple[Edited, bytes]]) -> Record:
    edit, mark = edits.get(record.id, (None, b""))
    says = record.says
    if edit is None or not isinstance(says, Said | Answer | Result | Shown):
        return record
    if edit.content is None:
        return replace(record, says=Link())
    return replace(record, says=replace(says, content=edit.content), mark=record.mark + mark)
