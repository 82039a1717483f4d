"""converse: one turn in a side session (or a native one), and which session is meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sidechat_mcp.core import spending
from sidechat_mcp.core.assemble import Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Usage
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.core.redact import harmless
from sidechat_mcp.core.session import Turn
from sidechat_mcp.core.tokens import METHOD, estimate, of_head
from sidechat_mcp.errors import InvalidRequest, SessionNotFound
from sidechat_mcp.harness.agents import Asked
from sidechat_mcp.harness.loop import Emit
from sidechat_mcp.ports.client import Found
from sidechat_mcp.ports.store import Query, Row
from sidechat_mcp.sidechat.adopt import Adoption
from sidechat_mcp.sidechat.parts import Parts, keyed
from sidechat_mcp.sidechat.reports import Answer, Caller, UsageReport

_ADVICE = {
    "max_tokens": "The answer reached the model's limit; ask it to go on.",
    "aborted": "The answer was cancelled; ask again when you like.",
    "interrupted": "The answer was interrupted; ask again.",
    "error": "Ask again, or see `sidechat doctor`.",
    "blocked": "The model declined; ask differently.",
}
LOOKED_AT = 200
"""How many of the latest side sessions are looked at for one that was forked from a folder."""


@dataclass(frozen=True, slots=True)
class Converse:
    parts: Parts
    adoption: Adoption

    async def __call__(
        self,
        caller: Caller,
        message: str,
        session: str | None,
        key: str | None,
        emit: Emit | None,
    ) -> Answer:
        """Raises: InvalidRequest (nothing was said, or no session is meant), SessionNotFound,
        AnsweringNow, KeyReused."""
        if not harmless(message).strip():
            raise InvalidRequest("The message is empty.", then="Say what you want to ask.")
        row, chosen = await self.meant(caller, session)
        header = row.header
        if header.origin == "mirror":
            raise InvalidRequest(
                f"{header.id} mirrors a conversation of {header.client}; nobody can talk in it.",
                then="Fork it and talk to the fork.",
            )
        await self._fits(row, message)
        once = keyed(caller, "converse", header.id, key, message)
        turn = await self.parts.agents.turn(header.id, Asked(text(message)), once=once, emit=emit)
        return _answer(header.id, turn, chosen)

    async def _fits(self, row: Row, message: str) -> None:
        """Refuse before anything is spent what the model's window cannot hold."""
        window = await self.parts.window(row.header.agent)
        if window is None:
            return
        context = await self.parts.sessions.context(row)
        said = [*context.messages, Message("user", text(message))]
        tokens = estimate(said) + of_head(context.header)
        if tokens > window:
            about = self.parts.about(row.header.agent)
            raise InvalidRequest(
                f"This would be about {tokens} tokens ({METHOD}); {about.model or about.name} takes"
                f" {window}.",
                then="Fork with a model that takes more, or with a summary (`fork --compact`).",
            )

    async def meant(self, caller: Caller, session: str | None) -> tuple[Row, str | None]:
        """The session a caller means, and its title when we had to choose."""
        if session is not None:
            return await self.parts.visible(caller, session), None
        rows = await self._candidates(caller)
        if not rows:
            raise InvalidRequest(
                "There is no side session to continue here.", then="`fork` a conversation first."
            )
        row = max(rows, key=lambda one: one.active)
        if row.damaged:
            row = await self.parts.store.row(row.header.id)  # It says what is wrong.
        return row, (await self.parts.sessions.own(row)).title

    async def _candidates(self, caller: Caller) -> Sequence[Row]:
        live = await self.adoption.live(caller)
        if live is not None:
            return await self._of_line(caller, live)
        query = Query(origin="sidechat", owner=caller.principal, limit=1)
        if caller.principal == "local" and caller.cwd is not None:
            return await self._from_here(replace(query, limit=LOOKED_AT), caller.cwd)
        return await self.parts.store.rows(query)

    async def _from_here(self, query: Query, folder: str) -> Sequence[Row]:
        """The latest that was forked from `folder` (decision 0014). Only where there is none, the
        latest of a conversation that works there and was forked from elsewhere."""
        there = await self.parts.store.rows(replace(query, cwd=folder))
        here = [row for row in there if row.header.made_in is None][:1]
        since = here[0].active if here else None
        for row in await self.parts.store.rows(replace(query, since=since)):
            if row.header.made_in == folder:
                return [row]
        return here or there[:1]

    async def _of_line(self, caller: Caller, live: Found) -> Sequence[Row]:
        found: list[Row] = []
        for mirror in await self.adoption.line(caller, live.client, live.ref):
            query = Query(
                origin="sidechat", owner=caller.principal, parent=mirror.header.id, limit=1
            )
            found.extend(await self.parts.store.rows(query))
        return found


def _answer(session: SessionId, turn: Turn, chosen: str | None) -> Answer:
    reason = turn.reason or "interrupted"
    if turn.of != "turn" or turn.number is None:
        raise SessionNotFound(session)
    detail = f"{turn.detail} " if turn.detail else ""
    return Answer(
        session=session,
        turn=turn.number,
        answer=turn.answer,
        reason=reason,
        status=turn.verdict,
        usage=used(turn.usage),
        cache=spending.cache(turn.usage),
        chosen=chosen,
        advice=detail + _ADVICE[reason] if reason in _ADVICE else "",
    )


def used(usage: Sequence[Usage]) -> UsageReport | None:
    """What some requests came to; None where nothing was reported."""
    spent = spending.total(usage)
    if spent is None:
        return None
    return UsageReport(spent.input, spent.output, spent.cache_read, spent.cache_write)
