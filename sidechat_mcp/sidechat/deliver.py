"""Bringing an appended note before a client's live model: pending → offered(door) → delivered.

A note is delivered when the client's own transcript shows it, and not before. While one door
offers it no other does; an offer that the client's next completed turn does not show is void."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sidechat_mcp.core import handback
from sidechat_mcp.core.events import MirrorSeen
from sidechat_mcp.core.handback import Handback
from sidechat_mcp.errors import KeyReused
from sidechat_mcp.ports.store import Once, Query, Row
from sidechat_mcp.sidechat.parts import Parts
from sidechat_mcp.sidechat.reports import Caller

NOTHING = "{}"
HOOK_LIMIT = 10_000
"""Code points that the clients' hooks take as additional context (facts: clients B2)."""


@dataclass(frozen=True, slots=True)
class Delivery:
    parts: Parts

    async def state(self, mirror: Row, note: Handback) -> str:
        """`none` for a native parent (its log is the context), else `pending`, `offered: DOOR`
        or `delivered`."""
        if mirror.header.origin != "mirror":
            return "none"
        if await self._seen(mirror, note.note):
            return "delivered"
        turn = await self._turn(mirror)
        offers = await self.parts.store.onces(_door(note.note, turn, ""))
        if offers:
            return f"offered: {offers[0][0].rpartition('/')[2]}"
        return "pending"

    async def offer(self, mirror: Row, note: Handback, door: str) -> bool:
        """Take the right to offer `note` by `door` until the client's next completed turn."""
        turn = await self._turn(mirror)
        session = mirror.header.id
        claim = Once(f"offer/{note.note}/{turn}", door)
        try:
            taken = await self.parts.store.append(session, (), expect=None, once=claim)
        except KeyReused:
            return False
        if taken.again:
            return False
        mark = Once(_door(note.note, turn, door))
        await self.parts.store.append(session, (), expect=None, once=mark)
        return True

    async def hook(self, caller: Caller, ref: str) -> str:
        """Hook JSON with the notes that wait for the client conversation `ref`; without any, the
        JSON that says nothing: an empty text would itself be told to the model (decision 0008)."""
        query = Query(origin="mirror", owner=caller.principal, client_ref=ref, limit=20)
        texts: list[str] = []
        for mirror in await self.parts.store.rows(query):
            for note in await self.waiting(mirror):
                wrapped = handback.wrap(note)
                if sum(map(len, texts)) + len(wrapped) > HOOK_LIMIT:
                    break
                if await self.offer(mirror, note, "hook"):
                    texts.append(wrapped)
        if not texts:
            return NOTHING
        said = {"hookEventName": "UserPromptSubmit", "additionalContext": "\n\n".join(texts)}
        return json.dumps({"hookSpecificOutput": said}, ensure_ascii=True)

    async def waiting(self, mirror: Row) -> Sequence[Handback]:
        """Notes appended to a mirror itself that its client has not shown yet, oldest first."""
        events = await self.parts.sessions.tail(mirror, mirror.header.seed_length)
        seen = {e.body.handback for e in events if isinstance(e.body, MirrorSeen)}
        notes = [note for event in events if (note := handback.read(event)) is not None]
        return [note for note in notes if note.note not in seen]

    async def _seen(self, mirror: Row, note: str) -> bool:
        return await self.parts.store.once(f"seen/{note}") is not None

    async def _turn(self, mirror: Row) -> int:
        return (await self.parts.sessions.cut(mirror)).number


def _door(note: str, turn: int, door: str) -> str:
    return f"offered/{note}/{turn}/{door}"
