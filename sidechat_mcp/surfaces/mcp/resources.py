"""Side sessions as resources: listed, read, watched. Parents are no resources."""

from __future__ import annotations

from functools import lru_cache

import mcp.types as T
from mcp.shared.exceptions import MCPError

from sidechat_mcp.errors import InvalidRequest, SidechatError
from sidechat_mcp.sidechat.reports import Caller, Listed
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp.desk import Desk
from sidechat_mcp.surfaces.mcp.errors import Context, request
from sidechat_mcp.surfaces.mcp.hub import Hub
from sidechat_mcp.surfaces.mcp.schemas import MARKDOWN, NDJSON, TEMPLATES
from sidechat_mcp.surfaces.mcp.uris import Place, parsed
from sidechat_mcp.surfaces.mcp.watch import Watch
from sidechat_mcp.surfaces.mcp.words import sound
from sidechat_mcp.surfaces.shapes import instant

PAGE = 50
MOST_CHARS = 8_000_000
"""What one read gives at most; more is refused with the way to get it in pieces."""


class Resources:
    def __init__(self, desk: Desk, hub: Hub, watch: Watch) -> None:
        self._desk = desk
        self._hub = hub
        self._watch = watch
        self.list = request(self._list)
        self.templates = _templates
        self.read = request(self._read)
        self.subscribe = request(self._subscribe)
        self.unsubscribe = request(self._unsubscribe)
        self.listen = request(self._listen)

    async def connected(self, ctx: Context, params: T.NotificationParams) -> None:
        """A legacy client finished its handshake."""
        self._hub.connect(self._desk.caller(ctx).principal, ctx.session)

    async def _list(
        self, ctx: Context, params: T.PaginatedRequestParams | None
    ) -> T.ListResourcesResult:
        service = await self._desk.door()
        caller = self._desk.caller(ctx)
        if self._hub.connected(caller.principal, ctx.session):
            # Who lists is to hear of what is new from then on; nobody else asks for it.
            await self._watch.follow(caller.principal)
        cursor = params.cursor if params is not None else None
        listing = await service.sessions(caller, cursor=cursor, limit=PAGE, recent_only=True)
        return T.ListResourcesResult(
            resources=[_resource(one) for one in listing.sessions], next_cursor=listing.next
        )

    async def _read(
        self, ctx: Context, params: T.ReadResourceRequestParams
    ) -> T.ReadResourceResult:
        service = await self._desk.service()
        place = parsed(params.uri)
        if place is None:
            raise _missing(params.uri)
        text, mime = await _text(service, self._desk.caller(ctx), place, params.uri)
        if len(text) > MOST_CHARS:
            raise InvalidRequest(
                f"That is {len(text)} characters; at most {MOST_CHARS} are read at once.",
                then=f"Read it turn by turn, or run `sidechat log {place.session}`.",
            )
        contents = T.TextResourceContents(uri=params.uri, mime_type=mime, text=sound(text))
        return T.ReadResourceResult(contents=[contents], ttl_ms=0, cache_scope="private")

    async def _subscribe(self, ctx: Context, params: T.SubscribeRequestParams) -> T.EmptyResult:
        service = await self._desk.service()
        caller = self._desk.caller(ctx)
        place = parsed(params.uri)
        if place is None:
            raise _missing(params.uri)
        try:
            await service.side(caller, place.session)
        except InvalidRequest:
            raise _missing(params.uri) from None
        self._hub.subscribe(caller.principal, ctx.session, params.uri)
        await self._watch.follow(caller.principal)
        return T.EmptyResult()

    async def _unsubscribe(self, ctx: Context, params: T.UnsubscribeRequestParams) -> T.EmptyResult:
        self._hub.unsubscribe(self._desk.caller(ctx).principal, ctx.session, params.uri)
        return T.EmptyResult()

    async def _listen(
        self, ctx: Context, params: T.SubscriptionsListenRequestParams
    ) -> T.SubscriptionsListenResult:
        principal = self._desk.caller(ctx).principal
        wants = params.notifications

        async def ready() -> None:
            if wants.resources_list_changed or wants.resource_subscriptions:
                await self._watch.follow(principal)

        return await self._hub.listen(principal, ctx, params, ready)


async def _templates(
    ctx: Context, params: T.PaginatedRequestParams | None
) -> T.ListResourceTemplatesResult:
    return T.ListResourceTemplatesResult(resource_templates=list(TEMPLATES))


async def _text(service: Sidechat, caller: Caller, place: Place, uri: str) -> tuple[str, str]:
    try:
        match place.part:
            case "log":
                await service.side(caller, place.session)
                return await service.ndjson(caller, place.session), NDJSON
            case "turn":
                text = await service.turn_markdown(caller, place.session, place.number)
                return text, MARKDOWN
            case "page":
                return await service.markdown(caller, place.session), MARKDOWN
    except InvalidRequest as error:
        raise _missing(uri, error) from None


def _missing(uri: str, why: SidechatError | None = None) -> MCPError:
    said = sound(str(why)) if why is not None else "There is no such resource."
    return MCPError(T.INVALID_PARAMS, said, {"uri": uri})


def _damage(one: Listed) -> str:
    return f". Damaged: {one.damaged}" if one.damaged else ""


# The same page is asked for again and again, and little of it changes.
@lru_cache(maxsize=1024)
def _resource(one: Listed) -> T.Resource:
    return T.Resource(
        uri=one.uri,
        name=one.session,
        title=sound(one.title),
        description=sound(f"Side session of {one.parent_name}" + _damage(one)),
        mime_type=MARKDOWN,
        annotations=T.Annotations(last_modified=instant(one.active)),
    )
