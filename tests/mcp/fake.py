"""A small feature in memory, for tests of what only the surface decides. It keeps the feature's
own promises: durable once answered, exactly once by key, closed when cancelled, and it yields."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from anyio.lowlevel import checkpoint

from sidechat_mcp.core.events import Event, Header, Reason
from sidechat_mcp.core.ids import SessionId, TurnId
from sidechat_mcp.core.session import Session, Turn
from sidechat_mcp.errors import InvalidRequest, OutsideError, ParentNotFound, SessionNotFound
from sidechat_mcp.harness.loop import Emit
from sidechat_mcp.sidechat.reports import (
    AgentReport,
    Answer,
    Caller,
    ForkReport,
    Listed,
    Listing,
    Note,
    Reading,
    Said,
)
from sidechat_mcp.sidechat.service import Sidechat

PARENT = SessionId("parent0000")
LIVE = "claude-code:live"
START = 1_700_000_000_000


@dataclass
class Side:
    header: Header
    question: str | None
    turns: list[Turn] = field(default_factory=list[Turn])
    active: int = 0
    merged: bool = False


class FakeSidechat(Sidechat):
    """`says` are the pieces of every answer, which `ends` so; with a `gate` an answer stops before
    its last piece until it is set. `left` is what a fork mended. `live` is the caller's
    conversation, if they have one."""

    def __init__(self) -> None:
        self.says: Sequence[str] = ("It is ", "in turn 3.")
        self.gate: anyio.Event | None = None
        self.begun = anyio.Event()
        self.ends: Reason = "completed"
        self.left: dict[str, int] = {}
        self.live: str | None = LIVE
        self.sides: dict[str, Side] = {}
        self.callers: list[Caller] = []
        self.keys: dict[str, Answer] = {}
        self.failure: Exception | None = None
        self.refusal: OutsideError | None = None
        self.damage = ""
        self.leaving = False
        self.hook = "{}"
        self._mark = 1
        self._moved = anyio.Event()
        self._writes: dict[SessionId, int] = {}

    @property
    def unwritable(self) -> OutsideError | None:
        return self.refusal

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
        await self._called(caller)
        parent = parent or self.live or ""
        if parent not in (LIVE, PARENT):
            raise ParentNotFound(
                "It is not clear which conversation to fork.", then="Name one as `parent`."
            )
        for side in self.sides.values():
            if reuse_untouched and not side.turns and side.question == question:
                return self._report(side, parent, again=True)
        id = SessionId(f"s{len(self.sides) + 1:03}")
        header = Header(id, START, "sidechat", caller.principal, "quoting", PARENT, seed_length=10)
        side = self.sides[id] = Side(header, question)
        self._write(side)
        report = self._report(side, parent)
        if question is None or reuse_untouched:
            return report
        return replace(report, first=await self.converse(caller, question, session=id, emit=emit))

    def _report(self, side: Side, parent: str, *, again: bool = False) -> ForkReport:
        return ForkReport(
            session=side.header.id,
            uri=f"sidechat://sessions/{side.header.id}",
            title="A title",
            parent=PARENT,
            parent_name=parent,
            fork_seq=9,
            seed_length=10,
            turns=3,
            tokens=1200,
            tokens_method="code points / 4",
            cut_turns=1,
            cut_events=2,
            repaired=self.left.get("repaired", 0),
            compacted=self.left.get("compacted"),
            agent=AgentReport("quoting", None, "nobody", "quotes only"),
            head="substituted",
            head_digest=None,
            prefix_digest="d" * 64,
            again=again,
            skipped={"broken line": 2},
            notice="Answers are quotes.",
        )

    async def converse(
        self,
        caller: Caller,
        message: str,
        *,
        session: str | None = None,
        key: str | None = None,
        emit: Emit | None = None,
    ) -> Answer:
        await self._called(caller)
        if key is not None and key in self.keys:
            return self.keys[key]
        side = self._meant(caller, session)
        number = 4 + len(side.turns)
        side.turns.append(Turn(TurnId(f"t{number}"), "turn", number, 12, said=message))
        self._write(side)
        reason: Reason = self.ends
        try:
            await self._speak(emit)
        except anyio.get_cancelled_exc_class():
            reason = "interrupted" if self.leaving else "aborted"
            raise
        finally:
            whole = "".join(self.says)
            side.turns[-1] = replace(side.turns[-1], stop=14, reason=reason, answer=whole)
            self._write(side)
        chosen = None if session else "A title"
        answer = Answer(
            side.header.id, number, whole, reason, "answered", None, "not reported", chosen
        )
        if reason == "error":
            answer = replace(answer, status=None, advice="The key is wrong. Ask again.")
        if key is not None:
            self.keys[key] = answer
        return answer

    async def _speak(self, emit: Emit | None) -> None:
        for n, piece in enumerate(self.says):
            self.begun.set()
            if self.gate is not None and n == len(self.says) - 1:
                await self.gate.wait()
            if emit is not None:
                await emit(piece)
            await checkpoint()

    async def merge(
        self,
        caller: Caller,
        *,
        session: str | None = None,
        note: str | None = None,
        draft: bool = False,
    ) -> Note:
        await self._called(caller)
        side = self._meant(caller, session)
        text = note or "What was found."
        made = Note("", side.header.id, PARENT, LIVE, text, len(text), 2000, None, 0, "none")
        if draft:
            return made
        again, side.merged = side.merged, True
        self._write(side)
        wrapped = f'<sidechat-note id="n1">\n{text}\n</sidechat-note>'
        return replace(
            made,
            note="n1",
            seq=17,
            revision=1,
            delivery="pending",
            wrapped=wrapped,
            again=again,
            chosen=None if session else "A title",
        )

    async def sessions(
        self,
        caller: Caller,
        *,
        parent: str | None = None,
        cursor: str | None = None,
        limit: int = 20,
        recent_only: bool = False,
    ) -> Listing:
        await self._called(caller)
        if cursor is not None and not cursor.isdigit():
            raise InvalidRequest("That cursor is not one of ours.")
        owned = [s for s in self.sides.values() if s.header.owner == caller.principal]
        owned = [s for s in owned if cursor is None or s.active < int(cursor)]
        owned.sort(key=lambda side: -side.active)
        page = owned[:limit]
        more = str(page[-1].active) if len(owned) > limit else None
        return Listing([replace(_listed(side), damaged=self.damage) for side in page], more)

    async def read(
        self, caller: Caller, session: str, *, start: int | None = None, limit: int = 20
    ) -> Reading:
        await self._called(caller)
        side = self._own(caller, session)
        turns = [t for t in side.turns if (t.number or 0) >= (start or 1)]
        said: list[Said] = []
        for turn in turns[:limit]:
            said.append(Said(turn.number, "user", turn.said))
            said.append(Said(turn.number, "assistant", turn.answer))
        return Reading(side.header.id, said, turns[limit].number if turns[limit:] else None)

    async def forget(self, caller: Caller, session: str) -> SessionId:
        await self._called(caller)
        id = self._own(caller, session).header.id
        del self.sides[id]
        self._mark += 1
        self._moved.set()
        return id

    async def side(self, caller: Caller, session: str) -> tuple[Session, Sequence[Event]]:
        await self._called(caller)
        side = self._own(caller, session)
        return Session(side.header, 12, tuple(side.turns)), ()

    async def markdown(self, caller: Caller, session: str) -> str:
        await self._called(caller)
        side = self._own(caller, session)
        return "\n".join(["# A title", *(f"{t.said}\n{t.answer}" for t in side.turns)])

    async def ndjson(self, caller: Caller, session: str) -> str:
        await self._called(caller)
        return f'{{"session":"{self._own(caller, session).header.id}"}}\n'

    async def turn_markdown(self, caller: Caller, session: str, number: int) -> str:
        await self._called(caller)
        for turn in self._own(caller, session).turns:
            if turn.number == number:
                return f"## Turn {number}\n{turn.said}\n{turn.answer}"
        raise InvalidRequest(f"{session} has no turn {number}.")

    async def complete(self, caller: Caller, value: str) -> Sequence[str]:
        listing = await self.sessions(caller, limit=1000)
        return [one.session for one in listing.sessions if one.session.startswith(value)][:101]

    async def pending_notes(self, caller: Caller, session_id: str, prompt: str | None) -> str:
        await self._called(caller)
        return self.hook

    async def changed(self, since: int) -> tuple[int, Sequence[SessionId]]:
        await checkpoint()
        return self._mark, [id for id, mark in self._writes.items() if 0 < since < mark]

    async def wait(self, since: int) -> None:
        while self._mark <= since:
            self._moved = anyio.Event()
            await self._moved.wait()
        await checkpoint()

    def leave(self) -> None:
        self.leaving = True

    async def _called(self, caller: Caller) -> None:
        self.callers.append(caller)
        await checkpoint()
        if self.failure is not None:
            raise self.failure

    def _write(self, side: Side) -> None:
        self._mark += 1
        self._writes[side.header.id] = self._mark
        side.active = START + self._mark
        self._moved.set()

    def _own(self, caller: Caller, session: str) -> Side:
        side = self.sides.get(session)
        if side is None or side.header.owner != caller.principal:
            raise SessionNotFound(session)
        return side

    def _meant(self, caller: Caller, session: str | None) -> Side:
        if session is not None:
            return self._own(caller, session)
        owned = [s for s in self.sides.values() if s.header.owner == caller.principal]
        if not owned:
            raise InvalidRequest("There is no side session to continue here.")
        return max(owned, key=lambda side: side.active)


@asynccontextmanager
async def opened(fake: FakeSidechat) -> AsyncGenerator[Sidechat]:
    await checkpoint()
    yield fake


def _listed(side: Side) -> Listed:
    return Listed(
        session=side.header.id,
        uri=f"sidechat://sessions/{side.header.id}",
        title=side.turns[0].said if side.turns else "A title",
        parent=PARENT,
        parent_name=LIVE,
        created=side.header.created_at,
        active=side.active,
        turns=len(side.turns),
        merged=side.merged,
    )
