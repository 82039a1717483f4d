"""What a history adds up to, for a report. A longer one is counted on from a shorter one of the
same session, so that a parent that goes on is not read from its beginning at each fork."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from anyio.to_thread import run_sync

from sidechat_mcp.core import digest, heads, spending
from sidechat_mcp.core.assemble import assemble
from sidechat_mcp.core.digest import Running
from sidechat_mcp.core.events import (
    ContextCompacted,
    Event,
    RequestHeader,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.core.tokens import Weight, weigh
from sidechat_mcp.harness.sessions import Sessions
from sidechat_mcp.ports.store import Row
from sidechat_mcp.sidechat.unswept import unswept

PIECE = 10_000
"""Events that are read at a time."""
KEPT = 256
"""Histories whose figures are kept."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the first `length` events of a session, which are whole turns. `counted` are tokens as
    the parent's own provider counted them last, head and answer included; `head_digest` is
    None where a part of the head is not known."""

    length: int = 0
    header: RequestHeader = field(default_factory=RequestHeader)
    turns: int = 0
    repaired: int = 0
    compacted: int | None = None
    messages: Running = field(default_factory=Running)
    weight: Weight = field(default_factory=Weight)
    counted: int | None = None
    head_digest: str | None = None

    @property
    def tokens(self) -> int:
        return self.weight.tokens

    @property
    def reported(self) -> int | None:
        """`counted`, where that head is one that a child can carry."""
        return self.counted if self.head_digest is not None else None

    @property
    def prefix_digest(self) -> str:
        return self.messages.digest

    def after(self, events: Sequence[Event]) -> Figures:
        """These of a history with `events`, whole turns, behind."""
        bodies = [event.body for event in events]
        compactions = [body for body in bodies if isinstance(body, ContextCompacted)]
        before = self
        if compactions:  # Context begins anew, with a summary that `events` hold.
            before = replace(self, messages=Running(), weight=Weight(), counted=None)
        added = assemble(events)
        counted = spending.reported(bodies)
        numbers = [body.number or 0 for body in bodies if isinstance(body, TurnStart)]
        synthetic = [
            body for body in bodies if isinstance(body, ToolResult) and body.synthetic is not None
        ]
        headed = any(isinstance(body, RequestHeader) for body in bodies)
        header = added.header if headed else self.header
        whole = heads.known(header.system) and heads.known(header.tools)
        return Figures(
            length=self.length + len(events),
            header=header,
            turns=max(numbers, default=0) or self.turns,
            repaired=self.repaired + len(synthetic),
            compacted=compactions[-1].covers if compactions else self.compacted,
            messages=before.messages.after(added.messages),
            weight=before.weight + weigh(added.messages),
            counted=before.counted if counted is None else counted,
            head_digest=digest.head_digest(header) if whole else None,
        )


@dataclass(slots=True)
class Counting:
    """The figures of any history, those of the latest `KEPT` kept."""

    sessions: Sessions
    _kept: OrderedDict[tuple[SessionId, int], Figures] = field(
        default_factory=OrderedDict[tuple[SessionId, int], Figures]
    )

    async def of(self, row: Row, length: int) -> Figures:
        """Of the first `length` events of `row`, which must be whole turns."""
        place = (row.header.id, length)
        found = self._kept.get(place)
        if found is None:
            with unswept():
                found = self._kept[place] = await self._counted(row, self._before(*place), length)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    async def _counted(self, row: Row, figures: Figures, length: int) -> Figures:
        """A long stretch is read piece by piece and not kept: it would take the place of all
        else."""
        while length - figures.length > PIECE:
            window = await self.sessions.passing(row, figures.length, figures.length + PIECE)
            ends = [n for n, event in enumerate(window, 1) if isinstance(event.body, TurnEnd)]
            if not ends:
                break  # A turn longer than that.
            figures = await run_sync(figures.after, window[: ends[-1]])
        events = await self.sessions.tail(replace(row, head=length), figures.length)
        return await run_sync(figures.after, events)

    def _before(self, session: SessionId, length: int) -> Figures:
        shorter = [
            figures
            for (owner, stop), figures in self._kept.items()
            if owner == session and stop < length
        ]
        return max(shorter, key=lambda one: one.length, default=Figures())
