"""A whole session file of Copilot CLI (`events.jsonl`) → `Transcript`. Pure but for the reading of
its source. What it cut from the beginning of a long context is still shown here."""

from __future__ import annotations

from sidechat_mcp.clients import copilot_events, files
from sidechat_mcp.clients.copilot_events import Shelf
from sidechat_mcp.clients.dialogue import tell
from sidechat_mcp.clients.jsonl import Source, Tally
from sidechat_mcp.ports.client import Transcript

NAME = "copilot"


def read(source: Source, name: str, ref: str | None = None) -> Transcript:
    """The conversation in `source`. Raises: UnknownFormat."""
    shelf = Shelf(Tally())
    found = copilot_events.gather(source, shelf)
    copilot_events.refuse(shelf, "Copilot CLI")
    if shelf.editor is not None:
        raise files.alien("Copilot CLI", f"VS Code {shelf.editor} wrote it")
    told = tell(NAME, found, shelf.tally)
    return Transcript(
        client=NAME,
        ref=ref or shelf.ref or name,
        drafts=told.drafts,
        cwd=shelf.cwd,
        open_turns=told.open_turns,
        open_events=told.open_events,
        open_calls=told.open_calls,
        repaired=told.repaired,
        skipped=files.skipped(shelf.tally),
        delivered=told.delivered,
        version=shelf.version,
    )
