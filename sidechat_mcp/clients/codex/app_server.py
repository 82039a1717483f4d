"""Codex's app-server: JSON-RPC without its version member (facts: clients C2, and its own schema,
0.171). Answers and notifications come on one wire: a process's pipes, an object a line, or a
socket, an object a message."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from anyio.abc import Process
from anyio.lowlevel import checkpoint
from anyio.streams.buffered import BufferedByteReceiveStream

from sidechat_mcp.clients.codex import gate
from sidechat_mcp.clients.values import amount, mapping, sequence, word
from sidechat_mcp.core.content import Text, Thinking
from sidechat_mcp.errors import (
    AnswerCut,
    BadCredentials,
    ContextOverflow,
    Overloaded,
    ProviderError,
    QuotaSpent,
    RateLimited,
    RejectedRequest,
    UnknownModel,
    Unreachable,
)
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Spent, Whole

LINE = 64 * 1024 * 1024
"""Bytes that one line of the client's output may have."""
MOST_CALLS = 32
"""Denied calls after which an answer is given up: somebody does nothing but ask for tools."""
_ABOUT = {"name": "sidechat", "title": "sidechat", "version": "0"}
_ENDS = ("ready", "failed", "cancelled")
_FAILURES: Mapping[str, type[ProviderError]] = {
    "contextWindowExceeded": ContextOverflow,
    "usageLimitExceeded": QuotaSpent,
    "sessionBudgetExceeded": QuotaSpent,
    "rateLimitExceeded": RateLimited,
    "serverOverloaded": Overloaded,
    "internalServerError": Overloaded,
    "modelNotFound": UnknownModel,
    "unauthorized": BadCredentials,
    "badRequest": RejectedRequest,
    "httpConnectionFailed": Unreachable,
    "responseStreamConnectionFailed": Unreachable,
    "responseStreamDisconnected": Unreachable,
    "responseTooManyFailedAttempts": Unreachable,
}
_AGAIN = (Overloaded, RateLimited, Unreachable)


class Wire(Protocol):
    async def send(self, text: bytes) -> None: ...

    async def receive(self) -> bytes:
        """One whole object. Raises: anyio's stream errors when there will be none."""
        ...


@dataclass(slots=True)
class Lines:
    """The pipes of an app-server of our own."""

    process: Process
    read: BufferedByteReceiveStream

    async def send(self, text: bytes) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send(text + b"\n")

    async def receive(self) -> bytes:
        return await self.read.receive_until(b"\n", LINE)


@dataclass(slots=True)
class Talk:
    """`up` are the MCP servers of this client that have come up, or never will."""

    wire: Wire
    asked: int = 0
    up: set[str] = field(default_factory=set[str])

    async def open(self) -> None:
        """Raises: ProviderError, AnswerCut."""
        able = {"experimentalApi": True}
        await self.ask("initialize", {"clientInfo": _ABOUT, "capabilities": able})
        await self._say({"method": "initialized"})

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """A request's result. Raises: ProviderError when it was refused, AnswerCut."""
        self.asked += 1
        await self._say({"id": self.asked, "method": method, "params": params})
        while True:
            said = await self.next()
            if said.get("id") != self.asked or "method" in said:
                continue
            if "error" in said:
                why = word(mapping(said["error"]).get("message")) or "no reason given"
                raise ProviderError(f"Codex did not take {method}: {why[:300]}")
            return mapping(said.get("result"))

    async def next(self) -> dict[str, Any]:
        """The next answer or notification. What the client asks of us is declined: nobody is
        there to decide it. Raises: AnswerCut."""
        while True:
            await checkpoint()  # What is buffered already comes without one.
            try:
                line = await self.wire.receive()
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound) as error:
                raise AnswerCut(
                    "Codex ended before its answer did.",
                    then="Ask again; `codex exec` on its own shows why.",
                    retryable=True,
                ) from error
            try:
                said = mapping(json.loads(line))
            except (ValueError, RecursionError):
                continue
            if "method" in said and "id" in said:
                refused = {"code": -32601, "message": gate.REFUSAL}
                await self._say({"id": said["id"], "error": refused})
                continue
            self._notice(said)
            return said

    def _notice(self, said: Mapping[str, Any]) -> None:
        params = mapping(said.get("params"))
        if said.get("method") == "mcpServer/startupStatus/updated":
            name = word(params.get("name"))
            if name is not None and params.get("status") in _ENDS:
                self.up.add(name)

    async def _say(self, what: Mapping[str, Any]) -> None:
        await self.wire.send(json.dumps(what).encode())


@dataclass(slots=True)
class Answer:
    """One turn of the thread `thread`. Other threads and turns are none of ours."""

    talk: Talk
    thread: str
    turn: str
    model: str | None
    done: bool = False
    calls: int = 0
    heard: dict[str, str] = field(default_factory=dict[str, str])

    async def chunks(self) -> AsyncIterator[Chunk]:
        spent: list[Mapping[str, Any]] = []
        while True:
            said = await self.talk.next()
            params = mapping(said.get("params"))
            if params.get("threadId") != self.thread:
                continue
            turn = word(params.get("turnId")) or word(mapping(params.get("turn")).get("id"))
            if turn != self.turn:
                continue
            match said.get("method"):
                case "item/agentMessage/delta":
                    yield self._delta(params)
                case "item/started":
                    _watch(mapping(params.get("item")))
                case "item/completed":
                    for chunk in self._item(mapping(params.get("item"))):
                        yield chunk
                case "hook/completed":
                    self._denied(mapping(params.get("run")))
                case "thread/tokenUsage/updated":
                    spent.append(mapping(mapping(params.get("tokenUsage")).get("last")))
                case "turn/completed":
                    if spent:
                        yield _total(spent)
                    yield self._finish(mapping(params.get("turn")))
                    return
                case _:
                    pass

    def _delta(self, params: Mapping[str, Any]) -> Delta:
        item, piece = str(params.get("itemId")), str(params.get("delta", ""))
        self.heard[item] = self.heard.get(item, "") + piece
        return Delta(piece)

    def _item(self, item: Mapping[str, Any]) -> list[Chunk]:
        _watch(item)
        match item.get("type"):
            case "agentMessage":
                text, heard = str(item.get("text", "")), self.heard.pop(str(item.get("id")), "")
                rest = text.removeprefix(heard) if text.startswith(heard) else ""
                return [*([Delta(rest)] if rest else []), Whole(Text(text))]
            case "reasoning":
                said = [one for one in sequence(item.get("summary")) if isinstance(one, str)]
                return [Whole(Thinking("\n\n".join(said), "codex"))] if said else []
            case _:
                return []

    def _denied(self, run: Mapping[str, Any]) -> None:
        self.calls += run.get("status") == "blocked"
        if self.calls > MOST_CALLS:
            raise ProviderError("The model asked for nothing but tools, and none is carried out.")

    def _finish(self, turn: Mapping[str, Any]) -> Done:
        if turn.get("status") != "completed":
            raise _failure(turn)
        self.done = True
        return Done("end", self.model)


def _watch(item: Mapping[str, Any]) -> None:
    """Raises: ProviderError when a call is carried out, which no fork of ours may."""
    if item.get("type") in gate.CARRIED_OUT:
        raise ProviderError(
            "Codex began to carry out a call in spite of the gate, so this fork was ended.",
            then="Set SIDECHAT_AGENT to another agent, and report which version this was.",
        )


def _failure(turn: Mapping[str, Any]) -> ProviderError:
    error = mapping(turn.get("error"))
    info = error.get("codexErrorInfo")
    kind = info if isinstance(info, str) else next(iter(mapping(info)), "")
    failure = _FAILURES.get(kind, ProviderError)
    why = word(error.get("message")) or str(turn.get("status") or "no reason given")
    return failure(f"Codex did not answer: {why[:300]}", retryable=issubclass(failure, _AGAIN))


def _total(spent: list[Mapping[str, Any]]) -> Spent:
    """The turn's own tokens over all its requests."""
    return Spent(
        _sum(spent, "inputTokens"),
        _sum(spent, "outputTokens"),
        _sum(spent, "cachedInputTokens"),
        _sum(spent, "cacheWriteInputTokens"),
    )


def _sum(spent: list[Mapping[str, Any]], name: str) -> int | None:
    counted = [count for one in spent if (count := amount(one.get(name))) is not None]
    return sum(counted) if counted else None
