"""LangGraph with `AsyncSqliteSaver`: a fork is `update_state(…, as_node="__copy__")`, one more
checkpoint with the whole state in it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypedDict

from benchmarks.conversation import Message

os.environ["LANGSMITH_TRACING"] = "false"
_said: Any = import_module("langchain_core.messages")
_graphs: Any = import_module("langgraph.graph")
add_messages: Any = import_module("langgraph.graph.message").add_messages


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


async def _answer(state: State) -> dict[str, Any]:
    return {}


class Peer:
    def __init__(self, folder: Path) -> None:
        self._file = str(folder / "checkpoints.db")
        self._tip: Any = {"configurable": {"thread_id": "parent"}}
        self._graph: Any = None

    async def build(self, messages: Sequence[Message]) -> None:
        connection = await import_module("aiosqlite").connect(self._file)
        saver = import_module("langgraph.checkpoint.sqlite.aio").AsyncSqliteSaver(connection)
        await saver.setup()
        graph = _graphs.StateGraph(State)
        graph.add_node("model", _answer)
        graph.add_edge(_graphs.START, "model")
        graph.add_edge("model", _graphs.END)
        self._graph = graph.compile(checkpointer=saver)
        said = {"messages": [_message(message) for message in messages]}
        self._tip = await self._graph.aupdate_state(self._tip, said, as_node="model")

    async def fork(self) -> None:
        await self._graph.aupdate_state(self._tip, None, as_node="__copy__")


def _message(message: Message) -> Any:
    match message.role:
        case "user":
            return _said.HumanMessage(message.text, id=message.id)
        case "call":
            call = {"name": "search", "args": json.loads(message.text), "id": message.id}
            return _said.AIMessage("", id=f"{message.id}-asked", tool_calls=[call])
        case "result":
            return _said.ToolMessage(
                message.text, tool_call_id=message.id, id=f"{message.id}-found"
            )
        case "assistant":
            return _said.AIMessage(message.text, id=message.id)
