"""The feature put together for tests: a memory store, scripted agents, conversations by hand."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.lowlevel

from sidechat_mcp.bootstrap import assemble_parts
from sidechat_mcp.config import Config
from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Text, text
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    Draft,
    Reason,
    RequestHeader,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, TurnId
from sidechat_mcp.errors import ParentNotFound
from sidechat_mcp.ports.client import Call, Found, Hosted, Point, Transcript
from sidechat_mcp.ports.provider import About, Chunk, Delta, Done, Provider, Spent, Whole
from sidechat_mcp.ports.store import LogStore
from sidechat_mcp.ports.tool import Toolbox
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.memory import MemoryStore

Line = str | BaseException | Sequence[Chunk] | Callable[[Context], str]


@dataclass
class Speaker:
    """Says its lines in order, the last one for ever; keeps what it was asked."""

    lines: list[Line]
    about: About = field(default_factory=lambda: About("speaker", "speaker-1", "nobody", "none"))
    seen: list[Context] = field(default_factory=list[Context])
    gate: anyio.Event | None = None
    """Waited for before the second chunk of every answer, when given."""
    midway: anyio.Event = field(default_factory=anyio.Event)

    def wire(self, context: Context) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        self.seen.append(context)
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        yield self._chunks(line(context) if callable(line) else line)

    async def _chunks(self, line: str | BaseException | Sequence[Chunk]) -> AsyncIterator[Chunk]:
        await anyio.lowlevel.checkpoint()
        if isinstance(line, BaseException):
            raise line
        if isinstance(line, str):
            line = [Delta(line[:3]), Delta(line[3:]), Whole(Text(line)), Spent(10, 5), Done()]
        for n, chunk in enumerate(line):
            if n == 1:
                self.midway.set()
                if self.gate is not None:
                    await self.gate.wait()
            await anyio.lowlevel.checkpoint()
            yield chunk


@dataclass
class Shelf:
    """A client whose conversations are given as transcripts."""

    transcripts: dict[str, Transcript] = field(default_factory=dict[str, Transcript])
    live: str | None = None
    name: str = "shelf"

    async def locate(self, call: Call) -> Found | None:
        return await self.find(self.live, None) if self.live else None

    async def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        return [Found(self.name, ref, Path(ref), 0) for ref in self.transcripts][:limit]

    async def find(self, ref: str, cwd: str | None) -> Found | None:
        return Found(self.name, ref, Path(ref), 0) if ref in self.transcripts else None

    async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
        if found.ref not in self.transcripts:
            raise ParentNotFound("It is gone.")
        return self.transcripts[found.ref]

    async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
        return self.transcripts[path.name]

    def hosted(self, point: Point) -> Hosted | None:
        return None

    async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
        return None


def conversation(
    *turns: tuple[str, str], ref: str = "r1", reason: Reason = "completed"
) -> list[Draft]:
    """Drafts of a client's closed turns: (said, answered) each."""
    drafts: list[Draft] = []

    def add(body: Body) -> None:
        drafts.append(Draft(EventId(f"{ref}:{len(drafts)}:{hash(repr(body)) & 0xFFFF}"), 0, body))

    add(RequestHeader(model="client-model"))
    for number, (said, answered) in enumerate(turns, 1):
        turn = TurnId(f"t{number}")
        add(TurnStart(turn, number=number))
        add(UserMessage(turn, text(said)))
        add(AssistantMessage(turn, text(answered)))
        add(TurnEnd(turn, reason))
    return drafts


def shelved(*turns: tuple[str, str], ref: str = "r1", **more: object) -> Transcript:
    return Transcript("shelf", ref, conversation(*turns, ref=ref), **more)  # type: ignore[arg-type]


def workshop(
    store: LogStore | None = None,
    *,
    agents: Mapping[str, Provider] | None = None,
    shelf: Shelf | None = None,
    tools: Toolbox | None = None,
    agent: str = "speaker",
    cap: int = 2000,
) -> Sidechat:
    """A `Sidechat` over `store` whose agents are the given speakers."""
    speakers = dict(agents or {"speaker": Speaker(["An answer."])})
    shelf = shelf or Shelf({"r1": shelved(("What now?", "This."), ("And then?", "That."))})
    return assemble_parts(
        Config(Path("unused"), "unused", agent, cap),
        store or MemoryStore(),
        {},
        provider=lambda name: speakers[name],
        clients={shelf.name: shelf},
        tools=tools,
    )
