"""A whole session file: bytes → `Transcript`. Pure but for the reading of its source."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from sidechat_mcp.clients.jsonl import Seen, Source, Tally, once_more
from sidechat_mcp.clients.pi import records, tree, turns
from sidechat_mcp.clients.pi.drafting import NAME
from sidechat_mcp.clients.pi.records import Shelf
from sidechat_mcp.clients.pi.says import Compacted, Edited, Link, Record
from sidechat_mcp.clients.pi.tree import Path
from sidechat_mcp.clients.pi.turns import Pause, Told
from sidechat_mcp.errors import UnknownFormat
from sidechat_mcp.ports.client import Skipped, Transcript

RECOGNISED = 0.1
"""The part of a file's lines that must be understood: below it this is another format."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a session can be gone on with: at `pause`. `ids` are those of all entries before."""

    pause: Pause
    ids: Set[str]
    ref: str
    shelf: Shelf
    seen: Seen

    @property
    def offset(self) -> int:
        return self.pause.root.end


def read(source: Source, name: str, ref: str | None = None) -> Transcript:
    """The conversation in `source`. `name` is its file's, without the ending; `ref` the client's
    id of it, where the caller knows it (else it is taken from the header, or from `name`).

    Raises: UnknownFormat."""
    return whole(source, name, ref)[0]


def whole(source: Source, name: str, ref: str | None) -> tuple[Transcript, Standing | None]:
    """As `read`, and where the file can be gone on with when it has grown."""
    shelf = Shelf(Tally())
    found = [*records.each(source, shelf)]
    _refuse(shelf)
    path = tree.path(found)
    told = turns.tell(path.records, shelf.tally)
    ref = ref or shelf.ref or name.rpartition("_")[2]
    return _transcript(path, told, shelf, ref), _standing(
        found, path, told, shelf, ref, frozenset()
    )


def since(source: Source, before: Standing) -> tuple[Transcript, Standing] | None:
    """What `source` holds from `before` on; None where all of it must be read."""
    pause = before.pause
    shelf = replace(before.shelf, tally=Tally(end=before.offset), count=pause.root.count)
    shelf.last, shelf.at = pause.root.id, pause.root.at
    each = partial(records.each, shelf=shelf)
    found = [*once_more(source, before.seen, shelf.tally, each)]
    if shelf.ref != before.shelf.ref:
        return None  # A header that comes late says whose all this is, and how it is read.
    here = {one.id for one in found}
    root = replace(pause.root, parent=None, says=Link())
    path = tree.path([root, *found])
    if path.records[0] is not root or path.gap or not all(_new(one, here, before) for one in found):
        return None
    told = turns.tell([*path.records], shelf.tally, pause)
    read = replace(_transcript(path, told, shelf, before.ref), after=pause.after)
    return read, _standing(found, path, told, shelf, before.ref, before.ids) or before


def _new(record: Record, here: Set[str], before: Standing) -> bool:
    """Whether `record`, and all that it refers to, stands behind `before`."""
    if record.id in before.ids:
        return False
    match record.says:
        case Compacted():
            return False
        case Edited(target=target):
            return target in here
        case _:
            return True


def _standing(
    found: Sequence[Record], path: Path, told: Told, shelf: Shelf, ref: str, ids: Set[str]
) -> Standing | None:
    """None where no turn is surely closed, where entries of the closed turns lie among those that
    follow, and where the path's beginning is missing."""
    pause = told.pause
    if pause is None or path.gap:
        return None
    end, place = pause.root.end, pause.place
    mixed = any(one.end > end for one in path.records[:place]) or any(
        one.end <= end for one in path.records[place:]
    )
    if mixed:
        return None
    ids = ids | {one.id for one in found if one.end <= end}
    return Standing(pause, ids, ref, shelf, shelf.tally.seen)


def _transcript(path: Path, told: Told, shelf: Shelf, ref: str) -> Transcript:
    tally = shelf.tally
    if path.gap:
        tally.unreadable["parent entry missing"] = 1
    if path.aside:
        tally.ignored["on another branch"] = path.aside
    for kind, times in tally.unknown.items():
        tally.ignored[f"unknown entry {kind!r}"] = times
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
        version=str(shelf.version) if shelf.version is not None else None,
    )


def _refuse(shelf: Shelf) -> None:
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
