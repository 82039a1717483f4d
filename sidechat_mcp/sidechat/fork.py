"""fork: a child at the parent's last completed turn, framed as a read-only advisor.

The child is an address: header, framing and key in one transaction, whatever the history's
length. What the report says of the history is computed once per place and kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sidechat_mcp.core import digest
from sidechat_mcp.core.assemble import assemble
from sidechat_mcp.core.balance import Cut
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import (
    Body,
    ContextCompacted,
    Event,
    Header,
    RequestHeader,
    ToolResult,
)
from sidechat_mcp.core.framing import FRAMING, SOURCE
from sidechat_mcp.core.ids import SessionId, TurnId
from sidechat_mcp.core.tokens import METHOD, estimate
from sidechat_mcp.errors import NothingToFork
from sidechat_mcp.harness.agents import Meta, Seed, injection
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.ports.provider import About
from sidechat_mcp.ports.store import Once, Row
from sidechat_mcp.sidechat.adopt import Adoption, Parent
from sidechat_mcp.sidechat.parts import Parts, joined, keyed, name, uri
from sidechat_mcp.sidechat.reports import AgentReport, Caller, ForkReport

KEPT_FIGURES = 256


@dataclass(frozen=True, slots=True)
class Figures:
    """What a seed adds up to."""

    tokens: int
    repaired: int
    compacted: int | None
    head_digest: str | None
    prefix_digest: str


@dataclass(slots=True)
class Fork:
    parts: Parts
    adoption: Adoption
    _figures: OrderedDict[tuple[SessionId, int], Figures] = field(
        default_factory=OrderedDict[tuple[SessionId, int], Figures]
    )

    async def __call__(
        self,
        caller: Caller,
        parent: str | None,
        file: Path | None,
        question: str | None,
        key: str | None,
        reuse_untouched: bool,
    ) -> ForkReport:
        """Raises: ParentNotFound, SessionNotFound, NothingToFork, UnknownFormat, KeyReused."""
        found = await self.adoption.parent(caller, parent, file)
        row = found.row
        cut = await self.parts.sessions.cut(row)
        if cut.length == 0:
            raise NothingToFork(
                f"{name(row.header)} has no completed turn yet.",
                then="Fork it after its first answer is complete.",
            )
        if reuse_untouched:
            once = await self._untouched(caller, row, cut, question)
        else:
            once = keyed(caller, "fork", row.header.id, key, question)
        agent = self._agent(row)
        about = self.parts.about(agent)
        child, again = await self._create(caller, row, cut, agent, about, once)
        return await self._report(child, found, cut, about, again)

    def _agent(self, row: Row) -> str:
        """A native parent's own agent answers its children; a client's model is not ours."""
        if row.header.origin == "mirror" or self.parts.agent != "auto":
            return "quoting" if self.parts.agent == "auto" else self.parts.agent
        return row.header.agent

    async def _create(
        self, caller: Caller, row: Row, cut: Cut, agent: str, about: About, once: Once | None
    ) -> tuple[Row, bool]:
        first: list[Body] = []
        if about.head == "substituted" or agent != row.header.agent:
            first.append(RequestHeader(model=about.model or about.name))
        turn = TurnId(self.parts.clock.word())
        first.extend(injection(turn, text(FRAMING), SOURCE))
        seed = Seed(row.header.id, cut.length)
        meta = Meta("sidechat", caller.principal, agent, row.header.cwd)
        receipt = await self.parts.agents.create(seed, meta, first, once=once)
        return await self.parts.store.row(receipt.session), receipt.again

    async def _untouched(self, caller: Caller, row: Row, cut: Cut, question: str | None) -> Once:
        """The key under which a prompt forks: the same child until it has a turn of its own."""
        scope = joined(caller.principal, row.header.id, str(cut.length), question)
        n = 0
        while True:
            once = Once(f"prompt/{scope}/{n}")
            receipt = await self.parts.store.once(once.key)
            if receipt is None:
                return once
            child = await self.parts.sessions.row(receipt.session)
            if not (await self.parts.sessions.own(child)).own_turns:
                return once
            n += 1

    async def _report(
        self, child: Row, found: Parent, cut: Cut, about: About, again: bool
    ) -> ForkReport:
        header = child.header
        parent = found.row.header
        if again and header.seed_length != cut.length:
            cut = replace(cut, length=header.seed_length)
        figures = await self._figure(found.row, header.seed_length)
        identical = about.head == "same" and header.agent == parent.agent
        report = ForkReport(
            session=header.id,
            uri=uri(header.id),
            title="",
            parent=parent.id,
            parent_name=name(parent),
            fork_seq=header.seed_length - 1,
            seed_length=header.seed_length,
            turns=cut.number,
            tokens=figures.tokens,
            tokens_method=METHOD,
            cut_turns=cut.turns,
            cut_events=cut.events,
            repaired=figures.repaired,
            compacted=figures.compacted,
            agent=AgentReport(about.name, about.model, about.pays, about.rights),
            head="identical" if identical else "substituted",
            head_digest=figures.head_digest if identical else None,
            prefix_digest=figures.prefix_digest,
            again=again,
            notice=about.notice,
        )
        return _with_transcript(report, found.transcript)

    async def _figure(self, parent: Row, length: int) -> Figures:
        place = (parent.header.id, length)
        if place not in self._figures:
            events = (await self.parts.sessions.events(parent))[:length]
            self._figures[place] = _figures(parent.header, events)
            if len(self._figures) > KEPT_FIGURES:
                self._figures.popitem(last=False)
        return self._figures[place]


def _figures(parent: Header, events: Sequence[Event]) -> Figures:
    context = assemble(events, seed_length=len(events), session=parent.id)
    compactions = [event.body for event in events if isinstance(event.body, ContextCompacted)]
    known = context.header.system != RequestHeader().system
    return Figures(
        tokens=estimate(context.messages),
        repaired=sum(
            isinstance(event.body, ToolResult) and event.body.synthetic is not None
            for event in events
        ),
        compacted=compactions[-1].covers if compactions else None,
        head_digest=digest.head_digest(context.header) if known else None,
        prefix_digest=digest.messages_digest(context.messages),
    )


def _with_transcript(report: ForkReport, read: Transcript | None) -> ForkReport:
    """Add what the reader of a client's transcript left out."""
    if read is None:
        return report
    skipped: Mapping[str, int] = read.skipped.unreadable
    return replace(
        report,
        cut_turns=report.cut_turns + read.open_turns,
        cut_events=report.cut_events + read.open_events,
        skipped=dict(skipped),
    )
