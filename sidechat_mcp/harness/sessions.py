"""Reading logs: whole, folded, assembled. Ancestors never change, so what was read stays read.

The cache is bounded and holds only what the store would give again; with `size` 0 there is none."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sidechat_mcp.core.assemble import Context, assemble
from sidechat_mcp.core.balance import Cut, cut
from sidechat_mcp.core.content import Content, Media, Text, Thinking, ToolUse
from sidechat_mcp.core.events import Body, Draft, Event, Header
from sidechat_mcp.core.ids import EventId, SessionId
from sidechat_mcp.core.session import Session, fold
from sidechat_mcp.ports.clock import Clock
from sidechat_mcp.ports.store import LogStore, Row

TAIL = 64
"""How many events are read first when only the end of a log matters."""
OVERHEAD = 600
"""About how many bytes an event takes in memory besides its text (measured: 500-700)."""


@dataclass(slots=True)
class _Kept:
    events: list[Event]
    size: int = 0


@dataclass(slots=True)
class Sessions:
    """Logs by id. `size` bounds the cache in bytes of decoded events."""

    store: LogStore
    size: int = 64 * 1024 * 1024
    _kept: OrderedDict[SessionId, _Kept] = field(default_factory=OrderedDict[SessionId, _Kept])
    _used: int = 0

    async def row(self, session: SessionId) -> Row:
        """Raises: SessionNotFound."""
        return await self.store.row(session)

    async def events(self, row: Row) -> Sequence[Event]:
        """The whole lineage `[0, row.head)`. Raises: SessionNotFound, DamagedLog."""
        session = row.header.id
        kept = self._kept.get(session) or _Kept(list(self._inherited(row.header)))
        have = len(kept.events)
        if have < row.head:
            fresh = await self.store.read(session, have, row.head)
            # Another task may have read on while we waited; what it added is the same.
            if len(kept.events) == have:
                kept.events.extend(fresh)
                self._keep(session, kept, sum(map(_size, fresh)))
        elif session in self._kept:
            self._kept.move_to_end(session)
        return kept.events[: row.head]

    async def state(self, row: Row) -> Session:
        return fold(row.header, await self.events(row))

    async def own(self, row: Row) -> Session:
        """The state of the session's own events alone, without reading its ancestors'."""
        events = await self.store.read(row.header.id, row.header.seed_length, row.head)
        return fold(row.header, events, row.head)

    async def context(self, row: Row) -> Context:
        """What the session's model would be sent now."""
        events = await self.events(row)
        return assemble(events, seed_length=row.header.seed_length, session=row.header.id)

    async def cut(self, row: Row) -> Cut:
        """The balanced completed-turn prefix; reads only as far back as it must."""
        want = TAIL
        while True:
            start = max(0, row.head - want)
            found = cut(await self.tail(row, start))
            if found is not None:
                return found
            if start == 0:
                return Cut(0, 0, row.head, 0)
            want *= 4

    async def tail(self, row: Row, start: int) -> Sequence[Event]:
        """Events `[start, head)`, from the cache where it has them."""
        kept = self._kept.get(row.header.id)
        if kept is not None and len(kept.events) >= row.head:
            return kept.events[start : row.head]
        return await self.store.read(row.header.id, start, row.head)

    def forgotten(self, session: SessionId) -> None:
        """Drop what is kept of a session that is gone."""
        kept = self._kept.pop(session, None)
        if kept is not None:
            self._used -= kept.size

    def _inherited(self, header: Header) -> Sequence[Event]:
        parent = self._kept.get(header.parent_session) if header.parent_session else None
        if parent is None or len(parent.events) < header.seed_length:
            return ()
        return parent.events[: header.seed_length]

    def _keep(self, session: SessionId, kept: _Kept, grown: int) -> None:
        # A child shares its ancestors' event objects; only what it added is counted.
        kept.size += grown
        self._used += grown if session in self._kept else kept.size
        self._kept[session] = kept
        self._kept.move_to_end(session)
        while self._used > self.size and self._kept:
            _, dropped = self._kept.popitem(last=False)
            self._used -= dropped.size


def place(session: SessionId, head: int, drafts: Sequence[Draft]) -> list[Event]:
    """`drafts` as the events they become when they are appended at `head`."""
    return [Event(session, head + n, d.id, d.at, d.body) for n, d in enumerate(drafts)]


def drafts(clock: Clock, bodies: Iterable[Body]) -> list[Draft]:
    """Bodies with a new id each and the present time."""
    now = clock.now()
    return [Draft(EventId(clock.word()), now, body) for body in bodies]


def _size(event: Event) -> int:
    content: Content = getattr(event.body, "content", ())
    return OVERHEAD + sum(map(_block_size, content))


def _block_size(block: object) -> int:
    match block:
        case Text(text=text):
            return len(text)
        case Thinking(text=text, verbatim=verbatim):
            return len(text) + len(verbatim or "")
        case ToolUse(input=given):
            return len(given)
        case Media(data=held):
            return len(held or "")
        case _:
            return OVERHEAD
