"""fork: a child at the parent's last completed turn, framed as a read-only advisor.

The child is an address: header, framing and key in one transaction, whatever the history's
length. What the report says of the history is computed once per place and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sidechat_mcp.core import excerpt, heads
from sidechat_mcp.core.assemble import Message, assemble
from sidechat_mcp.core.balance import Cut
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import (
    Body,
    ContextCompacted,
    Event,
    Header,
    RequestHeader,
)
from sidechat_mcp.core.framing import FRAMING, SOURCE, condense_order, condense_source
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.core.tokens import METHOD, estimate, of_head
from sidechat_mcp.errors import DamagedLog, InvalidRequest, NothingToFork
from sidechat_mcp.harness.agents import Meta, Seed, injection
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.ports.provider import About
from sidechat_mcp.ports.store import Once, Row
from sidechat_mcp.sidechat.adopt import Adoption, Parent
from sidechat_mcp.sidechat.agency import QUOTING, hosted_name, hosted_point, point
from sidechat_mcp.sidechat.figures import Counting, Figures
from sidechat_mcp.sidechat.parts import Parts, joined, keyed, name, uri
from sidechat_mcp.sidechat.reports import AgentReport, Caller, ForkReport

NEARLY = 0.8
"""From this part of a model's window on, a report warns."""
TAIL = 512
"""How far back from the cut its last turn is looked for."""
SUMMARY = (
    "[Summary of the conversation so far, made of quotes; the turns themselves are left out]\n"
)


@dataclass(slots=True)
class Fork:
    parts: Parts
    adoption: Adoption
    _counting: Counting = field(init=False)

    def __post_init__(self) -> None:
        self._counting = Counting(self.parts.sessions)

    async def __call__(
        self,
        caller: Caller,
        parent: str | None,
        file: Path | None,
        question: str | None,
        key: str | None,
        reuse_untouched: bool,
        compact: bool = False,
    ) -> tuple[ForkReport, Row]:
        """The report, still without a title, and the child.

        Raises: ParentNotFound, SessionNotFound, NothingToFork, UnknownFormat, KeyReused."""
        found = await self.adoption.parent(caller, parent, file)
        try:
            cut = await self._cut(found)
        except DamagedLog:
            if found.anew is None:
                raise
            # Its conversation is still there, where its client keeps it.
            found = await found.anew()
            cut = await self._cut(found)
        row = found.row
        if cut.length == 0:
            raise NothingToFork(
                f"{name(row.header)} has no completed turn yet.",
                then="Fork it after its first answer is complete.",
            )
        child: Row | None = None
        if reuse_untouched:
            once, child = await self._untouched(caller, row, cut, question)
        else:
            once = keyed(caller, "fork", row.header.id, key, question, compact or None)
        if child is not None:
            return await self._report(child, found, cut, again=True), child
        agent = await self._agent(row, cut, hosting=file is None)
        about = self.parts.about(agent)
        if compact and hosted_point(agent) is not None:
            raise InvalidRequest(
                f"{about.name} answers with its own whole history; it cannot begin with a summary.",
                then="Set SIDECHAT_AGENT to another agent, or fork without `--compact`.",
            )
        first = await self._first(row, cut, about, compact)
        seed = Seed(row.header.id, cut.length)
        # A conversation given as a file is talked about where the person stands.
        cwd = caller.cwd or row.header.cwd if file is not None else row.header.cwd
        made_in = caller.cwd if caller.cwd != cwd else None
        meta = Meta("sidechat", caller.principal, agent, cwd, row.header.client, made_in=made_in)
        receipt = await self.parts.agents.create(seed, meta, first, once=once)
        child = await self.parts.store.row(receipt.session)
        return await self._report(child, found, cut, again=receipt.again), child

    async def _cut(self, found: Parent) -> Cut:
        """Where a fork would leave, and that all before it can be read. Raises: DamagedLog."""
        cut = await self.parts.sessions.cut(found.row)
        if cut.length:
            await self._counting.of(found.row, cut.length)
        return cut

    async def _agent(self, row: Row, cut: Cut, *, hosting: bool) -> str:
        """The configured agent; under `auto` a parent's own where it has one with us, or the
        parent's client where that can answer (a mere file's cannot), else the one that quotes."""
        configured, header = self.parts.agent, row.header
        if configured not in ("auto", "client"):
            return configured
        if header.origin != "mirror":
            return header.agent
        hosted = await self._hosted(row, cut) if hosting else None
        if hosted is not None:
            return hosted
        if configured == "client":
            raise InvalidRequest(
                f"{name(header)} cannot be answered by its own client here.",
                then="See `sidechat doctor`, or set SIDECHAT_AGENT to another agent.",
            )
        return QUOTING

    async def _hosted(self, row: Row, cut: Cut) -> str | None:
        header = row.header
        client = self.parts.clients.get(header.client or "")
        if header.origin != "mirror" or client is None or header.client_ref is None:
            return None
        seed = await self.parts.sessions.tail(
            replace(row, head=cut.length), max(0, cut.length - TAIL)
        )
        at = point(client.name, header.client_ref, header.cwd, seed)
        return hosted_name(at) if at is not None and client.hosted(at) is not None else None

    async def _first(self, row: Row, cut: Cut, about: About, compact: bool) -> list[Body]:
        """The child's own first events: a head of its own only where the parent's cannot be
        kept, a summary only on request, and the framing."""
        first: list[Body] = []
        if about.head == "substituted":
            first.append(RequestHeader(model=about.model or about.name))
        elif about.head == "same":
            parent = (await self._counting.of(row, cut.length)).header
            bound = self.parts.bound.get(row.header.client or "", "[]")
            own = heads.carried(parent, about.model, bound)
            if own != parent or self.parts.agents.seams.assemble:
                first.append(own)
        if compact:
            first.append(await self._summary(row, cut))
        turn = TurnId(self.parts.clock.word())
        return [*first, *injection(turn, text(FRAMING), SOURCE)]

    async def _summary(self, row: Row, cut: Cut) -> ContextCompacted:
        """The whole seed in short, in the words of the agent that quotes: it costs nothing."""
        events = (await self.parts.sessions.events(row))[: cut.length]
        context = assemble(events)
        cap = self.parts.cap
        order = Message("context", text(condense_order(cap)), source=condense_source(cap))
        asking = replace(context, messages=[*context.messages, order])
        reply = Reply(TurnId("summary"))
        async with self.parts.agents.provider(QUOTING).stream(asking) as chunks:
            async for chunk in chunks:
                reply.fold(chunk)
        return ContextCompacted(text(SUMMARY + reply.text), cut.number)

    async def _untouched(
        self, caller: Caller, row: Row, cut: Cut, question: str | None
    ) -> tuple[Once, Row | None]:
        """The key under which a prompt forks, and the child that is there already: the same one
        until it has a turn of its own."""
        scope = joined(caller.principal, row.header.id, str(cut.length), question)
        n = 0
        while True:
            once = Once(f"prompt/{scope}/{n}")
            receipt = await self.parts.store.once(once.key)
            if receipt is None:
                return once, None
            child = await self.parts.sessions.row(receipt.session)
            if not (await self.parts.sessions.own(child)).own_turns:
                return once, child
            n += 1

    async def _report(self, child: Row, found: Parent, cut: Cut, *, again: bool) -> ForkReport:
        about = self.parts.about(child.header.agent)
        header = child.header
        parent = found.row.header
        figures = await self._counting.of(found.row, header.seed_length)
        own = await self.parts.sessions.tail(child, header.seed_length)
        head = _head(figures.header, own, about)
        size = _tokens(figures, own)
        full = _filled(about, _counted(figures, own), await self.parts.window(header.agent))
        report = ForkReport(
            session=header.id,
            uri=uri(header.id),
            title="",
            parent=parent.id,
            parent_name=name(parent),
            fork_seq=header.seed_length - 1,
            seed_length=header.seed_length,
            turns=figures.turns,
            tokens=size,
            tokens_method=METHOD,
            cut_turns=cut.turns,
            cut_events=cut.events,
            repaired=figures.repaired,
            compacted=_compacted(own, figures.compacted),
            agent=AgentReport(about.name, about.model, about.pays, about.rights),
            head=head,
            head_digest=figures.head_digest if head == heads.IDENTICAL else None,
            prefix_digest=figures.prefix_digest,
            again=again,
            notice=_notice(parent, about, head, full),
        )
        return _with_transcript(report, found.transcript)


def _head(parent: RequestHeader, own: Sequence[Event], about: About) -> str:
    """What the report says of the head; read back from what the child's log begins with."""
    if about.head != "same":
        return heads.SUBSTITUTED if about.head == "substituted" else heads.REBUILT
    written = [event.body for event in own if isinstance(event.body, RequestHeader)]
    return heads.compared(parent, written[0]) if written else heads.IDENTICAL


def _compacted(own: Sequence[Event], inherited: int | None) -> int | None:
    asked = [event.body.covers for event in own if isinstance(event.body, ContextCompacted)]
    return asked[0] if asked else inherited


def _tokens(figures: Figures, own: Sequence[Event]) -> int:
    for event in own:
        if isinstance(event.body, ContextCompacted):
            return estimate([Message("context", event.body.summary)])
    return figures.tokens


def _counted(figures: Figures, own: Sequence[Event]) -> int:
    """The most that head and history may be for a model: no estimate is better than a count."""
    head = next((e.body for e in own if isinstance(e.body, RequestHeader)), figures.header)
    estimated = _tokens(figures, own) + of_head(head)
    if any(isinstance(event.body, ContextCompacted) for event in own):
        return estimated
    return max(estimated, figures.reported or 0)


def _filled(about: About, tokens: int, window: int | None) -> str:
    """That a history fills a model's window, or nearly; nothing where that is not known."""
    if window is None or tokens <= window * NEARLY:
        return ""
    over = "is more than" if tokens > window else "nearly fills"
    return (
        f"The inherited history (about {tokens} tokens) {over} the window of"
        f" {about.model or about.name} ({window}). Choose another model, or fork with"
        " a summary of it instead (`fork --compact`)."
    )


def _notice(parent: Header, about: About, head: str, full: str) -> str:
    """What must be said first: who answers, that a history is an excerpt, a cache that is given
    up, a history too long."""
    said = [about.notice] if about.notice else []
    if parent.client == excerpt.CLIENT:
        said.append("It knows the excerpt that was handed over, and no more of the conversation.")
    if head.startswith("changed: system prompt"):
        said.append("The system prompt is not the parent's: its prompt cache does not help here.")
    return " ".join([*said, full] if full else said)


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
