"""An agent's transcript of Cursor (a role and a message a line) → `Transcript`.

Lines have no ids and no times (their place is their name), calls no ids, and results are not
written at all: each call gets the synthetic one that says so. Cursor's databases are not read."""

from __future__ import annotations

import re

from sidechat_mcp.clients import blocks, files
from sidechat_mcp.clients.dialogue import Answer, Record, Result, Said, tell
from sidechat_mcp.clients.jsonl import Shape, Source, Tally, objects
from sidechat_mcp.clients.values import mapping
from sidechat_mcp.ports.client import Transcript

NAME = "cursor"
RECOGNISED = 0.1
"""The part of a file's lines that must be understood: below it this is another format."""

SHAPE = Shape(re.compile(r'\{\s*"role"\s*:'), frozenset({"role", "message"}))


def read(source: Source, name: str, ref: str | None = None) -> Transcript:
    """The conversation in `source`. Raises: UnknownFormat."""
    tally = Tally()
    found = records(source, tally)
    if tally.understood < max(1, RECOGNISED * tally.lines) and tally.lines:
        raise files.alien("Cursor", "its lines are no messages of a role")
    told = tell(NAME, found, tally)
    return Transcript(
        client=NAME,
        ref=ref or name,
        drafts=told.drafts,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=files.skipped(tally),
        delivered=told.delivered,
    )


def records(source: Source, tally: Tally) -> list[Record]:
    """What the lines say; their places count all objects, so that a name stays what it was."""
    found: list[Record] = []
    for place, line in enumerate(objects(source, SHAPE, tally), 1):
        given, id = mapping(line.get("message")).get("content"), f"line-{place}"
        match line.get("role"):
            case "user":
                found += (
                    Record(id, 0, Result(one.call, one.content, one.is_error))
                    for one in blocks.outcomes(given, NAME)
                )
                said = blocks.content(given, NAME)
                if said:
                    found.append(Record(id, 0, Said(said)))
            case "assistant":
                found.append(Record(id, 0, Answer(blocks.content(given, NAME, id))))
            case role:
                tally.unknown[str(role)[:40]] += 1
                continue
        tally.understood += isinstance(line.get("message"), dict)
    return found
