"""A log as people read it: Markdown and short plain lines. Nothing here reaches a model."""

from __future__ import annotations

from collections.abc import Sequence

from sidechat_mcp.core.events import Event, Header
from sidechat_mcp.core.session import Session, Turn


def turn(turn: Turn) -> str:
    """Markdown of one turn: heading with its number, what was said, the answer, how it ended."""
    raise NotImplementedError


def session(state: Session, events: Sequence[Event]) -> str:
    """Markdown of a side session: title, where it comes from, its own turns and its notes.
    Inherited turns are named by a count, never copied."""
    raise NotImplementedError


def log(events: Sequence[Event]) -> str:
    """NDJSON, a line an event, with its place."""
    raise NotImplementedError


def header(header: Header) -> str:
    """One line: what it is and where it was forked."""
    raise NotImplementedError
