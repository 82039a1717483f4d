"""A tool that a session's agent may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sidechat_mcp.core.content import Content
from sidechat_mcp.core.events import Header


@dataclass(frozen=True, slots=True)
class Outcome:
    content: Content
    is_error: bool = False


class Tool(Protocol):
    """`read_only` is the tool's own declaration; the gate also wants it on the allow-list."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the arguments."""
        ...

    @property
    def read_only(self) -> bool: ...

    async def run(self, input: str, session: Header) -> Outcome:
        """Carry out a call of `session`'s agent with `input` (JSON text). What the model can put
        right is an error outcome that says how; nothing is raised for it."""
        ...


Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Binding:
    """A tool of a client's own, `name`, and the workspace tool `ours` that carries it out in a
    side session. `schema` is that of the client's arguments; `translate` makes them ours, and
    raises ValueError, in words for the model, for what ours cannot do."""

    name: str
    ours: str
    description: str
    schema: Mapping[str, Any]
    translate: Callable[[Arguments], Arguments]


class Toolbox(Protocol):
    """The tools there are. Which of them a session's model is told of stands in its header."""

    async def find(self, name: str, session: Header) -> Tool | None:
        """The tool that `session`'s agent means by `name`."""
        ...

    async def offered(self) -> Sequence[Tool]:
        """The tools that a new native session's header lists, in their order."""
        ...
