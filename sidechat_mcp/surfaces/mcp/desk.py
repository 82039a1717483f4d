"""Where every call is received: who calls, and the feature they reach."""

from __future__ import annotations

from dataclasses import dataclass

from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp.caller import caller
from sidechat_mcp.surfaces.mcp.door import Door
from sidechat_mcp.surfaces.mcp.errors import Context, Hosted


@dataclass(frozen=True, slots=True)
class Desk:
    """`cwd` is our folder where the client started us. `hosted` says that we run inside a side
    session of our own: then everything is listed as ever, and every call is refused."""

    door: Door
    cwd: str | None = None
    hosted: bool = False

    def caller(self, ctx: Context) -> Caller:
        return caller(ctx, self.cwd)

    async def service(self) -> Sidechat:
        """The feature, for a call. Raises: Hosted, and what opening it raises."""
        if self.hosted:
            raise Hosted
        return await self.door()
