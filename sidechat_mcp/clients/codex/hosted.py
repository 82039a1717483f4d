"""A side session answered by Codex itself: an ephemeral fork in an app-server of our own.

Facts (clients C2): `thread/fork` with `lastTurnId` and `ephemeral` keeps model, tools, cache key
and messages as they were, and writes no rollout; rules ride in the first message, for base
instructions would change the head."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.to_thread import run_sync

from sidechat_mcp.clients import briefing, hosting
from sidechat_mcp.clients.codex import gate
from sidechat_mcp.clients.codex.app_server import Answer, Lines, Talk
from sidechat_mcp.clients.codex.gate import Trust
from sidechat_mcp.clients.codex.places import Places, opened
from sidechat_mcp.clients.codex.standing import Standing, items, standing, turn_of
from sidechat_mcp.clients.codex.transcript import rows
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.lodging import end, gone, leave, start
from sidechat_mcp.clients.values import mapping, word
from sidechat_mcp.clients.waiting import Waiting
from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.errors import InvalidRequest, ProviderError, Unreachable
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import About, Chunk

SERVERS_PATIENCE = 10.0
"""Seconds that the client's MCP servers may take: their tools are a part of the head."""


@dataclass(slots=True)
class Running:
    """A fork at work: `told` is how many of the session's own messages, answers left out, it has
    been given."""

    process: Process
    talk: Talk
    thread: str
    model: str | None
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
    """Codex's own fork at `point`. `command` is its program with the live client's settings."""

    point: Point
    command: Sequence[str]
    environ: Mapping[str, str]
    waiting: Waiting[Running] = field(default_factory=Waiting[Running])
    _trust: Trust | None = None

    @property
    def about(self) -> About:
        return hosting.about("codex", "Codex")

    def wire(self, context: Context) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        running = await self.waiting.take(self.point, context.session)
        own = briefing.own(context)
        try:
            if running is None:
                running = await self._start()
            answer = await _ask(running, own)
            yield answer.chunks()
            if answer.done:
                running.told = _asked(own)
                kept, running = running, None
                await self.waiting.keep(self.point, context.session, kept)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise Unreachable(
                "Codex could not be talked to.", then="See `sidechat doctor`."
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
        stood = await run_sync(self._standing)
        for _ in range(2):
            process = await self._process()
            try:
                talk = Talk(Lines(process, BufferedByteReceiveStream(_output(process))))
                await talk.open()
                if await self._gated(talk):
                    return await self._fork(process, talk, stood)
            except BaseException:
                await gone(process)
                raise
            await gone(process)
        raise ProviderError(
            "This Codex does not run the hook that keeps a side conversation read-only, so nothing"
            " was asked.",
            then="Upgrade Codex, or set SIDECHAT_AGENT to another agent.",
        )

    async def _process(self) -> Process:
        program, *settings = self.command
        argv = [program, "app-server", *settings, *gate.switches(self._trust)]
        return await start(argv, self.point.cwd, self.environ)

    async def _gated(self, talk: Talk) -> bool:
        """Whether our hook is in force. What a client tells of one that it does not trust yet
        lets it be vouched for at the next start."""
        listed = await talk.ask("hooks/list", {"cwds": [self.point.cwd or "/"]})
        self._trust = gate.found(listed)
        return self._trust is not None and self._trust.trusted

    async def _fork(self, process: Process, talk: Talk, stood: Standing) -> Running:
        read = await talk.ask("config/read", {"cwd": self.point.cwd, "includeLayers": False})
        config = mapping(read.get("config"))
        asked: dict[str, Any] = {
            "threadId": self.point.ref,
            "lastTurnId": turn_of(self.point.turn),
            "ephemeral": True,
            "excludeTurns": True,
            "sandbox": "read-only",
            "approvalPolicy": "never",
            "config": {"mcp_servers": gate.servers(config), **_settings(stood, config)},
            "model": stood.model,
            "modelProvider": stood.provider,
        }
        forked = await talk.ask("thread/fork", {k: v for k, v in asked.items() if v is not None})
        thread = word(mapping(forked.get("thread")).get("id"))
        if thread is None:
            raise ProviderError("Codex made no fork that could be talked to.")
        added = items(stood, self.point.turn)
        if added:
            await talk.ask("thread/inject_items", {"threadId": thread, "items": list(added)})
        awaited = gate.started(config)
        with anyio.move_on_after(SERVERS_PATIENCE):
            while not awaited <= talk.up:
                await talk.next()
        return Running(process, talk, thread, word(forked.get("model")))

    def _standing(self) -> Standing:
        """Raises: ProviderError where the conversation is not there any more."""
        places = Places(self.environ)
        path = places.file(self.point.ref)
        if path is None:
            raise ProviderError(f"Codex has no conversation {self.point.ref} any more.")
        try:
            with opened(path) as file:
                every = rows(file, partial(places.elsewhere, beside=path), Tally())
                thread = ((place, one) for _, place, one in every)
                found = standing(thread, turn_of(self.point.turn), self.point.record)
        except (OSError, InvalidRequest) as error:
            raise ProviderError(f"The conversation cannot be read: {error}") from error
        if not found.known:
            raise ProviderError(
                "The turn that this side session was forked at is no longer in the conversation.",
                then="Fork it again.",
            )
        return found


def _settings(stood: Standing, config: Mapping[str, Any]) -> dict[str, Any]:
    """What a fork would else take from today's configuration, or have otherwise for its sandbox:
    how hard the model thinks, and whether its provider searches a live or a stored web."""
    chosen: dict[str, Any] = {}
    if stood.effort is not None:
        chosen["model_reasoning_effort"] = stood.effort
    if stood.wide_open and config.get("web_search") is None:
        chosen["web_search"] = "live"
    return chosen


async def _ask(running: Running, own: Sequence[Message]) -> Answer:
    new = [place for place, one in enumerate(own) if one.role != "assistant"][running.told :]
    # A fork that was told nothing yet hears the earlier answers too, under a label.
    fresh = own if not running.told else [own[place] for place in new]
    said = {"type": "text", "text": briefing.words(fresh)}
    begun = await running.talk.ask("turn/start", {"threadId": running.thread, "input": [said]})
    turn = word(mapping(begun.get("turn")).get("id"))
    if turn is None:
        raise ProviderError("Codex began no turn.", retryable=True)
    return Answer(running.talk, running.thread, turn, running.model)


def _asked(own: Sequence[Message]) -> int:
    return sum(one.role != "assistant" for one in own)


def _output(process: Process) -> ByteReceiveStream:
    assert process.stdout is not None
    return process.stdout
