"""Notices what changed, by whatever process, and has the hub tell it.

One task, started when the first client wants to hear of changes. It sleeps until the log may
have moved, and looks only at the newest sessions: what was written last comes first."""

from __future__ import annotations

from collections.abc import Mapping

import anyio
from anyio.abc import TaskGroup
from mcp.server.subscriptions import ResourceUpdated

from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import SessionNotFound
from sidechat_mcp.sidechat.reports import Caller, Listed
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp.door import Door
from sidechat_mcp.surfaces.mcp.errors import unexpected
from sidechat_mcp.surfaces.mcp.hub import Hub
from sidechat_mcp.surfaces.mcp.uris import parsed

NEWEST = 50
"""How many sessions of a principal are compared with what was there before."""
PAUSE = 0.05
"""Seconds between two looks, so that a burst of writes is told once."""
RECOVERY = 1.0
"""Seconds before trying again after the store failed."""

Page = Mapping[SessionId, Listed]


class Watch:
    def __init__(self, door: Door, hub: Hub, tasks: TaskGroup) -> None:
        self._door = door
        self._hub = hub
        self._tasks = tasks
        self._pages: dict[str, Page] = {}
        self._mark = 0
        self._running = False
        self._lock = anyio.Lock()

    async def follow(self, principal: str) -> None:
        """From when this returns, every change of the principal's sessions is told.

        Raises: what opening the feature raises."""
        service = await self._door()
        async with self._lock:
            if principal in self._pages:
                return
            if not self._running:
                self._mark, _ = await service.changed(0)
                self._running = True
                self._tasks.start_soon(self._run, service)
            self._pages[principal] = await _newest(service, principal)

    async def _run(self, service: Sidechat) -> None:
        try:
            while self._pages or self._lock.locked():
                try:
                    await service.wait(self._mark)
                    await self._look(service)
                except Exception as error:
                    # Nobody waits for this task: it must neither end nor end the server.
                    unexpected(error)
                    await anyio.sleep(RECOVERY)
                await anyio.sleep(PAUSE)
        finally:
            self._running = False

    async def _look(self, service: Sidechat) -> None:
        self._mark, changed = await service.changed(self._mark)
        for principal in list(self._pages):
            if not self._hub.listening(principal):
                del self._pages[principal]
                continue
            before, now = self._pages[principal], await _newest(service, principal)
            self._pages[principal] = now
            if _differs(before, now):
                await self._hub.listing_changed(principal)
            await self._tell(service, principal, set(changed), now)

    async def _tell(
        self, service: Sidechat, principal: str, changed: set[SessionId], now: Page
    ) -> None:
        for uri in self._hub.wanted(principal):
            place = parsed(uri)
            if place is None or place.session not in changed:
                continue
            if place.session in now or await _owned(service, principal, place.session):
                await self._hub.publish(principal, ResourceUpdated(uri=uri))


async def _newest(service: Sidechat, principal: str) -> Page:
    listing = await service.sessions(Caller(principal), limit=NEWEST, recent_only=True)
    return {one.session: one for one in listing.sessions}


async def _owned(service: Sidechat, principal: str, session: SessionId) -> bool:
    try:
        await service.side(Caller(principal), session)
    except SessionNotFound:
        return False
    return True


def _differs(before: Page, now: Page) -> bool:
    """Whether the listing shows something new, renamed or gone; a new order is no difference."""
    if any(id not in before or before[id].title != one.title for id, one in now.items()):
        return True
    oldest = min((one.active for one in now.values()), default=0)
    full = len(now) >= NEWEST
    return any(id not in now and (not full or one.active > oldest) for id, one in before.items())
