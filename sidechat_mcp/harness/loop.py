"""One turn between its opening and its end: ask, carry out calls, ask again.

At most one commit to open, one a request, one a call, one to close: what belongs together is
appended together, and only when the log moved meanwhile are facts and decision written apart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import anyio

from sidechat_mcp.core import digest, schemas
from sidechat_mcp.core.assemble import Context, assemble
from sidechat_mcp.core.content import Media, Text, Thinking, ToolUse, Verbatim, text
from sidechat_mcp.core.events import (
    Body,
    ContextMessage,
    Header,
    Reason,
    RequestSent,
    Source,
    ToolCall,
    ToolResult,
)
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.errors import Moved, ProviderError
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.harness.sessions import Sessions, drafts, place
from sidechat_mcp.ports.clock import Clock
from sidechat_mcp.ports.provider import Provider
from sidechat_mcp.ports.store import LogStore, Once, Receipt
from sidechat_mcp.ports.tool import Outcome, Toolbox
from sidechat_mcp.seams import Attempt, GateSeam, Seams

Emit = Callable[[str], Awaitable[None]]
"""Hears the readable text of an answer as it arrives."""

More = Callable[[str], tuple[str, Source] | None]
"""Given a finished answer's text, the next order in the same turn (its words and its source),
or None when the turn may end."""

MOST_REQUESTS = 64
"""A turn that still asks for calls after so many requests ends with `error`."""
GATE = 60.0
"""Seconds that the gate may take over one call; a tool's server may have to be started for it."""
TRIES = 100
"""How often a decision is made again when the log moved under it."""


@dataclass(slots=True)
class Loop:
    store: LogStore
    sessions: Sessions
    clock: Clock
    provider: Provider
    tools: Toolbox
    seams: Seams
    header: Header
    turn: TurnId
    emit: Emit | None = None
    reply: Reply | None = field(default=None)
    """The answer that is arriving, or has arrived and is not in the log yet."""

    async def send(
        self, head: int, bodies: Sequence[Body], once: Once | None = None
    ) -> tuple[Receipt, Context]:
        """Append `bodies` and `request/sent` as a decision made at `head`, and return the request
        that they make. Raises: Moved, KeyReused, what a `request` interceptor raises."""
        session = self.header.id
        row = await self.sessions.row(session)
        if row.head != head:
            raise Moved(session, head, row.head)
        added = drafts(self.clock, bodies)
        events = [*await self.sessions.events(row), *place(session, head, added)]
        context = assemble(events, seed_length=self.header.seed_length, session=session)
        for seam in self.seams.request:
            await seam(context)
        sent = RequestSent(
            self.turn,
            digest.head_digest(context.header),
            digest.messages_digest(context.messages[: context.inherited]),
            digest.messages_digest(context.messages),
            len(context.messages),
            dict(self.provider.wire(context)),
        )
        added += drafts(self.clock, [sent])
        receipt = await self.store.append(session, added, expect=head, once=once)
        return receipt, context

    async def run(self, context: Context, more: More | None) -> tuple[Reason, str | None]:
        """Answer `context`, which has been sent, until the turn may end; returns how it ends.
        What was answered last is left in `reply` for the closing append."""
        for _ in range(MOST_REQUESTS):
            self.reply = reply = Reply(self.turn)
            try:
                await self._listen(context, reply)
            except ProviderError as error:
                return "error", str(error)
            if reply.calls:
                context = await self._carry_out(reply, schemas.names(context.header.tools.text))
                continue
            reason, detail = reply.ending()
            following = more(reply.text) if more is not None and reason == "completed" else None
            if following is None:
                return reason, detail
            words, source = following
            ordered = ContextMessage(self.turn, text(words), source)
            context = await self._send_on([*reply.facts(), ordered])
        return "error", f"The turn still asked for more after {MOST_REQUESTS} requests."

    async def _listen(self, context: Context, reply: Reply) -> None:
        async with self.provider.stream(context) as chunks:
            async for chunk in chunks:
                heard = reply.fold(chunk)
                if heard and self.emit is not None:
                    await self.emit(heard)

    async def _carry_out(self, reply: Reply, listed: frozenset[str]) -> Context:
        """Answer every call of `reply`, each durable before it is started, then ask again.
        `listed` are the tools that the head in force tells the model of: there are no others."""
        pending: list[Body] = reply.facts()
        for use in reply.calls:
            call = ToolCall(self.turn, use.id, use.name, use.input)
            outcome = await self._gate(Attempt(self.header, call))
            if outcome is None and use.name not in listed:
                outcome = _refused(f"There is no tool {use.name!r} here.")
            if outcome is None:
                await self._keep([*pending, call])
                pending = []
                outcome = await self._execute(use)
            pending.append(
                ToolResult(self.turn, use.id, outcome.content, is_error=outcome.is_error)
            )
        return await self._send_on(pending)

    async def _keep(self, facts: Sequence[Body]) -> None:
        await self.store.append(self.header.id, drafts(self.clock, facts), expect=None)
        self.reply = None

    async def _send_on(self, facts: Sequence[Body]) -> Context:
        """Append `facts` and the next request together; apart when the log moved meanwhile."""
        unsaved = facts
        for _ in range(TRIES):
            row = await self.sessions.row(self.header.id)
            try:
                _, context = await self.send(row.head, unsaved)
            except Moved:
                if unsaved:
                    await self._keep(unsaved)
                    unsaved = ()
                continue
            self.reply = None
            return context
        row = await self.sessions.row(self.header.id)
        raise Moved(self.header.id, -1, row.head)

    async def _gate(self, attempt: Attempt) -> Outcome | None:
        """None when the call may be carried out, else what stands in for it. Interceptors see a
        copy: judged, and carried out, is the call itself, whatever they made of theirs."""

        async def end(_: Attempt) -> Outcome | None:
            return None

        chain = end
        for seam in reversed(self.seams.pre_execute):
            chain = _before(seam, chain)
        try:
            outcome = await chain(Attempt(replace(attempt.session), replace(attempt.call)))
            if outcome is None and self.seams.gate is not None:
                with anyio.fail_after(GATE):
                    outcome = await self.seams.gate(attempt)
            return None if outcome is None else _sound(outcome)
        except Exception as error:
            # Whatever goes wrong in a gate, nothing is carried out.
            return _refused(f"The call was not allowed: {type(error).__name__}.")

    async def _execute(self, use: ToolUse) -> Outcome:
        try:
            tool = await self.tools.find(use.name, self.header)
            if tool is None:
                return _refused(f"There is no tool {use.name!r} here.")
            return _sound(await tool.run(use.input, self.header))
        except Exception as error:
            return _refused(f"{use.name} failed: {error}")


def _sound(outcome: object) -> Outcome:
    """`outcome`, which came from outside our own code, when it is one that a log can keep."""
    content: object = outcome.content if isinstance(outcome, Outcome) else None
    blocks = cast("tuple[object, ...]", content) if isinstance(content, tuple) else (None,)
    if isinstance(outcome, Outcome) and all(isinstance(block, _BLOCKS) for block in blocks):
        return outcome
    raise TypeError(f"a {type(outcome).__name__} is no outcome")


_BLOCKS = (Text, Thinking, ToolUse, Media, Verbatim)


def _before(
    seam: GateSeam, following: Callable[[Attempt], Awaitable[Outcome | None]]
) -> Callable[[Attempt], Awaitable[Outcome | None]]:
    async def call(attempt: Attempt) -> Outcome | None:
        return await seam(attempt, following)

    return call


def _refused(why: str) -> Outcome:
    return Outcome(text(why), is_error=True)
