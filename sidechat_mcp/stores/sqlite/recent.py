"""Logs read lately, decoded, so that a conversation's prefix is not decoded for each request.
Events never change, so nothing here can be out of date; what is bounded is its size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sidechat_mcp.core.events import Event
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.stores.sqlite.reads import Piece, Stretch


@dataclass(slots=True)
class _Log:
    """A session's own events from its first place on, without a gap."""

    row: int
    events: list[Event] = field(default_factory=list[Event])
    size: int = 0


class Recent:
    """Holds up to `limit` bytes of stored bodies; the least lately used log goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._logs: OrderedDict[SessionId, _Log] = OrderedDict()

    def look(self, piece: Piece) -> tuple[Sequence[Event], Piece | None]:
        """What is here of `piece`, from its start on, and what has to be read behind that."""
        log = self._logs.get(piece.session)
        if log is None or log.row != piece.row:
            return (), piece
        self._logs.move_to_end(piece.session)
        here = log.events[piece.start - piece.first : piece.stop - piece.first]
        start = piece.start + len(here)
        return here, None if start == piece.stop else replace(piece, start=start)

    def keep(self, piece: Piece, read: Stretch) -> None:
        """Take what was read for `piece`, if it joins on to what is here."""
        log = self._logs.get(piece.session)
        if log is None or log.row != piece.row:
            self.drop(piece.session)
            log = _Log(piece.row)
        if piece.first + len(log.events) != piece.start or log.size + read.size > self._limit:
            return
        log.events.extend(read.events)
        log.size += read.size
        self._size += read.size
        self._logs[piece.session] = log
        while self._size > self._limit:
            self.drop(next(iter(self._logs)))

    def drop(self, session: SessionId) -> None:
        log = self._logs.pop(session, None)
        if log is not None:
            self._size -= log.size
