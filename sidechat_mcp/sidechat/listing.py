"""What sessions there are and what was said in them: lists, pages, titles. Writes nothing."""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from sidechat_mcp.core import excerpt, handback
from sidechat_mcp.core.content import plain
from sidechat_mcp.core.events import (
    AssistantMessage,
    ContextMessage,
    Event,
    Header,
    ToolResult,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.core.ids import ADDRESS, SessionId
from sidechat_mcp.core.session import fold
from sidechat_mcp.errors import (
    DamagedLog,
    InvalidRequest,
    NewerSchema,
    ParentNotFound,
    SessionNotFound,
    StoreError,
)
from sidechat_mcp.ports.store import Query, Row
from sidechat_mcp.sidechat.adopt import Adoption
from sidechat_mcp.sidechat.parts import Parts, name, parent_meant, uri
from sidechat_mcp.sidechat.reports import Caller, Listed, Listing, Reading, Said

MOST = 200
"""The largest page."""
IDLE = 30 * 24 * 3600 * 1_000_000
"""Microseconds after which an untouched session is left out of recent lists."""
KEPT_SUMMARIES = 4096
_BACK = 64
COMPLETED = 100
"""How many values complete an argument (what the protocol allows in one answer)."""
LOOKED_THROUGH = 10
"""Pages that are looked through for them."""
UNREADABLE = "(cannot be read)"
"""Stands for the title of a session whose words cannot be."""


Place = tuple[SessionId, int, Literal["whole", "seed"]]
"""A session's log up to a head; or the seed that its children have up to there."""


@dataclass(frozen=True, slots=True)
class Summary:
    title: str
    turns: int
    untitled: bool


@dataclass(slots=True)
class Lists:
    parts: Parts
    adoption: Adoption
    _summaries: OrderedDict[Place, Summary] = field(default_factory=OrderedDict[Place, Summary])
    _lines: OrderedDict[SessionId, tuple[tuple[int, int], Listed]] = field(
        default_factory=OrderedDict[SessionId, tuple[tuple[int, int], Listed]]
    )

    async def sessions(
        self, caller: Caller, parent: str | None, cursor: str | None, limit: int, recent_only: bool
    ) -> Listing:
        """Raises: InvalidRequest (cursor or limit), SessionNotFound or ParentNotFound (parent)."""
        if not 1 <= limit <= MOST:
            raise InvalidRequest(f"`limit` is {limit}; it must be from 1 to {MOST}.")
        before = _place(cursor) if cursor is not None else None
        rows: list[Row] = []
        for of in await self._parents(caller, parent):
            query = Query(
                origin="sidechat",
                owner=caller.principal,
                parent=of,
                before=before,
                since=self.parts.clock.now() * 1000 - IDLE if recent_only else None,
                limit=limit + 1,
            )
            rows.extend(await self.parts.store.rows(query))
        rows.sort(key=lambda row: -row.active)
        page = rows[:limit]
        parents = await self._above(page)
        listed = [await self._listed(row, parents) for row in page]
        return Listing(
            [one for one in listed if one is not None],
            _cursor(page[-1].active) if len(rows) > limit else None,
        )

    async def read(self, caller: Caller, session: str, start: int | None, limit: int) -> Reading:
        """Raises: SessionNotFound, InvalidRequest (limit)."""
        if not 1 <= limit <= MOST:
            raise InvalidRequest(f"`limit` is {limit}; it must be from 1 to {MOST}.")
        row = await self.parts.visible(caller, session)
        events = await self.parts.sessions.events(row)
        first = 1 if start is None else start
        last = first + limit - 1
        said = [one for number, one in _said(events) if first <= number <= last]
        more = any(
            isinstance(event.body, TurnStart) and (event.body.number or 0) > last
            for event in reversed(events)
        )
        return Reading(row.header.id, said, last + 1 if more else None)

    async def complete(self, caller: Caller, value: str) -> Sequence[str]:
        wanted = value.strip().casefold()
        if "://" in wanted and (wanted.startswith(ADDRESS) or ADDRESS.startswith(wanted)):
            # Who typed an address gets addresses: clients show what begins as it was typed.
            found = await self._matching(caller, wanted.removeprefix(ADDRESS[: len(wanted)]), "")
            return [uri(one) for one in found]
        return await self._matching(caller, wanted, wanted)

    async def _matching(self, caller: Caller, begins: str, titled: str) -> Sequence[SessionId]:
        """Sessions whose id begins so, then those whose title holds `titled` (if anything)."""
        by_id: list[SessionId] = []
        by_title: list[SessionId] = []
        cursor: str | None = None
        for _ in range(LOOKED_THROUGH):
            page = await self.sessions(caller, None, cursor, MOST, recent_only=False)
            by_id += [one.session for one in page.sessions if one.session.startswith(begins)]
            by_title += [
                one.session for one in page.sessions if titled and titled in one.title.casefold()
            ]
            cursor = page.next
            if cursor is None or len(by_id) + len(by_title) > 2 * COMPLETED:
                break
        return list(dict.fromkeys([*by_id, *by_title]))[: COMPLETED + 1]

    async def title(self, row: Row) -> str:
        return (await self._summary(row)).title

    async def _parents(self, caller: Caller, parent: str | None) -> Sequence[SessionId | None]:
        if parent is None:
            return [None]
        client, colon, ref = parent_meant(parent).partition(":")
        if not colon:
            return [(await self.parts.known(caller, client)).header.id]
        if client not in self.parts.clients and client != excerpt.CLIENT:
            known = ", ".join(sorted(self.parts.clients))
            raise ParentNotFound(f"No client is called {client[:40]!r}.", then=f"Known: {known}.")
        return [row.header.id for row in await self.adoption.line(caller, client, ref)]

    async def _above(self, page: Sequence[Row]) -> Mapping[SessionId, Row]:
        """The parents of a page, as far as they are there."""
        found: dict[SessionId, Row] = {}
        for one in dict.fromkeys(row.header.parent_session for row in page):
            if one is not None:
                with suppress(SessionNotFound):
                    found[one] = await self.parts.store.row(one, damaged=True)
        return found

    async def _listed(self, row: Row, parents: Mapping[SessionId, Row]) -> Listed | None:
        """Its line; None where it was forgotten since. What is wrong with one session is said in
        its own line and hides no other."""
        header = row.header
        parent = parents.get(header.parent_session or header.id)
        # What a line says changes with the session, and with its parent: a note lands there.
        moment = (row.active, parent.active if parent is not None else 0)
        kept = self._lines.get(header.id)
        if kept is not None and kept[0] == moment:
            return kept[1]
        wrong = row.damaged or _orphaned(header, parent)
        try:
            summary = await self._summary(row)
        except SessionNotFound:
            return None
        except (DamagedLog, NewerSchema, StoreError) as error:
            if error.retryable:
                raise  # It is not this session's own trouble.
            summary, wrong = Summary(UNREADABLE, 0, untitled=True), wrong or str(error)
        merged = await self.parts.store.onces(handback.prefix(header.id))
        line = Listed(
            session=header.id,
            uri=uri(header.id),
            title=summary.title,
            parent=header.parent_session or header.id,
            parent_name=name(parent.header if parent is not None else header),
            created=header.created_at or row.active // 1000,
            active=row.active // 1000,
            turns=summary.turns,
            merged=bool(merged),
            damaged=wrong,
        )
        if not wrong:
            self._lines[header.id] = moment, line
            if len(self._lines) > KEPT_SUMMARIES:
                self._lines.popitem(last=False)
        return line

    async def _summary(self, row: Row) -> Summary:
        return await self._once((row.header.id, row.head, "whole"), self._summarised, row)

    async def _summarised(self, row: Row) -> Summary:
        state = await self.parts.sessions.own(row)
        turns = len(state.own_turns)
        if turns:
            return Summary(state.title, turns, untitled=False)
        # Nothing said yet: the parent's last words before the fork are its title, whoever asks.
        header = row.header
        seed = (header.parent_session or header.id, header.seed_length, "seed")
        return await self._once(seed, self._inherited, row)

    async def _inherited(self, row: Row) -> Summary:
        start = max(0, row.header.seed_length - _BACK)
        before = await self.parts.sessions.tail(row, start)
        return Summary(fold(row.header, before, row.head).title, 0, untitled=True)

    async def _once(
        self,
        place: Place,
        make: Callable[[Row], Awaitable[Summary]],
        row: Row,
    ) -> Summary:
        """What was made of the log up to a place; a log never changes there."""
        kept = self._summaries.get(place)
        if kept is None:
            kept = self._summaries[place] = await make(row)
            if len(self._summaries) > KEPT_SUMMARIES:
                self._summaries.popitem(last=False)
        return kept


def _orphaned(header: Header, parent: Row | None) -> str:
    """What is wrong with the parent that a side session cannot be without."""
    if parent is None:
        missing = "the session it was forked from is missing"
        return str(DamagedLog(header.id, max(header.seed_length - 1, 0), missing))
    return parent.damaged


def _said(events: Sequence[Event]) -> Iterator[tuple[int, Said]]:
    """What was said, with the number of the turn it stands in (that of the turn before it for
    what has no number of its own)."""
    number, own = 0, None
    for event in events:
        match event.body:
            case TurnStart(of=of, number=count):
                own = count if of == "turn" else None
                number = count or number
            case UserMessage(content=content):
                yield number, Said(own, "user", plain(content))
            case AssistantMessage(content=content) if plain(content):
                yield number, Said(own, "assistant", plain(content))
            case ContextMessage(content=content) if plain(content):
                yield max(number, 1), Said(own, "context", plain(content))
            case ToolResult(content=content) if plain(content):
                yield number, Said(own, "tool", plain(content))
            case _:
                pass


def _cursor(active: int) -> str:
    return base64.urlsafe_b64encode(f"s1:{active}".encode()).decode()


def _place(cursor: str) -> int:
    try:
        version, _, place = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        if (
            version == "s1"
            and place.isascii()
            and place.isdigit()
            and int(place) < 1 << 63
            and _cursor(int(place)) == cursor
        ):
            return int(place)
    except (ValueError, binascii.Error):
        pass
    raise InvalidRequest("That cursor is not one of ours.", then="Start again without a cursor.")
