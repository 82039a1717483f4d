"""openai-agents: `SQLiteSession` has no fork; its items are read and added to a new session."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.conversation import Message


class Peer:
    def __init__(self, folder: Path) -> None:
        os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
        self._made: Any = import_module("agents").SQLiteSession
        self._file = str(folder / "sessions.db")
        self._parent = self._made("parent", self._file)
        self._forks = 0

    async def build(self, messages: Sequence[Message]) -> None:
        await self._parent.add_items([_item(message) for message in messages])

    async def fork(self) -> None:
        self._forks += 1
        child = self._made(f"child-{self._forks}", self._file)
        await child.add_items(await self._parent.get_items())


def _item(message: Message) -> dict[str, Any]:
    match message.role:
        case "user":
            return {"role": "user", "content": message.text}
        case "call":
            called = {"call_id": message.id, "name": "search", "arguments": message.text}
            return {"type": "function_call", **called}
        case "result":
            found = {"call_id": message.id, "output": message.text}
            return {"type": "function_call_output", **found}
        case "assistant":
            said = [{"type": "output_text", "text": message.text}]
            return {"type": "message", "role": "assistant", "content": said}
