"""Which session owns which places of a lineage. Ancestors never change, so spans never do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sidechat_mcp.core.events import Header
from sidechat_mcp.core.ids import SessionId


@dataclass(frozen=True, slots=True)
class Span:
    """Events `[start, stop)` that `session` owns."""

    session: SessionId
    start: int
    stop: int


def spans(header: Header, head: int, look_up: Callable[[SessionId], Header]) -> Sequence[Span]:
    """The spans of a log, oldest first, without empty ones; together they cover `[0, head)`."""
    found: list[Span] = []
    stop = head
    while True:
        start = header.seed_length if header.parent_session is not None else 0
        if stop > start:
            found.append(Span(header.id, start, stop))
            stop = start
        if header.parent_session is None:
            return found[::-1]
        header = look_up(header.parent_session)


def clip(all_spans: Sequence[Span], start: int, stop: int) -> Sequence[Span]:
    """The parts of `all_spans` that lie in `[start, stop)`."""
    cut = (Span(s.session, max(s.start, start), min(s.stop, stop)) for s in all_spans)
    return [span for span in cut if span.stop > span.start]
