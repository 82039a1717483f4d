"""An agent that says the lines it was given, for demonstrations and tests. It remembers what it
was asked, can be held before any of its chunks, and yields between them like a real one."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import checkpoint

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Block, Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.errors import ProviderError
from sidechat_mcp.ports.provider import About, Chunk, Delta, Done, Spent, Whole

Said = str | Block | Chunk | ProviderError
Line = str | ProviderError | Sequence[Said] | Callable[[Context], "Line"]
"""One answer: text (said word by word), or its parts in order. Text parts arrive as they are cut;
a block arrives whole; a chunk is passed on as it is; an error is raised there, so what was not
finished before it stays half. Unless the parts end the answer themselves it ends in `Done`."""

ABOUT = About("scripted", None, "nobody: its lines are written down", "calls what its lines call")
_WORD = re.compile(r"\s*\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class Hold:
    """A place to be held at. `reached` is set when an answer comes there, and it goes on once
    `free` is."""

    reached: anyio.Event = field(default_factory=anyio.Event)
    free: anyio.Event = field(default_factory=anyio.Event)


class Scripted:
    """Says `lines` in order, and the last one again for ever. `seen` are the contexts it was
    asked with, in order."""

    def __init__(self, *lines: Line, about: About = ABOUT) -> None:
        if not lines:
            raise ValueError("a script has at least one line")
        self.about = about
        self.seen: list[Context] = []
        self._lines = list(lines)
        self._holds: dict[int, Hold] = {}

    def hold(self, before: int) -> Hold:
        """Hold every answer before its chunk number `before` (from 0), until freed."""
        return self._holds.setdefault(before, Hold())

    def wire(self, context: Context) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        self.seen.append(context)
        line = self._lines.pop(0) if len(self._lines) > 1 else self._lines[0]
        while callable(line):
            line = line(context)
        chunks = self._say([line] if isinstance(line, str | ProviderError) else list(line))
        try:
            yield chunks
        finally:
            await chunks.aclose()

    async def _say(self, parts: Sequence[Said]) -> AsyncGenerator[Chunk]:
        if len(parts) == 1 and isinstance(parts[0], str):
            parts = _WORD.findall(parts[0])
        for n, chunk in enumerate(_chunks(parts)):
            if hold := self._holds.get(n):
                hold.reached.set()
                await hold.free.wait()
            await checkpoint()
            if isinstance(chunk, ProviderError):
                raise chunk
            yield chunk


def _chunks(parts: Sequence[Said]) -> Iterator[Chunk | ProviderError]:
    text = ""
    stop: Done = Done()
    for part in parts:
        match part:
            case str():
                text += part
                yield Delta(part)
                continue
            case ProviderError():
                yield part
                return
            case Text() | Thinking() | ToolUse() | Media() | Verbatim():
                chunk: Chunk = Whole(part)
                if isinstance(part, ToolUse):
                    stop = Done("tool_use")
            case Delta() | Whole() | Spent() | Done():
                chunk = part
        if text and not isinstance(chunk, Delta):
            yield Whole(Text(text))
            text = ""
        yield chunk
        if isinstance(chunk, Done):
            return
    if text:
        yield Whole(Text(text))
    yield stop
