"""What an argument may be completed to: side sessions by recency and title, and turn numbers."""

from __future__ import annotations

from collections.abc import Sequence

import mcp.types as T

from sidechat_mcp.errors import SessionNotFound
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp.desk import Desk
from sidechat_mcp.surfaces.mcp.errors import Context, request

MOST = 100
"""What the protocol allows in one answer."""
SESSIONS = ("session", "parent", "id")


class Completion:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.complete = request(self._complete)

    async def _complete(self, ctx: Context, params: T.CompleteRequestParams) -> T.CompleteResult:
        service = await self._desk.service()
        values = await _values(service, self._desk.caller(ctx), params)
        few = list(values)[:MOST]
        return T.CompleteResult(
            completion=T.Completion(
                values=few,
                total=len(values) if len(values) <= MOST else None,
                has_more=len(values) > MOST,
            )
        )


async def _values(
    service: Sidechat, caller: Caller, params: T.CompleteRequestParams
) -> Sequence[str]:
    name, value = params.argument.name, params.argument.value
    if name in SESSIONS:
        return await service.complete(caller, value)
    if name == "n" and isinstance(params.ref, T.ResourceTemplateReference):
        told = (params.context.arguments if params.context is not None else None) or {}
        return await _turns(service, caller, told.get("id", ""), value)
    return ()


async def _turns(service: Sidechat, caller: Caller, session: str, value: str) -> Sequence[str]:
    """Its own turns' numbers, newest first."""
    try:
        state, _ = await service.side(caller, session)
    except SessionNotFound:
        return ()
    numbers = [str(turn.number) for turn in reversed(state.own_turns) if turn.number is not None]
    return [number for number in numbers if number.startswith(value)]
