"""What was written behind the last closed turn of a transcript that was read before.

Whatever reaches behind that turn (a rewind, a compaction, an answer told once more) is for a
whole reading; so the two never tell different stories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

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
from sidechat_mcp.clients.jsonl import Source, Tally, Upto
from sidechat_mcp.core.ids import EventId


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known behind `root`, the last record of a closed turn. `messages` are the ids of all
    answers before it, `uuids` all records, `dangling` the parents of some that were not there;
    `unreadable` is what could not be read up to the byte `seen`."""

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
    unreadable: Mapping[str, int]
    seen: int


@dataclass(frozen=True, slots=True)
class Read:
    """All that was found in a file, or in the part behind `before`."""

    found: Sequence[Record]
    line: Line
    told: Told
    shelf: records.Shelf
    before: Standing | None = None


def standing(read: Read, ref: str) -> Standing | None:
    """Where a file can be gone on with: nowhere, if records of its closed turns lie among those
    that follow, or if none of its turns is surely closed."""
    line, told, before, shelf = read.line, read.told, read.before, read.shelf
    closed = told.closed
    if closed is None:
        return before
    place = next((n for n, one in enumerate(line.records) if one is closed.latest), None)
    if place is None or closed.latest.uuid in line.beside:
        return None
    last = closed.latest.end
    if any(one.end > last for one in line.records[:place]) or any(
        one.end <= last for one in line.records[place + 1 :]
    ):
        return None
    uuids = {one.uuid for one in read.found if one.end <= last}
    parents = {one.parent for one in read.found if one.end <= last and one.parent is not None}
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
        unreadable=dict(shelf.tally.unreadable),
        seen=shelf.tally.end,
    )


def behind(source: Source, since: Standing) -> Read | None:
    """What stands in `source` from `since` on; None where that cannot be told from this part."""
    root = replace(since.root, parent=None, logical=None, meta=False, team=False, says=Link())
    shelf = records.Shelf(Tally(end=since.offset), cwd=since.cwd, at=root.at, order=root.order)
    found = [*records.each(Upto(source, since.seen - since.offset), shelf)]
    shelf.tally.unreadable = Counter(since.unreadable)
    found += records.each(source, shelf)
    if not all(_new(one, since) for one in found) or not _hang_together(root, found, shelf):
        return None
    line = tree.line([root, *found], shelf.progress)
    if not any(isinstance(one.says, Said | Results | Answer) for one in found):
        line = Line([root], frozenset(), 0, 0)
    elif not line.records or line.records[0] is not root or not any(map(_leads, found)):
        return None
    log = Log(taken=set(since.taken), model=since.model)
    follows = Line(line.records[1:], line.beside, 0, 0)
    told = turns.tell(follows, shelf.tally, log, since.number)
    return Read(found, line, told, shelf, since)


def _hang_together(root: Record, found: Sequence[Record], shelf: records.Shelf) -> bool:
    """Whether nothing hangs on what lies before `root`."""
    here = {root.uuid, *(one.uuid for one in found), *shelf.progress}
    links = [*(one.parent for one in found), *shelf.progress.values()]
    return all(link in here for link in links)


def _new(record: Record, since: Standing) -> bool:
    """Whether `record`, and all that it refers to, can stand behind `since`."""
    if record.uuid in since.uuids or record.uuid in since.dangling:
        return False
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
