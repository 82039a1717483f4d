"""What was written behind the last closed turn of a transcript that was read before.

Whatever reaches behind that turn (a rewind, a compaction, an answer told once more) is for a
whole reading; so the two never tell different stories."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from sidechat_mcp.clients.claude_code import records, tree, turns
from sidechat_mcp.clients.claude_code.drafting import Log
from sidechat_mcp.clients.claude_code.records import (
    Answer,
    Boundary,
    Link,
    Record,
    Results,
    Said,
)
from sidechat_mcp.clients.claude_code.tree import Line
from sidechat_mcp.clients.claude_code.turns import Told
from sidechat_mcp.clients.jsonl import Seen, Source, Tally, once_more
from sidechat_mcp.core.ids import EventId


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known behind `root`, the last record of a closed turn. `messages` are the ids of all
    answers before it, `uuids` all records, `dangling` the parents of some that were not there."""

    offset: int
    root: Record
    number: int
    model: str | None
    after: EventId
    taken: Set[str]
    messages: Set[str]
    uuids: Set[str]
    dangling: Set[str]
    ref: str
    cwd: str | None
    seen: Seen


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is still asked of a file's records when these are told and gone: of all of them uuid,
    parent and end, of those on its line uuid and end; and the last ones' session and version."""

    found: Sequence[tuple[str, str | None, int]]
    line: Sequence[tuple[str, int]]
    beside: Set[str]
    gaps: int
    aside: int
    session: str | None
    version: str | None

    @classmethod
    def of(cls, found: Sequence[Record], line: Line) -> Sketch:
        return cls(
            [(one.uuid, one.parent, one.end) for one in found],
            [(one.uuid, one.end) for one in line.records],
            line.beside,
            line.gaps,
            line.aside,
            line.records[-1].session if line.records else None,
            next((one.version for one in reversed(line.records) if one.version), None),
        )


@dataclass(frozen=True, slots=True)
class Read:
    """All that was found in a file, or in the part behind `before`."""

    sketch: Sketch
    told: Told
    shelf: records.Shelf
    before: Standing | None = None


def standing(read: Read, ref: str) -> Standing | None:
    """Where a file can be gone on with: nowhere, if records of its closed turns lie among those
    that follow, or if none of its turns is surely closed."""
    sketch, told, before, shelf = read.sketch, read.told, read.before, read.shelf
    closed = told.closed
    if closed is None:
        return before
    last, latest = closed.latest.end, closed.latest.uuid
    place = next((n for n, (uuid, _) in enumerate(sketch.line) if uuid == latest), None)
    if place is None or latest in sketch.beside:
        return None
    if any(end > last for _, end in sketch.line[:place]) or any(
        end <= last for _, end in sketch.line[place + 1 :]
    ):
        return None
    before_it = [(uuid, parent) for uuid, parent, end in sketch.found if end <= last]
    uuids = {uuid for uuid, _ in before_it}
    parents = {parent for _, parent in before_it if parent is not None}
    parents |= {parent for parent in shelf.progress.values() if parent is not None}
    messages = set(told.messages)
    if before is not None:
        uuids |= before.uuids
        parents |= before.dangling
        messages |= before.messages
    return Standing(
        offset=last,
        root=closed.latest,
        number=closed.number,
        model=closed.model,
        after=told.drafts[closed.drafts - 1].id,
        taken=told.taken,
        messages=messages,
        uuids=uuids,
        dangling=parents - uuids - shelf.progress.keys(),
        ref=ref,
        cwd=shelf.cwd,
        seen=shelf.tally.seen,
    )


def behind(source: Source, since: Standing) -> Read | None:
    """What stands in `source` from `since` on; None where that cannot be told from this part."""
    root = replace(since.root, parent=None, logical=None, meta=False, team=False, says=Link())
    shelf = records.Shelf(Tally(end=since.offset), cwd=since.cwd, at=root.at, order=root.order)
    each = partial(records.each, shelf=shelf)
    found = [*once_more(source, since.seen, shelf.tally, each)]
    if not all(_new(one, since) for one in found) or not _hang_together(root, found, shelf):
        return None
    line = tree.line([root, *found], shelf.progress)
    if not any(isinstance(one.says, Said | Results | Answer) for one in found):
        line = Line([root], frozenset(), 0, 0)
    elif not line.records or line.records[0] is not root or not any(map(_leads, found)):
        return None
    log = Log(taken=set(since.taken), model=since.model)
    follows = deque(line.records[1:])
    told = turns.tell(follows, line.beside, shelf.tally, log, since.number)
    return Read(Sketch.of(found, line), told, shelf, since)


def _hang_together(root: Record, found: Sequence[Record], shelf: records.Shelf) -> bool:
    """Whether nothing hangs on what lies before `root`."""
    here = {root.uuid, *(one.uuid for one in found), *shelf.progress}
    links = [*(one.parent for one in found), *shelf.progress.values()]
    return all(link in here for link in links)


def _new(record: Record, since: Standing) -> bool:
    """Whether `record`, and all that it refers to, can stand behind `since`."""
    if record.uuid in since.uuids or record.uuid in since.dangling:
        return False
    if record.session != since.root.session:
        return False  # The last record says whose all this is.
    match record.says:
        case Boundary() | Said(form="summary"):
            return False
        case Answer(message=message):
            return message not in since.messages
        case _:
            return record.logical is None


def _leads(record: Record) -> bool:
    """Whether it was surely said in the conversation, later than all that was before."""
    said = isinstance(record.says, Said | Results | Answer)
    return said and not record.meta and not record.team
