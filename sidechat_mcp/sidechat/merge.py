"""merge back: one condense turn in the child, then exactly one note in its parent.

Whoever comes second, from whatever process, gets the first one's event back: the receipt."""

from __future__ import annotations

from dataclasses import dataclass, replace

import anyio

from sidechat_mcp.core import handback, redact
from sidechat_mcp.core.advance import advance
from sidechat_mcp.core.content import Content, plain, text
from sidechat_mcp.core.events import AssistantMessage, Event, Source
from sidechat_mcp.core.framing import condense_order, condense_source, shorten_order
from sidechat_mcp.core.handback import Handback
from sidechat_mcp.core.session import Session
from sidechat_mcp.errors import (
    AnsweringNow,
    InvalidRequest,
    NoteTooLong,
    NothingToMerge,
    OutsideError,
    ProviderError,
)
from sidechat_mcp.harness.agents import Asked
from sidechat_mcp.ports.store import Once, Receipt, Row
from sidechat_mcp.sidechat.adopt import Adoption, line_of
from sidechat_mcp.sidechat.deliver import Delivery
from sidechat_mcp.sidechat.parts import Parts, name
from sidechat_mcp.sidechat.reports import Caller, Note

SHORTENED = 2
"""How often, at most, a note that is too long is asked for again in the same turn."""
PATIENCE = 120.0
"""Seconds that a merge waits for somebody else's answer (or merge) in the same child to end."""
POLL = 0.05
REWOUND = (
    "That conversation went back behind the place of this fork since; the note still goes to it."
)
GONE = "{client} has no such conversation here now; the note is kept, and waits until it is back."
REPLACED = "The note {note} has taken its place since."


@dataclass(frozen=True, slots=True)
class Merge:
    parts: Parts
    adoption: Adoption
    delivery: Delivery

    async def __call__(self, caller: Caller, child: Row, own_text: str | None, draft: bool) -> Note:
        """Raises: NothingToMerge, NoteTooLong, AnsweringNow, SessionNotFound, OutsideError."""
        parent = await self._parent(caller, child)
        live = await self._live(caller, parent)
        if own_text is not None:
            own_text = self._unaltered(own_text)
        state = await self._state(child)
        done = None if draft else (await self._identity(state, own_text))[1]
        if done is None and own_text is None:
            state, own_words = await self._drafted(child)
        else:
            own_words = own_text or ""
        if draft:
            return self._as_draft(child, parent, own_words)
        if done is None:
            done = await self._append(child, parent, live, state, own_words, own_text)
        return await self._receipt(caller, child, parent, live, done)

    async def _parent(self, caller: Caller, child: Row) -> Row:
        if child.header.parent_session is None:
            raise InvalidRequest(
                f"{child.header.id} is no side session; it has no parent to merge into."
            )
        return await self.parts.visible(caller, child.header.parent_session)

    async def _live(self, caller: Caller, parent: Row) -> Row:
        """The parent as its client has it now: its line may have gone on, or elsewhere."""
        if parent.header.origin != "mirror":
            return parent
        return await self.adoption.caught_up(caller, parent)

    def _unaltered(self, own_text: str) -> str:
        """A person's own text as it will stand. Raises: InvalidRequest where it could not stand
        as it is; what was shown is what is merged."""
        own_text = "\n".join(line.rstrip() for line in own_text.strip().split("\n"))
        fitted = handback.fit(own_text, self.parts.cap)
        if fitted != own_text:
            raise InvalidRequest(
                "The note holds what must not leave a side session (a credential, hidden"
                " characters, or a tag of ours).",
                then=f"This much could be taken: {fitted}",
            )
        return fitted

    async def _state(self, child: Row) -> Session:
        """The child's own state now. Raises: NothingToMerge."""
        state = await self.parts.sessions.own(await self.parts.sessions.row(child.header.id))
        if handback.covered(state) is None:
            raise NothingToMerge(
                "This side session has no completed turn of its own; there is nothing to bring"
                " back.",
                then="`converse` first.",
            )
        return state

    async def _identity(self, state: Session, own_text: str | None) -> tuple[Once, Receipt | None]:
        """What this merge is, and its receipt where its note is the one that stands. One that
        another note replaced since is brought back by a merge of its own (decision 0013)."""
        child = state.header.id
        covered = handback.covered(state)
        assert covered is not None
        key = handback.identity(child, covered[1], own_text)
        before = await self.parts.store.onces(handback.prefix(child))
        if before:
            last, receipt = max(before, key=lambda one: one[1].seq)
            if handback.first(last) == key:
                return Once(last, kept="identity"), receipt
            standing, _ = await self._event(receipt)
            if standing.text == own_text and standing.covers[1] == covered[1]:
                return Once(last, kept="identity"), receipt
            if any(handback.first(one) == key for one, _ in before):
                key = handback.brought_back(key, standing.note)
        return Once(key, kept="identity"), None

    async def _drafted(self, child: Row) -> tuple[Session, str]:
        """The child's note and the state it stands for: its last draft while nothing newer was
        said, else that of a new condense turn. Whoever comes while one is written waits for it."""
        session = child.header.id
        deadline = anyio.current_time() + PATIENCE
        while True:
            state = await self._state(child)
            kept = handback.draft(state)
            if kept is not None:
                return state, self._fitting(kept, session)
            try:
                await self._condense(child)
            except AnsweringNow:
                if anyio.current_time() > deadline:
                    raise
                await anyio.sleep(POLL)

    async def _condense(self, child: Row) -> None:
        """Take the condense turn, unless another caller's is there by the time it is ours.

        Raises: AnsweringNow, ProviderError."""
        cap = self.parts.cap
        asked = 0

        def more(answer: str) -> tuple[str, Source] | None:
            nonlocal asked
            chars = len(redact.clean(answer))
            if chars <= cap or asked == SHORTENED:
                return None
            asked += 1
            return shorten_order(cap, chars), condense_source(cap)

        order = Asked(text(condense_order(cap)), "condense", condense_source(cap))
        turn = await self.parts.agents.turn(child.header.id, order, more=more)
        if turn.reason != "completed":
            raise ProviderError(
                f"The note could not be drafted ({turn.reason}"
                + (f": {turn.detail})." if turn.detail else ")."),
                then="Try again, or give the note's text yourself.",
                retryable=True,
            )

    def _fitting(self, words: str, session: str) -> str:
        try:
            return handback.fit(words, self.parts.cap)
        except NoteTooLong as error:
            raise NoteTooLong(
                f"{error.message} The draft is kept; `show {session}` has it.",
                then="Give a shorter note yourself (`note`), or raise SIDECHAT_NOTE_CAP.",
            ) from None

    async def _append(
        self,
        child: Row,
        parent: Row,
        live: Row,
        state: Session,
        words: str,
        own_text: str | None,
    ) -> Receipt:
        note = self.parts.clock.word()
        model = await self._model(child, state) if own_text is None else None
        covered = handback.covered(state)
        assert covered is not None
        since = child.header.seed_length

        async def make(now: Session) -> tuple[Content, Source]:
            before = await self.parts.store.onces(handback.prefix(child.header.id))
            last = max(before, key=lambda one: one[1].seq, default=None)
            earlier = (await self._event(last[1]))[0].note if last is not None else None
            upto = live if live.header.id != parent.header.id else replace(parent, head=now.head)
            went_on = advance(await self.parts.sessions.tail(upto, since), since)
            made = Handback(
                note=note,
                child=child.header.id,
                parent=parent.header.id,
                text=words,
                fork_seq=child.header.seed_length - 1,
                covers=covered[:2],
                turns=covered[2],
                model=model,
                cap=self.parts.cap,
                revision=len(before) + 1,
                carrier="client" if parent.header.origin == "mirror" else "log",
                supersedes=earlier,
                advanced_turns=went_on.turns,
                advanced_files=went_on.files,
            )
            return text(handback.wrap(made)), handback.source(made)

        once, done = await self._identity(state, own_text)
        if done is not None:
            return done
        return await self.parts.agents.inject(parent.header.id, make, once=once)

    async def _model(self, child: Row, state: Session) -> str | None:
        """Which model wrote the draft, as its answer says."""
        drafted = [turn.id for turn in state.turns if turn.of == "condense"]
        own = await self.parts.sessions.tail(
            await self.parts.sessions.row(child.header.id), child.header.seed_length
        )
        for event in reversed(own):
            body = event.body
            if isinstance(body, AssistantMessage) and drafted and body.turn == drafted[-1]:
                return body.model
        return None

    async def _event(self, receipt: Receipt) -> tuple[Handback, Event]:
        """The handback that a merge's append wrote; it is the first one from there on."""
        start = receipt.seq
        while True:
            events = await self.parts.store.read(receipt.session, start, start + 64)
            if not events:
                raise OutsideError(f"The note of session {receipt.session!r} is not in its log.")
            for event in events:
                found = handback.read(event)
                if found is not None:
                    return found, event
            start += 64

    async def _receipt(
        self, caller: Caller, child: Row, parent: Row, live: Row, receipt: Receipt
    ) -> Note:
        """What a merge answers, read back from the event."""
        found, event = await self._event(receipt)
        notice = [REWOUND] if live.header.id != parent.header.id else []
        all_of_them = await self.parts.store.onces(handback.prefix(child.header.id))
        last = max((one for _, one in all_of_them), key=lambda one: one.seq)
        if last.seq > receipt.seq:
            notice.append(REPLACED.format(note=(await self._event(last))[0].note))
        row = await self.parts.store.row(receipt.session)
        delivery = await self.delivery.state(caller, row, found)
        if delivery == "pending" and await self._is_gone(parent):
            notice.append(GONE.format(client=parent.header.client))
        return Note(
            note=found.note,
            session=child.header.id,
            parent=parent.header.id,
            parent_name=name(parent.header),
            text=found.text,
            chars=len(found.text),
            cap=found.cap,
            seq=event.seq,
            revision=found.revision,
            delivery=delivery,
            wrapped=plain(getattr(event.body, "content", ())),
            again=receipt.again,
            supersedes=found.supersedes,
            notice=" ".join(notice),
        )

    async def _is_gone(self, parent: Row) -> bool:
        """Whether the parent's client has its conversation no more, or never had it here."""
        of = line_of(parent)
        client = self.parts.clients.get(of[0]) if of is not None else None
        if of is None or client is None:
            return False
        return await client.find(of[1], parent.header.cwd) is None

    def _as_draft(self, child: Row, parent: Row, words: str) -> Note:
        return Note(
            note="",
            session=child.header.id,
            parent=parent.header.id,
            parent_name=name(parent.header),
            text=words,
            chars=len(words),
            cap=self.parts.cap,
            seq=None,
            revision=0,
            delivery="none",
        )
