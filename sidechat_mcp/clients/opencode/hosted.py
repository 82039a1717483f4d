"""A side session answered by opencode itself, from a copy of the conversation in a folder of ours.

Facts (clients C3): a prompt to the same agent and model keeps system prompt, tools and messages as
they were. A fork that opencode itself makes is stored beside the parent, where the next
`opencode --continue` would find it; a copy in folders of our own leaves the person's as they are.
Every call is denied twice: by rules that no other one follows, and, for what is carried out
without asking (a command line without a command, like `>file`), by a shell that refuses."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from anyio.lowlevel import checkpoint
from anyio.to_thread import run_sync

from sidechat_mcp.clients import briefing, hosting
from sidechat_mcp.clients.opencode import room as rooms
from sidechat_mcp.clients.opencode import seed
from sidechat_mcp.clients.opencode.answer import Answer
from sidechat_mcp.clients.opencode.places import Places
from sidechat_mcp.clients.opencode.room import Room
from sidechat_mcp.clients.opencode.rules import Rule, denying
from sidechat_mcp.clients.opencode.seed import Cut
from sidechat_mcp.clients.opencode.server import Served, ask, serve
from sidechat_mcp.clients.opencode.voice import Voice
from sidechat_mcp.clients.values import mapping, sequence
from sidechat_mcp.clients.waiting import Waiting
from sidechat_mcp.core.assemble import Context
from sidechat_mcp.errors import AnswerCut, ProviderError, Unreachable
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import About, Chunk


@dataclass(slots=True)
class Running:
    """A fork at work: `told` is how many of the session's own messages it has been given."""

    served: Served
    room: Room
    voice: Voice
    told: int = 0

    @property
    def runs(self) -> bool:
        return self.served.runs

    def end(self) -> None:
        self.served.end()
        self.room.close()

    async def leave(self) -> None:
        await self.gone()  # A server does not care for the end of its input.

    async def gone(self) -> None:
        await self.served.gone()
        self.room.close()


@dataclass(slots=True)
class Fork:
    """opencode's own fork at `point` of a conversation in the database `parent`, by the program
    `program` in the folder `cwd`."""

    point: Point
    parent: Path
    program: str
    cwd: str
    environ: Mapping[str, str]
    waiting: Waiting[Running] = field(default_factory=Waiting[Running])

    @property
    def about(self) -> About:
        return hosting.about("opencode", "opencode")

    def wire(self, context: Context) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        running = await self.waiting.take(self.point, context.session)
        own = briefing.own(context)
        try:
            if running is None:
                running = await self._start()
            prompt = running.voice.prompt(briefing.words(own[running.told :]))
            async with (
                running.served.client() as client,
                client.stream("GET", "/event") as events,
            ):
                lines = events.aiter_lines()
                await anext(lines)  # It listens now: what is asked next is heard whole.
                await ask(client, "POST", f"/session/{self.point.ref}/prompt_async", prompt)
                answer = Answer(self.point.ref)
                yield _chunks(answer, lines, client)
            if answer.over:
                running.told = len(own) + 1  # With the answer that the loop is about to keep.
                kept, running = running, None
                await self.waiting.keep(self.point, context.session, kept)
        except (httpx2.HTTPError, OSError, StopAsyncIteration) as error:
            raise Unreachable(
                "opencode could not be talked to.", then="See `sidechat doctor`."
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
        """Raises: ProviderError, httpx2.HTTPError, OSError."""
        at = await run_sync(seed.cut, self.parent, self.point)
        room = await run_sync(rooms.make, self.environ, Places(self.environ).home)
        try:
            served = await serve(self.program, self.cwd, _apart(self.environ, room), _quiet(room))
            running = Running(served, room, at.voice)
        except BaseException:
            room.close()
            raise
        try:
            async with served.client() as client:
                # Whoever asks first makes it look at its folder and prepare its database.
                rules = await _rules(client, at)
                await run_sync(seed.plant, self.parent, self.point, at, room.database, rules)
                await _denied(client, self.point.ref, rules)
        except BaseException:
            await running.gone()
            raise
        return running


def _apart(environ: Mapping[str, str], room: Room) -> dict[str, str]:
    """The person's environment, but for where the client keeps what it writes."""
    return {
        **environ,
        "XDG_DATA_HOME": str(room.data),
        "XDG_STATE_HOME": str(room.state),
        "OPENCODE_DB": str(room.database),
    }


def _quiet(room: Room) -> dict[str, Any]:
    """Settings with which nothing is shared, updated or compacted, and no command is run."""
    return {
        "shell": str(room.shell),
        "snapshot": False,
        "share": "disabled",
        "autoupdate": False,
        "compaction": {"auto": False, "prune": False},
    }


async def _rules(client: httpx2.AsyncClient, at: Cut) -> Sequence[Rule]:
    """Rules that deny everything: made of those of the parent's agent, then of its session."""
    agents = map(mapping, sequence(await ask(client, "GET", "/agent")))
    own = [one for one in agents if one.get("name") == at.voice.agent][:1]
    known = [rule for one in own for rule in sequence(one.get("permission"))]
    tools = sequence(await ask(client, "GET", "/experimental/tool/ids"))
    return denying([*known, *at.rules], tools)


async def _denied(client: httpx2.AsyncClient, session: str, rules: Sequence[Rule]) -> None:
    """Let the fork show that its rules are the ones it was given. Raises: ProviderError."""
    stands = mapping(await ask(client, "GET", f"/session/{session}"))
    if sequence(stands.get("permission")) != list(rules):
        raise ProviderError(
            "opencode did not take the rules that keep a side conversation read-only, so nothing"
            " was asked.",
            then="Set SIDECHAT_AGENT to another agent.",
        )


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
            await _rejected(client, *answer.waiting.pop())
    for chunk in answer.end():
        yield chunk


async def _rejected(client: httpx2.AsyncClient, kind: str, id: str) -> None:
    """Refuse what nobody is there to answer; the model goes on."""
    if kind == "permission":
        await ask(client, "POST", f"/permission/{id}/reply", {"reply": "reject"})
    else:
        await ask(client, "POST", f"/question/{id}/reject")


def _event(line: str) -> dict[str, object]:
    if not line.startswith("data:"):
        return {}
    try:
        return mapping(json.loads(line.removeprefix("data:")))
    except ValueError:
        return {}
