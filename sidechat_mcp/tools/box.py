"""All tools in one place: the workspace's, those of configured servers, and clients' names.

A session that comes from a client means its client's tools by their names, and no others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Header
from sidechat_mcp.ports.tool import Binding, Outcome, Tool
from sidechat_mcp.tools.served import arguments
from sidechat_mcp.tools.workspace import WORKSPACE


class Served(Protocol):
    """Tools of configured servers, which are connected to when first asked for."""

    async def find(self, called: str) -> Tool | None: ...
    async def tools(self) -> Sequence[Tool]: ...


@dataclass(frozen=True, slots=True)
class Box:
    """`bindings` are those of each client, by its name."""

    bindings: Mapping[str, Sequence[Binding]] = field(default_factory=dict[str, Any])
    served: Served | None = None

    async def find(self, name: str, session: Header) -> Tool | None:
        if session.client is not None:
            bindings = self.bindings.get(session.client, ())
            return next((_bound(one) for one in bindings if one.name == name), None)
        for tool in WORKSPACE:
            if tool.name == name:
                return tool
        return await self.served.find(name) if self.served is not None else None

    async def offered(self) -> Sequence[Tool]:
        served = await self.served.tools() if self.served is not None else ()
        return [*WORKSPACE, *served]


def _bound(binding: Binding) -> Tool:
    return Bound(binding, next(tool for tool in WORKSPACE if tool.name == binding.ours))


@dataclass(frozen=True, slots=True)
class Bound:
    """A client's read tool, carried out by one of the workspace's."""

    binding: Binding
    tool: Tool

    @property
    def name(self) -> str:
        return self.binding.name

    @property
    def description(self) -> str:
        return self.binding.description

    @property
    def schema(self) -> Mapping[str, Any]:
        return self.binding.schema

    @property
    def read_only(self) -> bool:
        return self.tool.read_only

    async def run(self, input: str, session: Header) -> Outcome:
        given = arguments(input)
        if given is None:
            return Outcome(text("The arguments are no JSON object."), is_error=True)
        try:
            ours = self.binding.translate(given)
        except ValueError as error:
            return Outcome(text(str(error)), is_error=True)
        return await self.tool.run(json.dumps(ours), session)
