"""llm: `LogStore.fork`, one row that points at a message of a hash-linked chain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.conversation import Message

_parts: Any = import_module("llm.parts")


class Peer:
    def __init__(self, folder: Path) -> None:
        self._database: Any = import_module("sqlite_utils").Database(str(folder / "logs.db"))
        self._log: Any = import_module("llm.logs").LogStore(self._database)

    async def build(self, messages: Sequence[Message]) -> None:
        self._log.create_thread(id="parent")
        with self._database.atomic():
            self._log.append("parent", [_message(message) for message in messages])

    async def fork(self) -> None:
        self._log.fork(self._log.thread_tip("parent"), forked_from="parent")


def _message(message: Message) -> Any:
    match message.role:
        case "call":
            part = _parts.ToolCallPart("search", json.loads(message.text), message.id)
            return _parts.Message("assistant", [part])
        case "result":
            return _parts.Message(
                "tool", [_parts.ToolResultPart("search", message.text, message.id)]
            )
        case "user" | "assistant":
            return _parts.Message(message.role, [_parts.TextPart(message.text)])
