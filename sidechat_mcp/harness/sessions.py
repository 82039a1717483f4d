"""Reading logs: whole, folded, assembled. Ancestors never change, so what was read stays read.

The cache is bounded and holds only what the store would give again; with `size` 0 there is none."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sidechat_mcp.core.assemble import Context, assemble
from sidechat_mcp.core.balance import Cut, cut
from sidechat_mcp.core.content import Content, Media, Text, Thinking, ToolUse
from sidechat_mcp.core.events import Body, Draft, Event, Header, Unknown
from sidechat_mcp.core.ids import EventId, SessionId
from sidechat_mcp.core.session import Session, fold
from sidechat_mcp.errors import NewerSchema
from sidechat_mcp.ports.clock import Clock
from sidechat_mcp.ports.store import LogStore, Row

TAIL = 16
"""How many events are read first when only the end of a log matters: a turn or two."""
OVERHEAD = 600
"""About how many bytes an event takes in memory besides its text (measured: 500-700)."""


@dataclass(slots=True)
class _Kept:
    """Events of one lineage from place `first` on, without a gap."""

    first: int
    events: list[Event]
    size: int = 0

    @property
    def stop(self) -> int:
        return self.first + len(self.events)

    def between(self, start: int, stop: int) -> list[Event]:
        return self.events[start - self.first : stop - self.first]


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
        """The whole lineage `[0, row.head)`. Raises: SessionNotFound, DamagedLog, NewerSchema."""
        return await self.tail(row, 0)

    async def state(self, row: Row) -> Session:
        return fold(row.header, await self.events(row))

    async def own(self, row: Row) -> Session:
        """The state of the session's own events alone, without reading its ancestors'."""
        return fold(row.header, await self.tail(row, row.header.seed_length), row.head)

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
        """Events `[start, head)`; what was read before is not read again."""
        header = row.header
        kept = self._kept.get(header.id)
        if kept is None:
            kept = _Kept(start, list(self._shared(header, start, header.seed_length)))
        elif start > kept.stop:
            return await self._read(header.id, start, row.head)
        # Another task may read on while we wait; whoever comes first adds, the other looks again.
        grown = 0
        while start < (low := kept.first):
            earlier = self._shared(header, start, low)
            read = () if earlier else await self._read(header.id, start, low)
            if kept.first == low:
                kept.first, kept.events[:0] = start, earlier or read
                grown += sum(map(_size, read))
        while (have := kept.stop) < row.head:
            read = await self._read(header.id, have, row.head)
            if kept.stop == have:
                kept.events.extend(read)
                grown += sum(map(_size, read))
        self._keep(header.id, kept, grown)
        return kept.between(start, row.head)

    async def passing(self, row: Row, start: int, stop: int) -> Sequence[Event]:
        """Events `[start, stop)` for somebody who looks at them once: they are not kept."""
        kept = self._kept.get(row.header.id)
        if kept is not None and kept.first <= start and stop <= kept.stop:
            return kept.between(start, stop)
        return await self._read(row.header.id, start, stop)

    async def _read(self, session: SessionId, start: int, stop: int) -> Sequence[Event]:
        events = await self.store.read(session, start, stop)
        for event in events:
            if isinstance(event.body, Unknown) and not event.body.ignorable:
                raise NewerSchema(
                    f"Session {event.session!r} has an event of kind {event.body.name!r} that only"
                    " a newer version can read.",
                    then="Restart the client with the newer version.",
                )
        return events

    def forgotten(self, session: SessionId) -> None:
        """Drop what is kept of a session that is gone."""
        kept = self._kept.pop(session, None)
        if kept is not None:
            self._used -= kept.size

    def _shared(self, header: Header, start: int, stop: int) -> Sequence[Event]:
        """Inherited events `[start, stop)` as they are kept of the parent; none unless all are."""
        parent = self._kept.get(header.parent_session) if header.parent_session else None
        if parent is None or not parent.first <= start < stop <= header.seed_length:
            return ()
        return parent.between(start, stop) if stop <= parent.stop else ()

    def _keep(self, session: SessionId, kept: _Kept, grown: int) -> None:
        # A child shares its ancestors' event objects; only what it added is counted.
        before = self._kept.pop(session, None)
        self._used -= before.size if before is not None else 0
        kept.size += grown
        self._used += kept.size
        self._kept[session] = kept
        while self._used > self.size and self._kept:
            _, dropped = self._kept.popitem(last=False)
            self._used -= dropped.size


def place(session: SessionId, head: int, drafts: Sequence[Draft]) -> list[Event]:
    """`drafts` as the events they become when they are appended at `head`."""
    return [Event(session, head + n, d.id, d.at, d.body) for n, d in enumerate(drafts)]


def drafts(clock: Clock, bodies: Iterable[Body]) -> list[Draft]:
    """Bodies with a new id each and the present time: one random word, and a number behind it."""
    now, word = clock.now(), clock.word()
    return [Draft(EventId(f"{word}{n}"), now, body) for n, body in enumerate(bodies)]


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
