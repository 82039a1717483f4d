"""Records → the one line of them that the conversation now stands on.

A record hangs on its parent; edited prompts and rewinds leave branches behind. A link that
leads nowhere ends the line: islands are never stitched together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from sidechat_mcp.clients.claude_code.records import (
    Answer,
    Boundary,
    Link,
    Mark,
    Record,
    Results,
    Said,
    Shown,
)
from sidechat_mcp.core.content import ToolUse

Progress = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Line:
    """`records` from the oldest to the newest. `beside` are the uuids of those that hang beside
    the chain; `gaps` are links that lead nowhere, `aside` how many records lie elsewhere."""

    records: Sequence[Record]
    beside: Set[str]
    gaps: int
    aside: int


@dataclass(slots=True)
class _Tree:
    """Who hangs on whom, progress records left out (old versions put them into the chain)."""

    progress: Progress
    records: dict[str, Record] = field(default_factory=dict[str, Record])

    def above(self, uuid: str | None) -> Record | None:
        """The record that a parent link means, or None when there is none."""
        seen: set[str] = set()
        while uuid is not None and uuid not in self.records:
            if uuid in seen or uuid not in self.progress:
                return None
            seen.add(uuid)
            uuid = self.progress[uuid]
        return self.records[uuid] if uuid is not None else None

    def parent(self, record: Record) -> Record | None:
        return self.above(record.parent)


def line(records: Iterable[Record], progress: Progress) -> Line:
    """The line that ends the file."""
    tree = _Tree(progress)
    repeated = 0
    for record in records:
        # A resumed conversation may write what it took over again: the first one counts.
        if tree.records.setdefault(record.uuid, record) is not record:
            repeated += 1
    leaf = _leaf(tree)
    if leaf is None:
        return Line((), frozenset(), 0, len(tree.records) + repeated)
    chain, gaps = _chain(tree, leaf)
    whole = _with_siblings(tree, chain)
    beside = {one.uuid for one in whole} - {one.uuid for one in chain}
    return Line(whole, beside, gaps, len(tree.records) + repeated - len(whole))


def _leaf(tree: _Tree) -> Record | None:
    """The newest tip of what people, models and tools said. A record that the client added of
    its own is no tip unless there is nothing else."""
    said = [one for one in tree.records.values() if isinstance(one.says, Said | Results | Answer)]
    for ok in (
        [one for one in said if not one.meta and not one.team],
        [one for one in said if not one.meta],
        said,
    ):
        inner = _inner(tree, {one.uuid for one in ok})
        tips = [one for one in ok if one.uuid not in inner]
        if tips or ok:
            return max(tips or ok, key=lambda one: one.order)
    return None


def _inner(tree: _Tree, solid: set[str]) -> set[str]:
    """Those of `solid` that another one of them hangs on, whatever lies between the two."""
    inner: set[str] = set()
    walked: set[str] = set()
    for uuid in solid:
        above = tree.parent(tree.records[uuid])
        while above is not None and above.uuid not in walked:
            if above.uuid in solid:
                inner.add(above.uuid)
                break
            walked.add(above.uuid)
            above = tree.parent(above)
    return inner


def _chain(tree: _Tree, leaf: Record) -> tuple[list[Record], int]:
    upwards: list[Record] = []
    seen: set[str] = set()
    gaps = 0
    now: Record | None = leaf
    while now is not None and now.uuid not in seen:
        seen.add(now.uuid)
        upwards.append(now)
        link = now.parent
        if link is None and isinstance(now.says, Boundary):
            link = now.logical  # What was before a compaction is for display.
        above = tree.above(link)
        gaps += above is None and link is not None
        now = above
    return upwards[::-1] + _behind(tree, leaf, seen), gaps


def _behind(tree: _Tree, leaf: Record, seen: set[str]) -> list[Record]:
    """What the client noted after the leaf, for instance that the turn is over."""
    children: dict[str, Record] = {}
    for record in tree.records.values():
        quiet = record.meta or not isinstance(record.says, Said | Results | Answer)
        above = tree.parent(record) if quiet and record.uuid not in seen else None
        if above is not None:
            known = children.get(above.uuid)
            if known is None or record.order > known.order:
                children[above.uuid] = record
    found: list[Record] = []
    now = children.get(leaf.uuid)
    while now is not None and now.uuid not in seen:
        seen.add(now.uuid)
        found.append(now)
        now = children.get(now.uuid)
    return found


def _with_siblings(tree: _Tree, chain: list[Record]) -> Sequence[Record]:
    """`chain` and what belongs to its answers but hangs beside it: calls made in parallel are
    siblings, and each result hangs on its own call. The client's word that a turn is over
    belongs to the line wherever it hangs."""
    keys: dict[str, int] = {}
    top = 0
    for record in chain:
        top = max(top, record.order)
        keys[record.uuid] = top
    messages = {one.says.message for one in chain if isinstance(one.says, Answer)}
    calls = {call for one in chain for call in _calls(one)}
    answered = {call for one in chain for call in _answers(one)}
    beside: list[Record] = []
    hooks: set[str] = set()
    for record in tree.records.values():
        above = tree.parent(record)
        if record.uuid in keys or above is None or above.uuid not in keys:
            continue
        match record.says:
            case Answer(message=message) if message in messages and _joins(above, message):
                calls |= set(_calls(record))
            case Results() if _calls(above) and not answered.issuperset(_answers(record)):
                if not calls.issuperset(_answers(record)):
                    continue
                answered |= set(_answers(record))
                hooks.add(record.uuid)
            case Mark() | Link():
                pass
            case Shown() if above.uuid in hooks:
                hooks.add(record.uuid)
            case _:
                continue
        beside.append(record)
        keys[record.uuid] = max(record.order, keys[above.uuid])
    return sorted([*chain, *beside], key=lambda one: keys[one.uuid])


def _joins(above: Record, message: str) -> bool:
    return isinstance(above.says, Answer) and above.says.message == message


def _calls(record: Record) -> list[str]:
    if not isinstance(record.says, Answer):
        return []
    return [block.id for block in record.says.content if isinstance(block, ToolUse)]


def _answers(record: Record) -> list[str]:
    if not isinstance(record.says, Results):
        return []
    return [outcome.call for outcome in record.says.outcomes]
