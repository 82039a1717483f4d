"""Bringing an appended note before a client's live model: pending → offered(door) → delivered.

A note is delivered when the client's own transcript shows it, and not before. While one door
offers it no other does; an offer that the client's next completed turn does not show is void."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from sidechat_mcp.core import excerpt, handback
from sidechat_mcp.core.handback import Handback
from sidechat_mcp.errors import DamagedLog, KeyReused, NewerSchema
from sidechat_mcp.ports.store import Once, Query, Row
from sidechat_mcp.sidechat.adopt import Adoption, line_of, waiting
from sidechat_mcp.sidechat.parts import Parts
from sidechat_mcp.sidechat.reports import Caller

NOTHING = "{}"
HOOK_LIMIT = 10_000
"""Code points that the clients' hooks take as additional context (facts: clients B2)."""


@dataclass(frozen=True, slots=True)
class Delivery:
    parts: Parts
    adoption: Adoption

    async def state(self, caller: Caller, mirror: Row, note: Handback) -> str:
        """`none` for a native parent (its log is the context) and for an excerpt (nobody's live
        conversation), else `pending`, `offered: DOOR` or `delivered`."""
        if mirror.header.origin != "mirror" or mirror.header.client == excerpt.CLIENT:
            return "none"
        if await self.parts.store.once(f"seen/{note.note}") is not None:
            return "delivered"
        offer = await self.parts.store.once(await self._claim(caller, mirror, note))
        return "pending" if offer is None else f"offered: {offer.digest}"

    async def offer(self, caller: Caller, mirror: Row, note: Handback, door: str) -> bool:
        """Take the right to offer `note` by `door` until the client's next completed turn."""
        claim = Once(await self._claim(caller, mirror, note), door)
        try:
            taken = await self.parts.store.append(mirror.header.id, (), expect=None, once=claim)
        except KeyReused:
            return False
        return not taken.again

    async def push(self, caller: Caller, mirror: Row, note: Handback) -> str | None:
        """Offer `note` by the client's own door, where it has one and the person opened it."""
        header = mirror.header
        client = self.parts.clients.get(header.client or "")
        if client is None or header.client_ref is None:
            return None
        door = await client.offer(header.client_ref, header.cwd, handback.wrap(note))
        return door if door and await self.offer(caller, mirror, note, door) else None

    async def hook(self, caller: Caller, ref: str) -> str:
        """Hook JSON with the notes that wait for the client conversation `ref`; without any, the
        JSON that says nothing: an empty text would itself be told to the model (decision 0008)."""
        query = Query(origin="mirror", owner=caller.principal, client_ref=ref, limit=20)
        texts: list[str] = []
        for mirror in await self.parts.store.rows(query):
            # What cannot be read is said where somebody can act on it; a hook brings the rest.
            with suppress(DamagedLog, NewerSchema):
                await self._take(caller, mirror, texts)
        if not texts:
            return NOTHING
        said = {"hookEventName": "UserPromptSubmit", "additionalContext": "\n\n".join(texts)}
        return json.dumps({"hookSpecificOutput": said}, ensure_ascii=True)

    async def _take(self, caller: Caller, mirror: Row, texts: list[str]) -> None:
        """Offer by the hook what waits in `mirror`, as far as there is room in `texts`."""
        for note in await self._undelivered(caller, mirror):
            wrapped = handback.wrap(note)
            if sum(map(len, texts)) + len(wrapped) > HOOK_LIMIT:
                continue  # It may still go by another door; the next one may fit.
            if await self.offer(caller, mirror, note, "hook"):
                texts.append(wrapped)

    async def _undelivered(self, caller: Caller, mirror: Row) -> Sequence[Handback]:
        """What still waits. Only where something was offered before is the conversation read
        again, to see what became of that: a hook answers in milliseconds."""
        notes = await waiting(self.parts, mirror)
        for note in notes:
            if await self.parts.store.onces(f"offered/{note.note}/"):
                await self.adoption.caught_up(caller, mirror)
                return await waiting(self.parts, await self.parts.store.row(mirror.header.id))
        return notes

    async def _claim(self, caller: Caller, mirror: Row, note: Handback) -> str:
        """The key under which one door has a note while the client's conversation stands where it
        does: at its live mirror's last turn."""
        of = line_of(mirror)
        line = await self.adoption.line(caller, *of) if of is not None else ()
        live = line[0] if line else mirror
        number = (await self.parts.sessions.cut(live)).number
        return f"offered/{note.note}/{live.header.id}/{number}"
