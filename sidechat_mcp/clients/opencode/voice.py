"""Who answers in a conversation, in the client's own words: a prompt that names the same again
changes nothing of the next request's head. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.opencode.records import parsed
from sidechat_mcp.clients.values import mapping, word


@dataclass(frozen=True, slots=True)
class Voice:
    """None where it is not known. `system` is what a program gave along with a prompt."""

    agent: str | None = None
    provider: str | None = None
    model: str | None = None
    variant: str | None = None
    system: str | None = None

    def prompt(self, text: str, *, synthetic: bool = False) -> dict[str, Any]:
        """The body of a prompt to the same agent and model."""
        part: dict[str, Any] = {"type": "text", "text": text}
        body: dict[str, Any] = {"parts": [part | {"synthetic": True} if synthetic else part]}
        if self.provider is not None and self.model is not None:
            body["model"] = {"providerID": self.provider, "modelID": self.model}
        more = {"agent": self.agent, "variant": self.variant}
        more |= {} if synthetic else {"system": self.system}
        return body | {name: value for name, value in more.items() if value is not None}


def voice(line: Sequence[tuple[str, bytes | None]]) -> Voice:
    """The voice of the last prompt among these messages (ids, JSON texts)."""
    for _, text in reversed(line):
        said = parsed(text, "message", Tally()) or {}
        if said.get("role") == "user":
            model = mapping(said.get("model"))
            return Voice(
                word(said.get("agent")),
                word(model.get("providerID")),
                word(model.get("modelID")),
                word(model.get("variant")),
                word(said.get("system")),
            )
    return Voice()
