"""System messages → the head of a request: replayed in order, as their owner does. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sidechat_mcp.clients.pi.says import Declared
from sidechat_mcp.clients.values import mapping, word
from sidechat_mcp.core import schemas
from sidechat_mcp.core.events import Part, RequestHeader


@dataclass(slots=True)
class Prompt:
    """The system prompt and the tools in force. Nothing is known of them before the first system
    message, and none is there in a file of an old version."""

    texts: list[str] = field(default_factory=list[str])
    sections: dict[str, str] = field(default_factory=dict[str, str])
    tools: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _known: bool = False
    _parts: tuple[Part, Part] | None = None

    def copy(self) -> Prompt:
        return Prompt([*self.texts], {**self.sections}, {**self.tools}, self._known, self._parts)

    def take(self, said: Declared) -> None:
        self._known, self._parts = True, None
        if said.text:
            self.texts.append(said.text)
        for name, part in said.sections.items():
            if part is None:
                self.sections.pop(name, None)
            else:
                self.sections[name] = part
        for name in said.removed:
            self.tools.pop(name, None)
        self.tools.update(said.added)

    def anew(self, said: Declared | None) -> None:
        """A compaction's own system message takes the place of all before it."""
        self.texts, self.sections, self.tools = [], {}, {}
        self._known, self._parts = False, None
        if said is not None:
            self.take(said)

    def header(self, model: str | None) -> RequestHeader:
        """The head of a request to `model` now."""
        if self._parts is None:
            self._parts = self._written() if self._known else (Part(), Part())
        return RequestHeader(*self._parts, model=model)

    def _written(self) -> tuple[Part, Part]:
        system = "\n\n".join(filter(None, (*self.texts, *self.sections.values())))
        listed = (
            (name, word(tool.get("description")) or "", mapping(tool.get("parameters")))
            for name, tool in self.tools.items()
        )
        return Part(system), Part(schemas.dump(listed))
