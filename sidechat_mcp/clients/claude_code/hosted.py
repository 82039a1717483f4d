"""A side session answered by Claude Code itself: its own headless fork, nothing persisted.

Facts (clients C1): `--resume --fork-session --no-session-persistence` keeps system prompt, tools
and messages as they were; rules ride in the first user message, for system prompt switches are
ignored there. Every tool is denied twice: by a hook, which no allow rule outranks, and by the
permission gate on the pipe."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from anyio import to_thread
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from sidechat_mcp.clients import briefing, hosting
from sidechat_mcp.clients.claude_code.program import INTERACTIVE, Started
from sidechat_mcp.clients.lodging import end, fields, gone, leave, start
from sidechat_mcp.clients.waiting import Waiting
from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Text
from sidechat_mcp.errors import AnswerCut, ProviderError, Unreachable
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import About, Chunk, Delta, Done, Spent, Whole

SHOWN = ("omitted", "summarized")
"""How a parent's requests may have thinking shown so that its fork has to be told."""
LINE = 64 * 1024 * 1024
"""Bytes that one line of the client's output may have."""
REFUSAL = "This side conversation is read-only: no tool is carried out."
_DENY = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": REFUSAL,
        }
    }
)
_SETTINGS = json.dumps(
    {
        "hooks": {
            "PreToolUse": [
                {
                    "matcher": "*",
                    "hooks": [{"type": "command", "command": f"printf '%s' '{_DENY}'"}],
                }
            ]
        }
    }
)
CREATED = "cache_creation_input_tokens"


@dataclass(slots=True)
class Running:
    """A fork at work: `told` is how many of the session's own messages it has been given."""

    process: Process
    lines: BufferedByteReceiveStream
    told: int = 0

    @property
    def runs(self) -> bool:
        return self.process.returncode is None

    def end(self) -> None:
        end(self.process)

    async def leave(self) -> None:
        await leave(self.process)

    async def gone(self) -> None:
        await gone(self.process)


@dataclass(slots=True)
class Fork:
    """Claude Code's own fork at `point`. `started` tells how one is started now, `went_on` whether
    the parent has anything behind that point; both look at the client's files, in a thread."""

    point: Point
    started: Callable[[], Started | None]
    environ: Mapping[str, str]
    went_on: Callable[[], bool]
    waiting: Waiting[Running] = field(default_factory=Waiting[Running])

    @property
    def about(self) -> About:
        return hosting.about("claude-code", "Claude Code")

    def wire(self, context: Context) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        running = await self.waiting.take(self.point, context.session)
        own = briefing.own(context)
        try:
            if running is None:
                running = await self._start()
            words = briefing.words(own[running.told :])
            await _say(running.process, {"type": "user", "message": _user(words)})
            answer = _Answer(running)
            yield answer.chunks()
            if answer.done:
                running.told = len(own) + 1  # With the answer that the loop is about to keep.
                kept, running = running, None
                await self.waiting.keep(self.point, context.session, kept)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise Unreachable(
                "Claude Code could not be talked to.", then="See `sidechat doctor`."
            ) from error
        finally:
            if running is not None:
                await running.gone()

    def close(self) -> None:
        self.waiting.close(self.point)

    async def gone(self) -> None:
        """Wait until nothing is left of what `close` ended."""
        await self.waiting.gone(self.point)

    async def _start(self) -> Running:
        started = await to_thread.run_sync(self.started)
        if started is None:
            raise Unreachable("Claude Code is not here any more.", then="See `sidechat doctor`.")
        argv = [*started.command, "-p", "--resume", self.point.ref, "--fork-session"]
        argv += ["--no-session-persistence", "--input-format", "stream-json"]
        argv += ["--output-format", "stream-json"]
        argv += ["--verbose", "--include-partial-messages", "--settings", _SETTINGS]
        if await to_thread.run_sync(self.went_on):
            # Only then: what the client noted of its own head behind the last turn is cut off too.
            argv += ["--resume-session-at", self.point.record]
        if started.entrypoint == INTERACTIVE:
            # A gate on the pipe is also what keeps an interactive parent's list of tools.
            argv += ["--permission-prompt-tool", "stdio"]
        if started.display in SHOWN:
            argv += ["--thinking-display", started.display]
        # The parent's servers were connected when it asked, so the fork waits for them, too.
        more = {
            "CLAUDE_CODE_ENTRYPOINT": started.entrypoint,
            "MCP_CONNECTION_NONBLOCKING": "0",
        }
        if started.display == "omitted":
            more["CLAUDE_CODE_THINKING_DISPLAY_UPDATES"] = "0"  # They come where it is asked for.
        process = await start(argv, self.point.cwd, {**self.environ, **more})
        assert process.stdout is not None
        running = Running(process, BufferedByteReceiveStream(process.stdout))
        opening: dict[str, Any] = {"subtype": "initialize", "hooks": {}}
        await _say(
            process, {"type": "control_request", "request_id": "sidechat", "request": opening}
        )
        return running


@dataclass(slots=True)
class _Answer:
    """Reads one answer off the pipe, denying every call on the way."""

    running: Running
    done: bool = False

    async def chunks(self) -> AsyncIterator[Chunk]:
        model: str | None = None
        while True:
            said = await self._next()
            kind = said.get("type")
            if kind == "stream_event":
                delta = fields(fields(said.get("event")).get("delta"))
                if delta.get("type") == "text_delta":
                    yield Delta(str(delta.get("text", "")))
            elif kind == "assistant":
                message = fields(said.get("message"))
                model = str(message["model"]) if "model" in message else model
                for text in _texts(message):
                    yield Whole(Text(text))
            elif kind == "control_request":
                await self._deny(str(said.get("request_id")))
            elif kind == "result":
                yield _spent(said)
                yield self._finish(said, model)
                return

    async def _next(self) -> dict[str, Any]:
        try:
            line = await self.running.lines.receive_until(b"\n", LINE)
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound) as error:
            raise AnswerCut(
                "Claude Code ended before its answer did.",
                then="Ask again; `claude -p` on its own shows why.",
                retryable=True,
            ) from error
        try:
            return fields(json.loads(line))
        except ValueError:
            return {}

    async def _deny(self, request: str) -> None:
        denied = {"behavior": "deny", "message": REFUSAL}
        response = {"subtype": "success", "request_id": request, "response": denied}
        await _say(self.running.process, {"type": "control_response", "response": response})

    def _finish(self, result: Mapping[str, Any], model: str | None) -> Done:
        if result.get("is_error") or result.get("subtype") != "success":
            why = str(result.get("result") or result.get("subtype") or "no reason given")
            raise ProviderError(f"Claude Code did not answer: {why[:300]}.", retryable=True)
        self.done = True
        return Done("end", model)


def _user(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


def _texts(message: Mapping[str, Any]) -> list[str]:
    blocks = message.get("content")
    found = list(map(fields, cast("list[object]", blocks))) if isinstance(blocks, list) else []
    return [str(block.get("text", "")) for block in found if block.get("type") == "text"]


def _spent(result: Mapping[str, Any]) -> Spent:
    """The child's own tokens: `usage`, for the totals beside it hold the parent's too."""
    usage = fields(result.get("usage"))
    read, write = _count(usage, "cache_read_input_tokens"), _count(usage, CREATED)
    fresh = _count(usage, "input_tokens")
    whole = fresh + (read or 0) + (write or 0) if fresh is not None else None
    return Spent(whole, _count(usage, "output_tokens"), read, write)


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) else None


async def _say(process: Process, what: Mapping[str, Any]) -> None:
    assert process.stdin is not None
    await process.stdin.send(json.dumps(what).encode() + b"\n")
