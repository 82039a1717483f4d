"""The feature as one object: what a surface may ask for, in the surface's words.

Every method takes the `Caller` first and lets only errors of `sidechat_mcp.errors` escape.
`session` None means "the one this caller means" (CONTRACT, who is calling)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sidechat_mcp.core import digest, render, schemas, spending
from sidechat_mcp.core.events import Event, Header, Part, RequestHeader
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.core.session import Session
from sidechat_mcp.errors import (
    DamagedLog,
    HasChildren,
    InvalidRequest,
    OutsideError,
    SessionNotFound,
)
from sidechat_mcp.harness.agents import Meta
from sidechat_mcp.harness.loop import Emit
from sidechat_mcp.ports.client import Found
from sidechat_mcp.ports.store import Query, Row
from sidechat_mcp.sidechat.adopt import Adoption, line_of, waiting
from sidechat_mcp.sidechat.agency import QUOTING
from sidechat_mcp.sidechat.checkup import Checkup
from sidechat_mcp.sidechat.converse import Converse, used
from sidechat_mcp.sidechat.deliver import Delivery
from sidechat_mcp.sidechat.fork import Fork
from sidechat_mcp.sidechat.listing import Lists
from sidechat_mcp.sidechat.merge import Merge
from sidechat_mcp.sidechat.parts import Parts, parent_meant
from sidechat_mcp.sidechat.reports import (
    Answer,
    Caller,
    ForkReport,
    Listing,
    Note,
    Reading,
    Replayed,
    SpentReport,
)

_ALL = 1_000_000
RESULT = "result"
"""The door that a merge asked for in a client's own chat is: its answer is shown to the model."""
KEPT_PAGES = 64
LARGEST_PAGE = 128 * 1024
"""Characters of a page that is still kept."""


class Sidechat:
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._adoption = Adoption(parts)
        self._fork = Fork(parts, self._adoption)
        self._converse = Converse(parts, self._adoption)
        self._delivery = Delivery(parts, self._adoption)
        self._merge = Merge(parts, self._adoption, self._delivery)
        self._lists = Lists(parts, self._adoption)
        self._checkup = Checkup(parts.store, parts.agents.provider)
        self._pages: OrderedDict[tuple[SessionId, int], str] = OrderedDict()

    async def fork(
        self,
        caller: Caller,
        *,
        parent: str | None = None,
        question: str | None = None,
        key: str | None = None,
        file: Path | None = None,
        reuse_untouched: bool = False,
        compact: bool = False,
        emit: Emit | None = None,
    ) -> ForkReport:
        """Fork `parent` (one of our ids, `CLIENT:ID`, or the caller's live conversation) at its
        last completed turn. With `question` the child's first turn follows at once. With
        `reuse_untouched` (prompts) the same caller, parent, place and question get the same
        child until it has a turn of its own. With `compact` the child's context begins with a
        summary of the history instead of the history.

        Raises: ParentNotFound, SessionNotFound, NothingToFork, UnknownFormat, KeyReused."""
        question = question if question and question.strip() else None
        parent = parent_meant(parent) if parent is not None else None
        report, child = await self._fork(
            caller, parent, file, question, key, reuse_untouched, compact
        )
        first = None
        if question is not None and not reuse_untouched:
            first = await self._converse(caller, question, report.session, key, emit)
            child = await self.parts.store.row(report.session)
        return replace(report, first=first, title=await self._lists.title(child))

    async def converse(
        self,
        caller: Caller,
        message: str,
        *,
        session: str | None = None,
        key: str | None = None,
        emit: Emit | None = None,
    ) -> Answer:
        """One turn. Raises: InvalidRequest, SessionNotFound, AnsweringNow, KeyReused."""
        return await self._converse(caller, message, session, key, emit)

    async def merge(
        self,
        caller: Caller,
        *,
        session: str | None = None,
        note: str | None = None,
        draft: bool = False,
    ) -> Note:
        """Bring one note back, or with `draft` only show it.

        Raises: NothingToMerge, NoteTooLong, AnsweringNow, InvalidRequest, OutsideError."""
        row, chosen = await self._converse.meant(caller, session)
        made = await self._merge(caller, row, note if note and note.strip() else None, draft)
        if made.delivery == "pending":
            made = await self._offered(caller, made)
        return replace(made, chosen=chosen)

    async def sessions(
        self,
        caller: Caller,
        *,
        parent: str | None = None,
        cursor: str | None = None,
        limit: int = 20,
        recent_only: bool = False,
    ) -> Listing:
        """The caller's side sessions, newest first; `recent_only` leaves out those idle for
        over 30 days (resource lists). Raises InvalidRequest for a cursor that is not ours."""
        return await self._lists.sessions(caller, parent, cursor, limit, recent_only)

    async def parents(self, caller: Caller, limit: int = 5) -> Sequence[Found]:
        """The newest client conversations of the caller's folder, newest first."""
        return await self._adoption.newest(caller, limit)

    async def meant(self, caller: Caller, session: str | None) -> tuple[SessionId, str]:
        """The session that `converse` would talk to, and its title.

        Raises: InvalidRequest (none is meant), SessionNotFound."""
        row, _ = await self._converse.meant(caller, session)
        return row.header.id, await self._title(row.header.id)

    async def read(
        self, caller: Caller, session: str, *, start: int | None = None, limit: int = 20
    ) -> Reading:
        """What was said in any session of the caller's, from the turn numbered `start`."""
        return await self._lists.read(caller, session, start, limit)

    async def forget(self, caller: Caller, session: str) -> SessionId:
        """A side session, or a session of any origin whose log is damaged (decision 0012). A note
        of it stays in its parent for good.

        Raises: SessionNotFound (also a parent that is whole), HasChildren, AnsweringNow."""
        row = await self.parts.known(caller, session)
        if row.header.origin != "sidechat" and await self._whole(row):
            raise SessionNotFound(session)
        async with self.parts.store.hold(row.header.id):
            children = await self.parts.store.children(row.header.id)
            if children:
                raise await self._needed(row, children)
            await self.parts.store.forget(row.header.id)
        self.parts.sessions.forgotten(row.header.id)
        return row.header.id

    async def _whole(self, row: Row) -> bool:
        """Whether all of its lineage is as it was written."""
        try:
            await self.parts.store.read(row.header.id, verify=True)
        except DamagedLog:
            return False
        return not row.damaged

    async def _needed(self, row: Row, children: Sequence[SessionId]) -> HasChildren:
        """Why a session must stay, and what can be done: nothing goes along unseen."""
        said = f"{row.header.id} has {len(children)} session(s) that inherit from it."
        for child in children:
            below = await self.parts.store.row(child, damaged=True)
            if below.header.origin != "sidechat" and await self._whole(below):
                return HasChildren(
                    said, then=f"{child} goes on from it and is whole; leave both as they are."
                )
        return HasChildren(said, then="Forget those first: " + ", ".join(children[:5]) + ".")

    async def side(self, caller: Caller, session: str) -> tuple[Session, Sequence[Event]]:
        """A side session's whole state and its own events, for resources and `show`.
        Raises SessionNotFound also for sessions that are no side sessions of the caller's."""
        return await self._side(await self.parts.side(caller, session))

    async def _side(self, row: Row) -> tuple[Session, Sequence[Event]]:
        state = await self.parts.sessions.state(row)
        events = await self.parts.sessions.tail(row, row.header.seed_length)
        return state, events

    async def markdown(self, caller: Caller, session: str) -> str:
        """A side session as Markdown (`core.render.session`), rendered once until it grows. Where
        only its ancestors are damaged, its own words are there, with what is wrong."""
        row = await self.parts.side(caller, session)
        place = (row.header.id, row.head)
        page = self._pages.get(place)
        if page is None:
            try:
                page = render.session(*await self._side(row))
            except DamagedLog as error:
                if error.session == row.header.id:
                    raise
                own = await self.parts.sessions.own(row)
                events = await self.parts.sessions.tail(row, row.header.seed_length)
                return f"{render.session(own, events)}\n> {error}\n"
            if len(page) <= LARGEST_PAGE:
                self._pages[place] = page
            if len(self._pages) > KEPT_PAGES:
                self._pages.popitem(last=False)
        return page

    async def spent(self, caller: Caller, session: str) -> SpentReport:
        """What a side session's own requests came to. Raises: SessionNotFound."""
        state, _ = await self.side(caller, session)
        own = [one for turn in state.turns if turn.own for one in turn.usage]
        return SpentReport(used(own), spending.cache(own), spending.compared(own))

    async def ndjson(self, caller: Caller, session: str) -> str:
        """A session's log with its places, inherited events included."""
        row = await self.parts.visible(caller, session)
        return render.log(await self.parts.sessions.events(row))

    async def turn_markdown(self, caller: Caller, session: str, number: int) -> str:
        """One turn. Raises InvalidRequest when there is no such turn."""
        state, _ = await self.side(caller, session)
        for turn in state.turns:
            if turn.number == number:
                return render.turn(turn)
        raise InvalidRequest(
            f"{session} has no turn {number}.", then=f"Its turns are 1 to {state.numbered}."
        )

    async def complete(self, caller: Caller, value: str) -> Sequence[str]:
        """Ids of the caller's side sessions that `value` may mean, by recency: it matches the
        beginning of an id (or of an address: then they are addresses), or words of a title. At
        most 100, and one more where there are more."""
        return await self._lists.complete(caller, value)

    async def native(
        self,
        caller: Caller,
        *,
        system: str | None = None,
        agent: str | None = None,
        tools: bool = True,
    ) -> Header:
        """A new native session, with its `request/header`; `converse` talks to it by id. With
        `tools` (DESIGN: from its creation) its model may use the workspace tools and those of
        configured servers."""
        configured = QUOTING if self.parts.agent in ("auto", "client") else self.parts.agent
        name = agent or configured
        about = self.parts.about(name)
        offered = await self.parts.agents.tools.offered() if tools else ()
        listed = schemas.dump((one.name, one.description, one.schema) for one in offered)
        head = RequestHeader(Part(text=system or ""), Part(text=listed), about.model)
        meta = Meta("native", caller.principal, name, caller.cwd)
        receipt = await self.parts.agents.create(None, meta, [head])
        return (await self.parts.store.row(receipt.session)).header

    async def pending_notes(self, caller: Caller, session_id: str, prompt: str | None) -> str:
        """Hook JSON with the notes that wait for that client conversation, `{}` without any."""
        del prompt  # Hooks send it; nothing here depends on it.
        return await self._delivery.hook(caller, session_id)

    async def replay(self, caller: Caller, session: str | None = None) -> Sequence[Replayed]:
        """Rebuild every request of one session (or all) from the log and compare digests."""
        if session is not None:
            return [await self._checkup(await self.parts.known(caller, session))]
        rows = await self.parts.store.rows(Query(owner=caller.principal, limit=_ALL))
        found: list[Replayed] = []
        for row in rows:
            try:
                found.append(await self._checkup(row))
            except SessionNotFound:
                continue  # Forgotten by somebody since it was listed.
        return found

    async def next_request(self, caller: Caller, session: str) -> str:
        """What the session's model would be sent next, as canonical lines (for `demo`, `show`)."""
        row = await self.parts.visible(caller, session)
        return digest.canonical(await self.parts.sessions.context(row)).decode()

    async def changed(self, since: int) -> tuple[int, Sequence[SessionId]]:
        """The present mark and the sessions written after `since`; waits for none."""
        return await self.parts.store.changed(since)

    async def wait(self, since: int) -> None:
        """Returns when a write after the mark `since` may exist."""
        await self.parts.store.wait(since)

    @property
    def unwritable(self) -> OutsideError | None:
        """Why everything here is only read (`LogStore.unwritable`), else None."""
        return self.parts.store.unwritable

    def leave(self) -> None:
        """The process is about to end: a turn that is cut from now on is `interrupted`."""
        self.parts.agents.leaving = True

    async def _offered(self, caller: Caller, made: Note) -> Note:
        """A note for a client's conversation goes by the best door there is: the very answer we
        give, when it was asked for from inside it; else the client's own, if one is open."""
        parent = await self.parts.store.row(made.parent)
        note = next((n for n in await waiting(self.parts, parent) if n.note == made.note), None)
        if note is None:
            return made
        if caller.surface == "mcp":
            live = await self._adoption.live(caller)
            if live is not None and (live.client, live.ref) == line_of(parent):
                taken = await self._delivery.offer(caller, parent, note, RESULT)
                return replace(made, delivery=f"offered: {RESULT}") if taken else made
        door = await self._delivery.push(caller, parent, note)
        return replace(made, delivery=f"offered: {door}") if door else made

    async def _title(self, session: SessionId) -> str:
        return await self._lists.title(await self.parts.store.row(session))
