"""Our side of every comparison: the feature over a SQLite log, and sessions of any length."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.conversation import turn
from sidechat_mcp.bootstrap import SystemClock, assemble_parts
from sidechat_mcp.config import Config
from sidechat_mcp.core.content import Text, ToolUse, text
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    RequestHeader,
    RequestSent,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.framing import FRAMING, SOURCE
from sidechat_mcp.core.ids import SessionId, TurnId
from sidechat_mcp.harness.agents import Meta, Seed, injection
from sidechat_mcp.harness.sessions import drafts
from sidechat_mcp.providers.scripted import Line, Scripted
from sidechat_mcp.sidechat.parts import keyed
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.sqlite.connection import Durability
from sidechat_mcp.stores.sqlite.store import CACHE, SqliteStore, open_sqlite

AGENT = "scripted"
CALLER = Caller(cwd="/home/somebody/project")
META = Meta("sidechat", CALLER.principal, AGENT, CALLER.cwd)
CLOCK = SystemClock()
CHUNK = 1_000
"""Turns that are written in one transaction."""
_DIGEST = "0123456789abcdef" * 4


@dataclass(frozen=True, slots=True)
class House:
    store: SqliteStore
    sidechat: Sidechat
    provider: Scripted
    made: list[SessionId] = field(default_factory=list[SessionId])
    """The side sessions that `fork` made, in order."""

    async def session(self, turns: int) -> SessionId:
        """A native session with so many completed turns."""
        meta = Meta("native", CALLER.principal, AGENT, CALLER.cwd)
        head = RequestHeader(model="model-1")
        session = (await self.sidechat.parts.agents.create(None, meta, [head])).session
        for start in range(1, turns + 1, CHUNK):
            numbers = range(start, min(start + CHUNK, turns + 1))
            bodies = [body for number in numbers for body in events(number)]
            await self.store.append(session, drafts(CLOCK, bodies), expect=None)
        return session

    async def fork(self, parent: SessionId) -> float:
        """As `sidechat.fork` forks: where the last completed turn ends, with header, framing and
        key in one transaction. The seconds it took, once key and framing were there."""
        parts = self.sidechat.parts
        once = keyed(CALLER, "fork", parent, CLOCK.word())
        first = injection(TurnId(CLOCK.word()), text(FRAMING), SOURCE)
        begun = time.perf_counter()
        cut = await parts.sessions.cut(await parts.sessions.row(parent))
        receipt = await parts.agents.create(Seed(parent, cut.length), META, first, once=once)
        passed = time.perf_counter() - begun
        self.made.append(receipt.session)
        return passed


async def built(folder: Path, turns: int) -> SessionId:
    """A session in a log that is closed again: whoever opens it next starts with an empty
    write-ahead log, as a server does."""
    async with house(folder) as made:
        return await made.session(turns)


@asynccontextmanager
async def house(
    folder: Path, *lines: Line, durability: Durability = "FULL", cache: int = CACHE
) -> AsyncGenerator[House]:
    """The feature over `folder/log.db`, whose model says `lines`."""
    provider = Scripted(*(lines or ("An answer.",)))
    store = await open_sqlite(folder / "log.db", durability=durability, cache_bytes=cache)
    try:
        config = Config(folder, str(folder / "log.db"), AGENT)
        made = assemble_parts(config, store, {}, provider=lambda _: provider, clients={})
        yield House(store, made, provider)
    finally:
        await store.close()


def events(number: int) -> Iterator[Body]:
    """One completed turn as our loop writes it."""
    id = TurnId(f"turn-{number}")
    yield TurnStart(id, number=number)
    for message in turn(number):
        match message.role:
            case "user":
                yield UserMessage(id, text(message.text))
                yield RequestSent(id, _DIGEST, _DIGEST, _DIGEST, number)
            case "call":
                use = ToolUse(message.id, "search", message.text)
                yield AssistantMessage(id, (use,), stop="tool_use")
                yield ToolCall(id, message.id, "search", message.text)
            case "result":
                yield ToolResult(id, message.id, text(message.text))
                yield RequestSent(id, _DIGEST, _DIGEST, _DIGEST, number)
            case "assistant":
                yield AssistantMessage(id, (Text(message.text),), stop="end")
    yield Usage(id, 1_000 * number, 250)
    yield TurnEnd(id, "completed")
