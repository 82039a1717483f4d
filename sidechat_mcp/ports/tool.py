"""A tool that a session's agent may call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sidechat_mcp.core.content import Content


@dataclass(frozen=True, slots=True)
class Outcome:
    content: Content
    is_error: bool = False


class Tool(Protocol):
    """`read_only` is the tool's own declaration; the gate also wants it on the allow-list."""

    @property
    def name(self) -> str: ...

    @property
    def read_only(self) -> bool: ...

    async def run(self, input: str) -> Outcome:
        """Carry out a call with `input` (JSON text)."""
        ...
