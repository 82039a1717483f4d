"""pi's RPC mode: a JSON object a line, either way (facts: pi's rpc.md and json.md, 1.6). Answers
to commands and the events of an answer come on one pipe; whatever else comes is left alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import Process
from anyio.lowlevel import checkpoint
from anyio.streams.buffered import BufferedByteReceiveStream

from sidechat_mcp.clients.pi.records import tokens
from sidechat_mcp.clients.pi.says import Tokens
from sidechat_mcp.clients.values import mapping, sequence, word
from sidechat_mcp.core.content import Text
from sidechat_mcp.errors import AnswerCut, ProviderError
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Spent, Stop, Whole

LINE = 64 * 1024 * 1024
"""Bytes that one line of pi's output may have."""
MOST_CALLS = 32
"""Denied calls after which an answer is given up: somebody does nothing but ask for tools."""
_DIALOGS = ("select", "confirm", "input", "editor")
_STOPS: dict[str, Stop] = {"length": "max_tokens"}


@dataclass(slots=True)
class Pipe:
    process: Process
    lines: BufferedByteReceiveStream

    async def say(self, what: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send(json.dumps(what).encode() + b"\n")

    async def ask(self, command: str, **more: Any) -> dict[str, Any]:
        """A command's answer. Raises: ProviderError, AnswerCut."""
        await self.say({"id": command, "type": command, **more})
        while True:
            said = await self.next()
            if said.get("type") == "response" and said.get("id") == command:
                return accepted(said)

    async def next(self) -> dict[str, Any]:
        """The next object. A dialog that somebody's extension opens is called off: nobody is
        there to answer it. Raises: AnswerCut."""
        while True:
            await checkpoint()  # What is buffered comes without one.
            try:
                line = await self.lines.receive_until(b"\n", LINE)
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound) as error:
                raise AnswerCut(
                    "pi ended before its answer did.",
                    then="Ask again; `pi -p` on its own shows why.",
                    retryable=True,
                ) from error
            try:
                said = mapping(json.loads(line))
            except (ValueError, RecursionError):
                continue
            if said.get("type") != "extension_ui_request":
                return said
            if said.get("method") in _DIALOGS:
                called_off = {"type": "extension_ui_response", "id": said.get("id")}
                await self.say({**called_off, "cancelled": True})


def accepted(response: Mapping[str, Any]) -> dict[str, Any]:
    """What a command brought. Raises: ProviderError when it was refused."""
    if response.get("success") is not True:
        why = word(response.get("error")) or "no reason given"
        raise ProviderError(f"pi did not take the question: {why[:300]}")
    return mapping(response.get("data"))


@dataclass(slots=True)
class Answer:
    """One answer off the pipe: all that comes until pi says that it will not go on by itself."""

    pipe: Pipe
    done: bool = False
    last: Mapping[str, Any] | None = None
    calls: int = 0

    async def chunks(self) -> AsyncIterator[Chunk]:
        spent: list[Tokens] = []
        while True:
            said = await self.pipe.next()
            match said.get("type"):
                case "response":
                    _started(said)
                case "message_update":
                    event = mapping(said.get("assistantMessageEvent"))
                    if event.get("type") == "text_delta":
                        yield Delta(str(event.get("delta", "")))
                case "message_end":
                    message = mapping(said.get("message"))
                    if message.get("role") == "assistant":
                        for text in self._ended(message, spent):
                            yield Whole(Text(text))
                case "tool_execution_end":
                    self._denied()
                case "agent_settled":
                    if total := _total(spent):
                        yield total
                    yield self._finish()
                    return
                case _:
                    pass

    def _ended(self, message: Mapping[str, Any], spent: list[Tokens]) -> list[str]:
        self.last = message
        counted = tokens(message.get("usage"))
        spent += [counted] if counted is not None else []
        if message.get("stopReason") in ("error", "aborted"):
            return []  # It is tried again, or it is what the answer ends with.
        blocks = map(mapping, sequence(message.get("content")))
        return [str(one.get("text", "")) for one in blocks if one.get("type") == "text"]

    def _denied(self) -> None:
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise ProviderError("The model asked for nothing but tools, and none is carried out.")

    def _finish(self) -> Done:
        last = self.last or {}
        stop = word(last.get("stopReason"))
        if stop is None or stop in ("error", "aborted"):
            why = word(last.get("errorMessage")) or "no reason given"
            raise ProviderError(f"pi did not answer: {why[:300]}", retryable=True)
        self.done = True
        model = word(last.get("responseModel")) or word(last.get("model"))
        return Done(_STOPS.get(stop, "end"), model)


def _started(response: Mapping[str, Any]) -> None:
    """Raises: ProviderError when the question began no answer."""
    if response.get("command") != "prompt":
        return
    if accepted(response).get("disposition") == "handled":
        raise ProviderError("An extension of pi's took the question for itself.")


def _total(spent: list[Tokens]) -> Spent | None:
    """The child's own tokens over all requests of an answer."""
    if not spent:
        return None
    return Spent(
        _sum([one.input for one in spent]),
        _sum([one.output for one in spent]),
        _sum([one.cache_read for one in spent]),
        _sum([one.cache_write for one in spent]),
    )


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
