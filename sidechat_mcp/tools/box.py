"""All tools in one place: the workspace's, those of configured servers, and clients' names."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Header
from sidechat_mcp.ports.tool import Outcome, Tool
from sidechat_mcp.tools.workspace import WORKSPACE

Arguments = Mapping[str, Any]
Bindings = Mapping[str, Mapping[str, tuple[str, Callable[[Arguments], Arguments]]]]
"""client → its tool's name → ours, and how its arguments become ours."""


async def _none() -> Sequence[Tool]:
    return ()


@dataclass(frozen=True, slots=True)
class Box:
    """`served` gives the tools of configured servers, connecting when first asked."""

    bindings: Bindings = field(default_factory=dict[str, Any])
    served: Callable[[], Awaitable[Sequence[Tool]]] = _none

    async def find(self, name: str, session: Header) -> Tool | None:
        for tool in WORKSPACE:
            if tool.name == name:
                return tool
        bound = self.bindings.get(session.client or "", {}).get(name)
        if bound is not None:
            ours, translate = bound
            return Bound(name, next(tool for tool in WORKSPACE if tool.name == ours), translate)
        for tool in await self.served():
            if tool.name == name:
                return tool
        return None

    async def offered(self) -> Sequence[Tool]:
        return [*WORKSPACE, *await self.served()]


@dataclass(frozen=True, slots=True)
class Bound:
    """A client's read tool, carried out by one of the workspace's."""

    name: str
    tool: Tool
    translate: Callable[[Arguments], Arguments]

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def schema(self) -> Mapping[str, Any]:
        return self.tool.schema

    @property
    def read_only(self) -> bool:
        return self.tool.read_only

    async def run(self, input: str, session: Header) -> Outcome:
        try:
            given = json.loads(input or "{}")
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return Outcome(text("The arguments are no JSON object."), is_error=True)
        return await self.tool.run(json.dumps(self.translate(cast(Arguments, given))), session)
