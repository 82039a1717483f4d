"""The tools: arguments in, one call of the feature, words out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import mcp.types as T
from mcp.shared.exceptions import MCPError

from sidechat_mcp.errors import NewerSchema
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp import words
from sidechat_mcp.surfaces.mcp.arguments import checked
from sidechat_mcp.surfaces.mcp.desk import Desk
from sidechat_mcp.surfaces.mcp.errors import Context, tool
from sidechat_mcp.surfaces.mcp.hub import Hub
from sidechat_mcp.surfaces.mcp.progress import telling
from sidechat_mcp.surfaces.mcp.schemas import PENDING_NOTES, TOOLS
from sidechat_mcp.surfaces.mcp.words import Words

Arguments = Mapping[str, Any]
Act = Callable[[Context, Sidechat, Caller, Arguments], Awaitable[Words]]


class Tools:
    def __init__(self, desk: Desk, hub: Hub) -> None:
        self._desk = desk
        self._hub = hub
        self._told_of_newer = False
        self.list = _list
        self.call = tool(self._call)
        self._acts: Mapping[str, Act] = {
            "fork": _fork,
            "converse": _converse,
            "merge": _merge,
            "sessions": _sessions,
            "read_session": _read_session,
            "forget": self._forget,
            "pending_notes": _pending_notes,
        }

    async def _call(self, ctx: Context, params: T.CallToolRequestParams) -> T.CallToolResult:
        act = self._acts.get(params.name)
        if act is None:
            raise MCPError(T.INVALID_PARAMS, f"Unknown tool: {params.name[:80]}")
        if self._desk.hosted and params.name == PENDING_NOTES.name:
            return words.result(Words("{}", None), ctx.protocol_version)
        given = checked(TOOLS[params.name].input_schema, params.arguments)
        service = await self._desk.service()
        if params.name != PENDING_NOTES.name:  # Nobody sees what a hook is told.
            self._tell_of_newer(service)
        caller = replace(self._desk.caller(ctx), tool=params.name, arguments=params.arguments or {})
        said = await act(ctx, service, caller, given)
        return words.result(said, ctx.protocol_version)

    def _tell_of_newer(self, service: Sidechat) -> None:
        """Say once that a newer version wrote the log; from then on it is read (CONTRACT).

        Raises: NewerSchema."""
        why = service.unwritable
        if isinstance(why, NewerSchema) and not self._told_of_newer:
            self._told_of_newer = True
            raise why

    async def _forget(
        self, ctx: Context, service: Sidechat, caller: Caller, given: Arguments
    ) -> Words:
        gone = await service.forget(caller, given["session"])
        await self._hub.listing_changed(caller.principal)
        return words.forgotten(gone)


async def _list(ctx: Context, params: T.PaginatedRequestParams | None) -> T.ListToolsResult:
    return T.ListToolsResult(tools=list(TOOLS.values()))


async def _fork(ctx: Context, service: Sidechat, caller: Caller, given: Arguments) -> Words:
    report = await telling(
        ctx,
        lambda emit: service.fork(
            caller,
            parent=given.get("parent"),
            question=given.get("question"),
            key=given.get("key"),
            emit=emit,
        ),
    )
    return words.forked(report)


async def _converse(ctx: Context, service: Sidechat, caller: Caller, given: Arguments) -> Words:
    answer = await telling(
        ctx,
        lambda emit: service.converse(
            caller,
            given["message"],
            session=given.get("session"),
            key=given.get("key"),
            emit=emit,
        ),
    )
    return words.answered(answer)


async def _merge(ctx: Context, service: Sidechat, caller: Caller, given: Arguments) -> Words:
    # `key` is taken and not needed: a merge is exactly once by what it covers (law 6).
    note = await service.merge(
        caller,
        session=given.get("session"),
        note=given.get("note"),
        draft=given.get("draft", False),
    )
    return words.merged(note)


async def _sessions(ctx: Context, service: Sidechat, caller: Caller, given: Arguments) -> Words:
    listing = await service.sessions(
        caller,
        parent=given.get("parent"),
        cursor=given.get("cursor"),
        limit=given.get("limit", 20),
    )
    return words.listed(listing)


async def _read_session(ctx: Context, service: Sidechat, caller: Caller, given: Arguments) -> Words:
    reading = await service.read(
        caller, given["session"], start=given.get("from"), limit=given.get("limit", 20)
    )
    return words.read(reading)


async def _pending_notes(
    ctx: Context, service: Sidechat, caller: Caller, given: Arguments
) -> Words:
    hook = await service.pending_notes(caller, given["session_id"], given.get("prompt"))
    return Words(hook, None)
