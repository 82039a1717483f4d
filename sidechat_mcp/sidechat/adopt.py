"""Parents that live elsewhere: found, read, and followed by a mirror of ours.

One line `(client, client_ref)` is followed by one mirror at a time. Import is its own
transaction and only ever appends; a client that rewound continues its line in a new mirror,
which inherits from the old one what still holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio

from sidechat_mcp.core import excerpt, handback
from sidechat_mcp.core.events import Draft, Event, MirrorSeen
from sidechat_mcp.core.handback import Handback
from sidechat_mcp.core.ids import EventId, SessionId
from sidechat_mcp.core.redact import harmless
from sidechat_mcp.errors import DamagedLog, Moved, NewerSchema, ParentNotFound, UnknownFormat
from sidechat_mcp.harness.agents import TRIES, Meta, Seed
from sidechat_mcp.harness.sessions import drafts
from sidechat_mcp.ports.client import Client, Found, Transcript
from sidechat_mcp.ports.store import Once, Query, Row
from sidechat_mcp.sidechat import mirrors
from sidechat_mcp.sidechat.parts import Parts, joined
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.unswept import unswept

Reader = Callable[[bool], Awaitable[Transcript]]
"""Reads a conversation: what is new since it was last read is enough (True), or all of it."""
PAUSE = 0.02
"""Seconds before a conversation that another process writes is read again."""
AT_HOME = frozenset({"local", "bearer"})
"""The principals that are this machine's own person: over stdio or a loopback address, or with
the one token that they gave the server. Others have sessions of their own, and nothing else."""
TAIL = 256
"""How many events of a mirror are looked at first for the place where a reading went on."""
NEWEST = 5
"""How many conversations a refusal names."""
GIVE = (
    "or give the text of this one as `parent`: `excerpt:` and its messages, marked `User:` and"
    " `Assistant:`"
)
"""The way for a conversation that lies where we cannot read it."""


@dataclass(frozen=True, slots=True)
class Parent:
    """A session to fork from. An adopted one comes with what its transcript said of itself, and
    with a way to a new mirror of it, read whole: for when this one turns out to be damaged."""

    row: Row
    transcript: Transcript | None = None
    anew: Callable[[], Awaitable[Parent]] | None = None


@dataclass(frozen=True, slots=True)
class _Try:
    """`into` is the mirror that has all that was read before. `sure`: the reading is believed
    whatever it lacks. `damaged`: the mirror that follows now is; `lost` is one in no list."""

    into: SessionId | None
    sure: bool
    damaged: bool
    lost: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """`_knew` says which client each file that was named is of; `_into` which mirror has all
    that was read of a file so far: what is new in that file may be put behind it."""

    parts: Parts
    _knew: dict[Path, str] = field(default_factory=dict[Path, str])
    _into: dict[Path, SessionId] = field(default_factory=dict[Path, SessionId])

    async def parent(self, caller: Caller, named: str | None, file: Path | None) -> Parent:
        """The parent a caller means, its mirror brought up to date.

        Raises: ParentNotFound, SessionNotFound, UnknownFormat."""
        if file is not None:
            return await self._from_file(caller, file)
        if named is None:
            found = await self.live(caller)
            if found is None:
                raise await self._unnamed(caller)
            return await self.follow(caller, found)
        client, colon, ref = named.partition(":")
        if not colon:
            return Parent(await self.parts.visible(caller, named))
        if client == excerpt.CLIENT:
            return await self._excerpt(caller, ref)
        if caller.principal not in AT_HOME:
            raise ParentNotFound(
                "Conversations of this machine's clients are its own person's alone.",
                then="Name one of your sessions.",
            )
        if client not in self.parts.clients:
            known = ", ".join(sorted(self.parts.clients))
            raise ParentNotFound(f"No client is called {client[:40]!r}.", then=f"Known: {known}.")
        found = await self.parts.clients[client].find(ref, caller.cwd)
        if found is None:
            raise ParentNotFound(
                f"{client} has no conversation {ref[:200]!r} here.", then=await self._offer(caller)
            )
        return await self.follow(caller, found)

    async def live(self, caller: Caller) -> Found | None:
        """The client conversation that the call surely comes from, or None. What the call itself
        says outranks who started us: clients run inside one another."""
        call = self.parts.here(caller)
        for evidence in (replace(call, environment={}, ancestors=()), call):
            for client in self._clients(caller):
                found = await client.locate(evidence)
                if found is not None:
                    return found
        return None

    async def newest(self, caller: Caller, limit: int) -> Sequence[Found]:
        """The newest conversations of the caller's folder, newest first."""
        found = [
            one
            for client in self._clients(caller)
            for one in await client.newest(caller.cwd, limit)
        ]
        return sorted(found, key=lambda one: -one.active)[:limit]

    def _clients(self, caller: Caller) -> Iterable[Client]:
        """Who may be asked for a caller: only this machine's own person has conversations here."""
        return self.parts.clients.values() if caller.principal in AT_HOME else ()

    async def line(self, caller: Caller, client: str, ref: str) -> Sequence[Row]:
        """All mirrors of a line, the one that follows it now first. An excerpt may be named by
        the first digits of its digest, where these name one."""
        short = client == excerpt.CLIENT and excerpt.is_ref(ref)
        query = Query(
            origin="mirror",
            owner=caller.principal,
            client=client,
            client_ref=None if short else ref,
            limit=1000,
        )
        rows = await self.parts.store.rows(query)
        if short:
            rows = [row for row in rows if (row.header.client_ref or "").startswith(ref)]
            if len({row.header.client_ref for row in rows}) > 1:
                return []
        return sorted(rows, key=lambda row: (-row.header.created_at, row.header.id))

    async def follow(self, caller: Caller, found: Found) -> Parent:
        """Read what `found` has now and import what is new.

        Raises: UnknownFormat, ParentNotFound."""
        client = self.parts.clients[found.client]
        known = found.path in self._into

        async def reader(since_last: bool) -> Transcript:
            return await client.read(found, since_last=since_last and known)

        return await self._import(caller, reader, found.cwd, found.path)

    async def caught_up(self, caller: Caller, mirror: Row) -> Row:
        """The mirror that follows `mirror`'s line now, brought up to date where its conversation
        can still be read; a conversation that is gone leaves what we have."""
        of = line_of(mirror)
        client = self.parts.clients.get(of[0]) if of is not None else None
        if of is None or client is None:
            return mirror
        try:
            found = await client.find(of[1], mirror.header.cwd)
            if found is not None:
                return (await self.follow(caller, found)).row
        except (ParentNotFound, UnknownFormat):
            pass
        line = await self.line(caller, *of)
        return line[0] if line else mirror

    async def _excerpt(self, caller: Caller, given: str) -> Parent:
        """A conversation that is handed over as text, or the name of one that was. What is not
        read from anywhere is anybody's own to give."""
        if excerpt.is_ref(given):
            line = await self.line(caller, excerpt.CLIENT, given)
            if not line:
                raise ParentNotFound(
                    f"There is no excerpt {excerpt.named(given)}.",
                    then="Give its text behind `excerpt:`.",
                )
            return Parent(line[0])
        found = excerpt.read(given, self.parts.clock.now())
        read = Transcript(
            excerpt.CLIENT,
            found.ref,
            found.drafts,
            open_turns=found.open_turns,
            open_events=found.open_events,
        )

        async def reader(_: bool) -> Transcript:
            return read

        return await self._import(caller, reader, caller.cwd, None)

    async def _from_file(self, caller: Caller, file: Path) -> Parent:
        """By the first client that finds a turn in it, else by the first that knows its form:
        some forms are alike.

        Raises: UnknownFormat, ParentNotFound."""
        at = anyio.Path(file)
        if await at.exists() and not (await at.is_file() or await at.is_dir()):
            raise UnknownFormat(f"{file} is no file.", then="Name a conversation's file.")
        known: tuple[Client, Transcript] | None = None
        clients = self.parts.clients
        # The one that knew the file before comes first.
        for client in sorted(clients.values(), key=lambda one: one.name != self._knew.get(file)):
            try:
                read = await client.read_file(file, since_last=file in self._into)
            except UnknownFormat:
                continue
            holds = bool(read.drafts) or read.after is not None
            if known is None or holds:
                known = client, read
            if holds:
                break
        if known is None:
            names = ", ".join(self.parts.clients)
            raise UnknownFormat(
                f"{file.name} is no conversation in a form that this version reads ({names}).",
                then="Name another file, or give its text as `excerpt:` and the text.",
            )
        client, first = known[0], [known[1]]
        self._knew[file], known = client.name, None

        async def reader(since_last: bool) -> Transcript:
            return first.pop() if since_last and first else await client.read_file(file)

        return await self._import(caller, reader, None, file)

    async def _import(
        self,
        caller: Caller,
        reader: Reader,
        cwd: str | None,
        file: Path | None,
        *,
        damaged: bool = False,
    ) -> Parent:
        # Known again when all is done: nothing may go on from a reading that did not get so far.
        into = self._into.pop(file, None) if file is not None else None
        lost = ""
        for attempt in range(TRIES):
            one = _Try(into, attempt > 0, damaged, lost)
            try:
                with unswept():
                    read = await reader(not (one.sure or damaged))
                    row = await self._imported(caller, read, read.cwd or cwd, one)
                    await self._mark_seen(caller, read)
                if file is not None:
                    self._into[file] = row.header.id
                # What is in the log now need not be held a second time.
                read, row = replace(read, drafts=()), await self.parts.store.row(row.header.id)
                anew = partial(self._import, caller, reader, cwd, file, damaged=True)
                return Parent(row, read, anew)
            except DamagedLog:
                if damaged:
                    raise
                damaged = True
            except (Moved, mirrors.Behind) as told:
                damaged, lost = False, told.session if isinstance(told, Moved) else lost
                # Another process imports the same line, and what it added is ours too; or the
                # file seems to be behind, and is read once more before that is believed.
                await anyio.sleep(PAUSE)
        raise ParentNotFound("That conversation changes too fast to be read.", then="Try again.")

    async def _imported(self, caller: Caller, read: Transcript, cwd: str | None, one: _Try) -> Row:
        store = self.parts.store
        scope = joined(caller.principal, read.client, read.ref)
        meta = Meta("mirror", caller.principal, "client", cwd, read.client, read.ref)
        line = await self.line(caller, read.client, read.ref)
        if not line:
            if read.after is not None:
                raise mirrors.Behind
            place = f"{scope}/{one.lost}/lost" if one.lost else scope
            once = Once(f"mirror/{place}", kept="identity")
            return await self._create(None, meta, read.drafts, once, 0)
        row = line[0]
        if one.damaged:
            # Nothing of it is inherited; the conversation begins again, from its own file.
            once = Once(f"mirror/{scope}/{row.header.id}/damaged", kept="identity")
            return await self._create(None, meta, read.drafts, once, row.header.created_at)
        if read.after is not None:
            if row.header.id != one.into:
                raise mirrors.Behind
            return await self._continued(row, read, read.after)
        known = [event for event in await self.parts.sessions.events(row) if mirrors.foreign(event)]
        same = mirrors.common(known, read.drafts)
        if same == len(known):
            if same < len(read.drafts):
                await store.append(row.header.id, read.drafts[same:], expect=row.head)
            return await store.row(row.header.id)
        if same == len(read.drafts) and not one.sure:
            raise Moved(row.header.id, len(known), same)
        kept = mirrors.boundary(known[:same])
        length = known[kept - 1].seq + 1 if kept else 0
        seed = Seed(row.header.id, length) if length else None
        follows = read.drafts[kept].id if kept < len(read.drafts) else "nothing"
        place = joined(str(length), follows)
        once = Once(f"mirror/{scope}/{row.header.id}/{place}", kept="identity")
        return await self._create(seed, meta, read.drafts[kept:], once, row.header.created_at)

    async def _continued(self, row: Row, read: Transcript, after: EventId) -> Row:
        """Import what stands behind the event `after`, if that is all there is to do.

        Raises: mirrors.Behind; Moved, where another process was first."""
        events: Sequence[Event] = ()
        known: list[Event] = []
        start, want = row.head, TAIL
        while start and not any(event.id == after for event in known):
            start, want = max(0, row.head - want), want * 4
            events = await self.parts.sessions.tail(row, start)
            known = [event for event in events if mirrors.foreign(event)]
        places = [place for place, event in enumerate(known) if event.id == after]
        since = known[places[-1] + 1 :] if places else known
        if not places or mirrors.common(since, read.drafts) < len(since):
            raise mirrors.Behind
        new = read.drafts[len(since) :]
        if new:
            await self.parts.store.append(row.header.id, new, expect=row.head)
        return row

    async def _create(
        self, seed: Seed | None, meta: Meta, first: Sequence[Draft], once: Once, after: int
    ) -> Row:
        receipt = await self.parts.agents.adopt(seed, meta, first, once=once, after=after)
        if receipt.again:
            raise Moved(receipt.session, 0, receipt.head)
        return await self.parts.store.row(receipt.session)

    async def _mark_seen(self, caller: Caller, read: Transcript) -> None:
        """Write `mirror/seen` once for each note of ours that the transcript now shows, on
        whichever mirror of its line the note stands."""
        if not read.delivered:
            return
        for mirror in await self.line(caller, read.client, read.ref):
            unseen = set[str]()
            # The notes of a damaged mirror are lost with it, and keep no other from being seen.
            with suppress(DamagedLog, NewerSchema):
                notes, shown = await _notes(self.parts, mirror)
                unseen = {note.note for note in notes} - shown
            for note in sorted(unseen & read.delivered.keys()):
                await self.parts.store.append(
                    mirror.header.id,
                    drafts(self.parts.clock, [MirrorSeen(note, read.delivered[note])]),
                    expect=None,
                    once=Once(f"seen/{note}", kept="identity"),
                )

    async def _unnamed(self, caller: Caller) -> ParentNotFound:
        return ParentNotFound(
            "It is not clear which conversation to fork.", then=await self._offer(caller)
        )

    async def _offer(self, caller: Caller) -> str:
        newest = await self.newest(caller, NEWEST)
        if not newest:
            where = f" in {caller.cwd}" if caller.cwd else ""
            return (
                f"No client conversation was found{where}; name one as CLIENT:ID, or a session,"
                f" {GIVE}."
            )
        lines = [
            f"{one.client}:{one.ref}" + (f" ({harmless(one.title)[:60]})" if one.title else "")
            for one in newest
        ]
        return "Name one as `parent`: " + "; ".join(lines) + f"; {GIVE}."


async def waiting(parts: Parts, mirror: Row) -> Sequence[Handback]:
    """Notes appended to a mirror itself that its client has not shown yet and that no newer one
    supersedes, oldest first."""
    notes, seen = await _notes(parts, mirror)
    superseded = {note.supersedes for note in notes}
    return [note for note in notes if note.note not in seen and note.note not in superseded]


async def _notes(parts: Parts, mirror: Row) -> tuple[Sequence[Handback], set[str]]:
    """All notes appended to a mirror itself, and the ids of those that its client has shown."""
    events = await parts.sessions.tail(mirror, mirror.header.seed_length)
    seen = {event.body.handback for event in events if isinstance(event.body, MirrorSeen)}
    return [note for event in events if (note := handback.read(event)) is not None], seen


def line_of(row: Row) -> tuple[str, str] | None:
    """The client line that a mirror follows."""
    header = row.header
    if header.origin != "mirror" or header.client is None or header.client_ref is None:
        return None
    return header.client, header.client_ref
