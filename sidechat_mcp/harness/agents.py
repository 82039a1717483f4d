"""What comes after what in any session: create, take a turn, inject. Knows nothing of forks.

Everything the outside sees is durable before it leaves: a turn's opening and `request/sent`
before the request, `tool/call` before the tool. A decision is appended at the head it was made
on; a fact (an answer, a result, an end) is appended whatever happened meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import anyio

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.balance import closing
from sidechat_mcp.core.content import Content
from sidechat_mcp.core.events import (
    Body,
    ContextMessage,
    Draft,
    Header,
    Origin,
    Reason,
    RequestHeader,
    Source,
    TurnEnd,
    TurnKind,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.core.ids import SessionId, TurnId
from sidechat_mcp.core.session import Session, Turn, fold
from sidechat_mcp.errors import AnsweringNow, InvalidRequest, Moved, SidechatError
from sidechat_mcp.harness.loop import TRIES, Emit, Loop, More
from sidechat_mcp.harness.sessions import Sessions, drafts, place
from sidechat_mcp.ports.clock import Clock
from sidechat_mcp.ports.provider import Provider
from sidechat_mcp.ports.store import LogStore, Once, Receipt
from sidechat_mcp.ports.tool import Toolbox
from sidechat_mcp.seams import AssembleSeam, Head, Seams

Make = Callable[[Session], Awaitable[tuple[Content, Source]]]
"""Given the state it will be appended to, a context message's content and source."""


@dataclass(frozen=True, slots=True)
class Seed:
    """Where a new session leaves its parent: the first `length` events of `parent`."""

    parent: SessionId
    length: int


@dataclass(frozen=True, slots=True)
class Meta:
    """A new session's header, but for its id, its time and its seed."""

    origin: Origin
    owner: str
    agent: str
    cwd: str | None = None
    client: str | None = None
    client_ref: str | None = None
    made_in: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What opens a turn: a person's words, or (with `source`) an order of ours."""

    content: Content
    of: TurnKind = "turn"
    source: Source | None = None


@dataclass(slots=True)
class Agents:
    """`provider` gives what answers under an agent's name (`Header.agent`)."""

    store: LogStore
    sessions: Sessions
    clock: Clock
    provider: Callable[[str], Provider]
    tools: Toolbox
    seams: Seams = field(default_factory=Seams)
    leaving: bool = False
    """Set when the process is about to end: a turn cut by it is `interrupted`, not `aborted`."""

    async def create(
        self, seed: Seed | None, meta: Meta, first: Sequence[Body], *, once: Once | None = None
    ) -> Receipt:
        """A new session with its first events, in one transaction. With a seed it inherits the
        parent's first `length` events by address; not a byte of the parent changes.

        Raises: SessionNotFound, InvalidRequest, KeyReused."""
        header = self._header(seed, meta)
        bodies = [await self._filtered(header, body) for body in first]
        return await self.store.create(header, drafts(self.clock, bodies), once=once)

    async def adopt(
        self,
        seed: Seed | None,
        meta: Meta,
        first: Sequence[Draft],
        *,
        once: Once | None = None,
        after: int = 0,
    ) -> Receipt:
        """The same for a history that happened elsewhere: its drafts keep their ids and times,
        and no seam touches them. The session is dated later than `after`."""
        header = self._header(seed, meta)
        dated = replace(header, created_at=max(header.created_at, after + 1))
        return await self.store.create(dated, first, once=once)

    async def turn(
        self,
        session: SessionId,
        asked: Asked,
        *,
        once: Once | None = None,
        emit: Emit | None = None,
        more: More | None = None,
    ) -> Turn:
        """Take one whole turn and return it as the log has it, also when it was cut. A turn that
        an earlier call under the same `once` took is returned as it ended.

        Raises: SessionNotFound, AnsweringNow, KeyReused, StoreError."""
        if once is not None and (past := await self._past(once)) is not None:
            return past
        async with self.store.hold(session):
            try:
                loop, receipt, context = await self._open(session, asked, once, emit)
            except anyio.get_cancelled_exc_class():
                # The append may have gone through all the same; nobody else may open turns here.
                with anyio.CancelScope(shield=True):
                    await self.settle(session, self._cut_short())
                raise
            if receipt.again:
                return await self._found(session, receipt.seq)
            ended: tuple[Reason, str | None] = ("error", None)
            try:
                ended = await loop.run(context, more)
            except anyio.get_cancelled_exc_class():
                ended = (self._cut_short(), None)
                raise
            except SidechatError as error:
                ended = ("error", str(error))
                raise
            finally:
                with anyio.CancelScope(shield=True):
                    await self._close(loop, *ended)
        return await self._found(session, receipt.seq)

    async def inject(self, session: SessionId, make: Make, *, once: Once | None = None) -> Receipt:
        """Append a `context/message` without calling a model: inside the open turn while somebody
        runs one, else as a turn of its own. `make` is called again whenever the log moved.

        Raises: SessionNotFound, KeyReused, Moved (after many tries)."""
        head = found = -1
        for _ in range(TRIES):
            row = await self.sessions.row(session)
            state = await self.sessions.state(row)
            content, source = await make(state)
            bodies: list[Body] = []
            if state.open is not None and await self.store.held(session):
                bodies.append(ContextMessage(state.open.id, content, source))
            else:
                if state.open is not None:
                    bodies.extend(closing(state.open, "interrupted"))
                bodies.extend(injection(TurnId(self.clock.word()), content, source))
            try:
                return await self.store.append(
                    session, drafts(self.clock, bodies), expect=row.head, once=once
                )
            except Moved as error:
                head, found = error.expected, error.found
        raise Moved(session, head, found)

    def _header(self, seed: Seed | None, meta: Meta) -> Header:
        return Header(
            SessionId(self.clock.word()),
            self.clock.now(),
            meta.origin,
            meta.owner,
            meta.agent,
            seed.parent if seed else None,
            seed.length if seed else 0,
            meta.cwd,
            meta.client,
            meta.client_ref,
            meta.made_in,
        )

    async def _open(
        self, session: SessionId, asked: Asked, once: Once | None, emit: Emit | None
    ) -> tuple[Loop, Receipt, Context]:
        """Open a turn and send its first request, in one append."""
        turn = TurnId(self.clock.word())
        head = found = -1
        for _ in range(TRIES):
            row = await self.sessions.row(session)
            state = await self.sessions.state(row)
            bodies: list[Body] = []
            if state.open is not None:
                # We hold the session, so whoever opened that turn is gone.
                bodies.extend(closing(state.open, "interrupted"))
            number = state.numbered + 1 if asked.of == "turn" else None
            bodies.append(TurnStart(turn, asked.of, number))
            bodies.append(
                UserMessage(turn, asked.content)
                if asked.source is None
                else ContextMessage(turn, asked.content, asked.source)
            )
            loop = Loop(
                self.store,
                self.sessions,
                self.clock,
                self.provider(row.header.agent),
                self.tools,
                self.seams,
                row.header,
                turn,
                emit,
            )
            try:
                return loop, *await loop.send(row.head, bodies, once)
            except Moved as error:
                head, found = error.expected, error.found
        raise Moved(session, head, found)

    async def _close(self, loop: Loop, reason: Reason, detail: str | None) -> None:
        """Write what was answered last and close the turn, whatever was appended meanwhile."""
        session = loop.header.id
        row = await self.sessions.row(session)
        events = await self.sessions.events(row)
        unsaved = loop.reply.facts() if loop.reply is not None else []
        added = place(session, row.head, drafts(self.clock, unsaved))
        state = fold(row.header, [*events, *added])
        if state.open is not None and state.open.id == loop.turn:
            ending = [*unsaved, *closing(state.open, reason, detail)]
            await self.store.append(session, drafts(self.clock, ending), expect=None)

    async def _past(self, once: Once) -> Turn | None:
        """The turn that an earlier call under `once` took; one whose holder died is closed."""
        receipt = await self.store.once(once.key)
        if receipt is None:
            return None
        # Appending nothing under the key compares the arguments.
        await self.store.append(receipt.session, (), expect=None, once=once)
        turn = await self._found(receipt.session, receipt.seq)
        if turn.stop is not None:
            return turn
        try:
            async with self.store.hold(receipt.session):
                await self.settle(receipt.session)
        except AnsweringNow:
            raise AnsweringNow(receipt.session) from None
        return await self._found(receipt.session, receipt.seq)

    def _cut_short(self) -> Reason:
        return "interrupted" if self.leaving else "aborted"

    async def settle(self, session: SessionId, reason: Reason = "interrupted") -> None:
        """Close a turn that was left open. The caller holds the session."""
        row = await self.sessions.row(session)
        state = await self.sessions.state(row)
        if state.open is not None:
            bodies = closing(state.open, reason)
            await self.store.append(session, drafts(self.clock, bodies), expect=row.head)

    async def _found(self, session: SessionId, seq: int) -> Turn:
        """The turn that was opened by the write that began at `seq` (a closing may precede it)."""
        row = await self.sessions.row(session)
        state = await self.sessions.state(row)
        for turn in state.turns:
            if turn.start >= seq:
                return turn
        raise InvalidRequest(f"Session {session!r} has no turn from event {seq} on.")

    async def _filtered(self, session: Header, body: Body) -> Body:
        if not isinstance(body, RequestHeader):
            return body

        async def end(head: Head) -> Head:
            return head

        chain = end
        for seam in reversed(self.seams.assemble):
            chain = _before(seam, chain)
        return (await chain(Head(session, body))).header


def injection(turn: TurnId, content: Content, source: Source) -> list[Body]:
    """A one-shot turn around a context message, so that every event stays turn-enclosed."""
    return [
        TurnStart(turn, "injection"),
        ContextMessage(turn, content, source),
        TurnEnd(turn, "injection"),
    ]


def _before(
    seam: AssembleSeam, following: Callable[[Head], Awaitable[Head]]
) -> Callable[[Head], Awaitable[Head]]:
    async def call(head: Head) -> Head:
        return await seam(head, following)

    return call
