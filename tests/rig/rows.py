"""How a journey tells what was seen: a line a row, `ok|FAILED | client | door | bar | seen`.

`BARS` are what has to be shown of every client that answers for its own conversations; `table.py`
holds all journeys to them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

BARS: Mapping[str, str] = {
    "calls": "the conversation has tool calls of its own",
    "fork": "forked from inside it",
    "meanwhile": "two side turns while the parent is in another turn",
    "head": "the child's request heads are the parent's",
    "inherited": "the inherited messages are the parent's bytes",
    "merged": "the next prompt's request holds the note once, at its place",
    "restarted": "and so after a restart of the client",
    "files": "no file of the client's was changed by us",
    "denied": "no call of the child's was carried out",
    "attack": "the obeying attacker wrote nothing, all rules open",
    "killed server": "our server killed: no orphan, whole log, the note once",
    "killed fork": "the fork killed: no orphan, whole log, the note once",
    "killed client": "the client killed: no orphan, whole log, the note once",
}
CLIENTS = ("claude-code", "codex", "opencode", "pi")

Row = tuple[str, str, bool]
"""The bar that it shows (or none), what was seen, and whether that is as it must be."""


def tell(client: str, door: str, rows: Iterable[Row]) -> int:
    """Print the rows; 1 when one of them failed."""
    failed = 0
    for bar, seen, held in rows:
        failed |= not held
        word = "ok    " if held else "FAILED"
        sys.stdout.write(f"{word} | {client} | {door} | {bar or '-'} | {seen}\n")
    return failed


def beside(rows: Mapping[str, bool]) -> list[Row]:
    """Rows that show no bar of the whole table."""
    return [("", seen, held) for seen, held in rows.items()]
