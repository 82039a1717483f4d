"""A side session answered by opencode itself: a fork in its own store, which goes when we do.

Facts (clients C3): a fork made by its server keeps system prompt, tools and messages as they were
if every prompt names the same agent and model. opencode has no fork that is not stored, so this
is for people who opted in. Every call is denied twice: by rules that no other one follows, and,
for what needs no permission, by a shell that refuses."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import httpx2
from anyio.lowlevel import checkpoint
from anyio.to_thread import run_sync

from sidechat_mcp.clients import briefing
from sidechat_mcp.clients.opencode.answer import Answer
from sidechat_mcp.clients.opencode.branch import Branch, cut, drop, fork
from sidechat_mcp.clients.opencode.server import Served, ask, serve
from sidechat_mcp.clients.values import mapping
from sidechat_mcp.core.assemble import Context
from sidechat_mcp.errors import AnswerCut, InvalidRequest, ProviderError, Unreachable
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import About, Chunk


@dataclass(slots=True)
class Fork:
    """opencode's own forks at `point`, by one server of the program `program`."""

    point: Point
    program: str
    cwd: str
    environ: Mapping[str, str]
    _served: Served | None = None
    _branches: dict[str, Branch] = field(default_factory=dict[str, Branch])
    _starting: anyio.Lock = field(default_factory=anyio.Lock)
    _ended: list[Served] = field(default_factory=list[Served])

    @property
    def about(self) -> About:
        return About(
            "opencode",
            None,
            "your opencode subscription or key",
            "reads this conversation's history; every tool is denied; opencode keeps a session of"
            " its own for this, which is removed at the end",
            head="client",
        )

    def wire(self, context: Context) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        own = briefing.own(context)
        branch = self._branches.pop(context.session, None)
        try:
            served = await self._serving()
            async with served.client() as client:
                if branch is None or branch.served is not served:
                    at = await run_sync(cut, self.environ, self.point)
                    branch = await fork(served, client, self.point, at)
                async with client.stream("GET", "/event") as events:
                    lines = events.aiter_lines()
                    await anext(lines)  # It listens now; what is asked next is heard whole.
                    words = briefing.words(own[branch.told :])
                    prompt = branch.voice.prompt(words)
                    await ask(client, "POST", f"/session/{branch.id}/prompt_async", prompt)
                    answer = Answer(branch.id)
                    yield _chunks(answer, lines, client)
            if answer.over:
                branch.told = len(own) + 1  # With the answer that the loop is about to keep.
                self._branches[context.session] = branch
                branch = None
        except (httpx2.HTTPError, OSError, StopAsyncIteration) as error:
            raise Unreachable(
                "opencode could not be talked to.", then="See `sidechat doctor`."
            ) from error
        except InvalidRequest as error:
            raise ProviderError(error.message, then=error.then) from error
        finally:
            if branch is not None and not await drop(branch):
                self._lost(branch.served)

    def close(self) -> None:
        served, self._served = self._served, None
        for branch in self._branches.values():
            branch.served.remove(branch.id)
        self._branches.clear()
        if served is not None:
            served.end()
            self._ended.append(served)

    async def gone(self) -> None:
        """Wait until nothing is left of what `close` ended."""
        while self._ended:
            await self._ended.pop().gone()

    def _lost(self, served: Served) -> None:
        """A server that is no more; what it had is removed when the next one comes."""
        self._ended.append(served)
        if self._served is served:
            self._served = None

    async def _serving(self) -> Served:
        async with self._starting:
            if self._served is None or not self._served.runs:
                self._served = await serve(self.program, self.cwd, self.environ)
            return self._served


async def _chunks(
    answer: Answer, lines: AsyncIterator[str], client: httpx2.AsyncClient
) -> AsyncIterator[Chunk]:
    """Raises: ProviderError."""
    while not answer.over:
        await checkpoint()  # Of what came at once, too, somebody may have heard enough.
        try:
            line = await anext(lines)
        except (StopAsyncIteration, httpx2.HTTPError) as error:
            raise AnswerCut(
                "opencode ended before its answer did.",
                then="Ask again; `opencode run` on its own shows why.",
                retryable=True,
            ) from error
        for chunk in answer.take(_event(line)):
            yield chunk
        while answer.waiting:
            kind, id = answer.waiting.pop()
            # Nobody is there who could answer; a refusal lets the model go on.
            path, body = f"/{kind}/{id}/reject", None
            if kind == "permission":
                path, body = f"/{kind}/{id}/reply", {"reply": "reject"}
            await ask(client, "POST", path, body)
    for chunk in answer.end():
        yield chunk


def _event(line: str) -> dict[str, object]:
    if not line.startswith("data:"):
        return {}
    try:
        return mapping(json.loads(line.removeprefix("data:")))
    except ValueError:
        return {}
