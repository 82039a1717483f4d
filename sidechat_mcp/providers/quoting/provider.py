"""The embedded default: an agent that answers with quotes from the conversation it is given.

It looks at the context and at nothing else: no key, no network, no weights, no clock."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio.lowlevel
import anyio.to_thread
import apsw

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import Text
from sidechat_mcp.errors import ProviderError
from sidechat_mcp.ports.provider import About, Chunk, Delta, Done, Whole
from sidechat_mcp.providers.quoting import history, note
from sidechat_mcp.providers.quoting.answer import Reply, answer
from sidechat_mcp.providers.quoting.index import Cache, Index, batches
from sidechat_mcp.providers.quoting.pick import LATEST

ABOUT = About(
    name="quoting",
    model=None,
    pays="nobody: no model is used",
    rights="reads this conversation's history; calls no tools",
    notice=(
        "Answers here are quotes from the conversation, not a model's words."
        " To have a model answer, set SIDECHAT_AGENT (see `sidechat doctor`)."
    ),
    head="substituted",
)


class Quoting:
    """Answers a question with quotes, a condense order with an extractive note. The same context
    gives the same answer, whatever was asked before."""

    def __init__(self) -> None:
        self._cache = Cache()

    @property
    def about(self) -> About:
        return ABOUT

    def wire(self, context: Context) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        chunks = self._chunks(context)
        try:
            yield chunks
        finally:
            await chunks.aclose()

    async def _chunks(self, context: Context) -> AsyncGenerator[Chunk]:
        await anyio.lowlevel.checkpoint()
        reply = await self._reply(context)
        for line in reply.text.splitlines(keepends=True):
            yield Delta(line)
            await anyio.lowlevel.checkpoint()
        yield Whole(Text(reply.text))
        yield Done(verdict=reply.verdict)

    async def _reply(self, context: Context) -> Reply:
        try:
            order = history.order(context)
            if order is not None:
                return await anyio.to_thread.run_sync(_note, context, order)
            return await self._answer(context)
        except apsw.Error as error:
            raise ProviderError(
                "The quoting agent's search index failed.", then="Ask again."
            ) from error

    async def _answer(self, context: Context) -> Reply:
        place, text = history.question(context)
        earlier = [e.question for e in history.exchanges(context) if e.reply]
        shared = min(context.inherited or place, place)
        messages = list(context.messages[:place])
        with self._cache.lend(messages[:shared], context.inherited) as index:
            for batch in batches(messages[:shared], len(index.messages)):
                await anyio.to_thread.run_sync(index.grow, batch)
            return await anyio.to_thread.run_sync(_look_up, index, messages[shared:], text, earlier)


def _look_up(index: Index, own: Sequence[Message], text: str, earlier: Sequence[str]) -> Reply:
    with index.aside(own):
        return answer(index, text, earlier)


def _note(context: Context, order: history.Order) -> Reply:
    stop = context.inherited or len(context.messages)
    start = max(stop - LATEST, 0)
    entries = history.entries(context.messages, start, stop, context.inherited)
    text = note.write(entries, history.exchanges(context), order)
    return Reply(text.split("\n"), None)
