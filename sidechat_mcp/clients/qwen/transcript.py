"""A whole session file of Qwen Code → `Transcript`. Pure but for the reading of its source.

The conversation is the path from the last record up: what was rewound is on another branch."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from sidechat_mcp.clients import files
from sidechat_mcp.clients.dialogue import Record, tell
from sidechat_mcp.clients.jsonl import Source, Tally, objects
from sidechat_mcp.clients.qwen import records
from sidechat_mcp.clients.qwen.records import Node, Shelf
from sidechat_mcp.ports.client import Transcript

NAME = "qwen"
RECOGNISED = 0.1
"""The part of a file's lines that must be understood: below it this is another format."""


def read(source: Source, name: str, ref: str | None = None) -> Transcript:
    """The conversation in `source`. Raises: UnknownFormat."""
    shelf = Shelf(Tally())
    tally = shelf.tally
    nodes = gather(source, shelf)
    if tally.understood < max(1, RECOGNISED * tally.lines) and tally.lines:
        raise files.alien("Qwen Code", "its lines are no records of a session")
    told = tell(NAME, path(nodes, tally), tally)
    return Transcript(
        client=NAME,
        ref=ref or shelf.ref or name,
        drafts=told.drafts,
        cwd=shelf.cwd,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=files.skipped(tally),
        delivered=told.delivered,
        version=shelf.version,
    )


def gather(source: Source, shelf: Shelf) -> list[Node]:
    found: list[Node] = []
    for one in objects(source, records.SHAPE, shelf.tally):
        node = records.read(one, shelf)
        if node is not None:
            found.append(node)
    return found


def path(nodes: Sequence[Node], tally: Tally) -> Sequence[Record]:
    """What stands on the way from the first record to the last. A link that leads nowhere ends
    it there and is counted; nothing is put together by guess."""
    places: dict[str, list[int]] = {}
    for place, node in enumerate(nodes):
        places.setdefault(node.uuid, []).append(place)
    walked: list[Node] = []
    place = len(nodes) - 1
    while place >= 0:
        node = nodes[place]
        walked.append(node)
        if node.parent is None:
            break
        above = places.get(node.parent, [])
        nearest = bisect_left(above, place) - 1
        place = above[nearest] if nearest >= 0 else -1
        if place < 0:
            tally.unreadable["parent record missing"] += 1
    aside = sum(bool(node.says) for node in nodes) - sum(bool(node.says) for node in walked)
    if aside:
        tally.ignored["on another branch"] += aside
    return [record for node in reversed(walked) for record in node.says]
