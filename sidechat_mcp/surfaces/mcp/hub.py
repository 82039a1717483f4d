"""Who is to hear that something changed, in both eras of the protocol.

A principal's clients hear of that principal's sessions and of no others. A modern client listens
on a stream of its own; a legacy one has a connection, with a queue that holds each change once
and a task that empties it, so that a client that stopped reading holds up nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import anyio
import mcp.types as T
from anyio.abc import TaskGroup
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from sidechat_mcp.surfaces.mcp.errors import Context, unexpected

MOST_STREAMS = 256
"""Listening streams of one principal."""
MOST_URIS = 1024
"""Subscriptions of one legacy connection, or of one listening stream."""


class _Peer:
    """One legacy connection: what it subscribed to and what it has not been told yet."""

    def __init__(self, session: ServerSession) -> None:
        self.uris: set[str] = set()
        self.done = anyio.CancelScope()
        self._session = session
        self._untold: dict[ServerEvent, None] = {}
        self._told = anyio.Event()

    def tell(self, event: ServerEvent) -> None:
        """Bounded: what is untold already is not told twice."""
        if not isinstance(event, ResourceUpdated) or event.uri in self.uris:
            self._untold[event] = None
            self._told.set()

    async def run(self) -> None:
        with self.done:
            while True:
                await self._told.wait()
                self._told = anyio.Event()
                while self._untold:
                    event = next(iter(self._untold))
                    del self._untold[event]
                    try:
                        await self._send(event)
                    except Exception as error:
                        unexpected(error)  # Nobody waits for this task.

    async def _send(self, event: ServerEvent) -> None:
        match event:
            case ResourceUpdated(uri=uri):
                await self._session.send_resource_updated(uri)
            case ResourcesListChanged():
                await self._session.send_resource_list_changed()
            case PromptsListChanged():
                await self._session.send_prompt_list_changed()
            case ToolsListChanged():
                await self._session.send_tool_list_changed()


class _Audience:
    """Everybody of one principal who is to hear of changes."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self.bus, max_subscriptions=MOST_STREAMS)
        self.uris: Counter[str] = Counter()
        self.streams = 0
        self.peers: dict[int, _Peer] = {}


class Hub:
    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._audiences: dict[str, _Audience] = {}

    def listening(self, principal: str) -> bool:
        """Whether anybody would hear of a change."""
        audience = self._audiences.get(principal)
        return audience is not None and bool(audience.streams or audience.peers)

    def connected(self, principal: str, session: ServerSession) -> bool:
        """Whether a connection was made known by `connect`."""
        audience = self._audiences.get(principal)
        return audience is not None and _identity(session) in audience.peers

    def wanted(self, principal: str) -> Sequence[str]:
        """The URIs whose updates somebody waits for."""
        audience = self._audiences.get(principal)
        if audience is None:
            return ()
        legacy = (uri for peer in audience.peers.values() for uri in peer.uris)
        return list(dict.fromkeys([*audience.uris, *legacy]))

    async def publish(self, principal: str, event: ServerEvent) -> None:
        audience = self._audiences.get(principal)
        if audience is not None:
            for peer in audience.peers.values():
                peer.tell(event)
            await audience.bus.publish(event)

    async def listing_changed(self, principal: str) -> None:
        await self.publish(principal, ResourcesListChanged())

    async def listen(
        self,
        principal: str,
        ctx: Context,
        params: T.SubscriptionsListenRequestParams,
        ready: Callable[[], Awaitable[None]],
    ) -> T.SubscriptionsListenResult:
        """Serve one listening stream until it ends. It is acknowledged once `ready` is done, and
        counts as listening from before that."""
        uris = list(params.notifications.resource_subscriptions or ())
        if len(uris) > MOST_URIS:
            raise _too_many()
        audience = self._audiences.setdefault(principal, _Audience())
        audience.streams += 1
        audience.uris.update(uris)
        try:
            await ready()
            return await audience.listen(ctx, params)
        finally:
            audience.streams -= 1
            audience.uris -= Counter(uris)

    def close(self) -> None:
        """End every listening stream in good order."""
        for audience in self._audiences.values():
            audience.listen.close()

    def connect(self, principal: str, session: ServerSession) -> _Peer:
        """Make a legacy connection known; it is forgotten when it closes."""
        peers = self._audiences.setdefault(principal, _Audience()).peers
        identity = _identity(session)
        if identity not in peers:
            peer = peers[identity] = _Peer(session)
            self._tasks.start_soon(peer.run)

            def gone() -> None:
                del peers[identity]
                peer.done.cancel()

            _when_closed(session, gone)
        return peers[identity]

    def subscribe(self, principal: str, session: ServerSession, uri: str) -> None:
        peer = self.connect(principal, session)
        if len(peer.uris) >= MOST_URIS and uri not in peer.uris:
            raise _too_many()
        peer.uris.add(uri)

    def unsubscribe(self, principal: str, session: ServerSession, uri: str) -> None:
        self.connect(principal, session).uris.discard(uri)


def _too_many() -> MCPError:
    return MCPError(T.INVALID_PARAMS, f"Too many subscriptions; at most {MOST_URIS} at once.")


# The SDK gives a connection no public identity and no public end; these two lines are all that
# reaches behind its face.


def _identity(session: ServerSession) -> int:
    return id(session._connection)  # pyright: ignore[reportPrivateUsage]


def _when_closed(session: ServerSession, callback: Callable[[], None]) -> None:
    session._connection.exit_stack.callback(callback)  # pyright: ignore[reportPrivateUsage]
