"""Whether the log still says what was sent: every request of a session rebuilt and compared, and
where it went over a wire its bytes too.

Reads past every cache and compares every event with its checksum, so that a changed byte in
any event is found, in the model's context or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sidechat_mcp.core import digest
from sidechat_mcp.core.assemble import Context, assemble
from sidechat_mcp.core.events import Event, RequestSent, Unknown
from sidechat_mcp.errors import DamagedLog, SidechatError
from sidechat_mcp.ports.provider import Provider
from sidechat_mcp.ports.store import LogStore, Row
from sidechat_mcp.sidechat.agency import hosted_point
from sidechat_mcp.sidechat.reports import Replayed

FORM = ("wire", "form")
"""What of a request's wire names says how its bytes were spelled; the others are digests."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """`provider` gives what answers under an agent's name; nothing is asked of it."""

    store: LogStore
    provider: Callable[[str], Provider]

    async def __call__(self, row: Row) -> Replayed:
        """Verify one session: its lineage's checksums, then each request of its own range."""
        session, first = row.header.id, row.header.seed_length
        if row.damaged:
            return Replayed(session, 0, "failed", row.damaged, 0)
        try:
            events = await self.store.read(session, verify=True)
        except DamagedLog as error:
            why = f"session {error.session}, event {error.seq}: {error.message}"
            return Replayed(session, 0, "failed", why, error.seq)
        for event in events:
            if isinstance(event.body, Unknown) and not event.body.ignorable:
                why = f"event {event.seq} is a {event.body.name!r}, of a newer version"
                return Replayed(session, 0, "not rebuildable", why, event.seq)
        sent = [event for event in events if event.seq >= first]
        requests = [event for event in sent if isinstance(event.body, RequestSent)]
        if hosted_point(row.header.agent) is not None:
            return Replayed(session, len(requests), "not rebuildable", "hosted")
        return self._compared(row, requests, events)

    def _compared(self, row: Row, requests: Sequence[Event], events: Sequence[Event]) -> Replayed:
        session, count = row.header.id, len(requests)
        wired, unchecked = False, ""
        for event in requests:
            sent = event.body
            assert isinstance(sent, RequestSent)
            before = events[: event.seq]
            context = assemble(before, seed_length=row.header.seed_length, session=event.session)
            wrong = _differs(sent, context)
            if not wrong and sent.wire:
                wired = True
                wrong, why = self._on_the_wire(row.header.agent, sent.wire, context)
                unchecked = unchecked or why
            if wrong:
                why = f"session {session}, event {event.seq}: the rebuilt {wrong}"
                return Replayed(session, count, "failed", why, event.seq)
        if not wired:
            return Replayed(session, count, "verified")
        return Replayed(
            session, count, "verified", unchecked, wire="not checked" if unchecked else "verified"
        )

    def _on_the_wire(
        self, agent: str, sent: Mapping[str, str], context: Context
    ) -> tuple[str, str]:
        """What of the bytes sent is not what `context` gives, or else why that is not known."""
        try:
            again = self.provider(agent).wire(context)
        except SidechatError as error:
            return "", error.message
        changed = [name for name in sent if name not in FORM and sent[name] != again.get(name)]
        if not changed:
            return "", ""
        if any(sent.get(name) != again.get(name) for name in FORM):
            return "", "The present settings, or this version, spell its requests another way."
        return f"{' and '.join(changed)} on the wire differ from what was sent.", ""


def _differs(sent: RequestSent, context: Context) -> str:
    """What of the request recorded as `sent` is not what the log before it gives."""
    if len(context.messages) != sent.count:
        return f"request has {len(context.messages)} messages, {sent.count} were sent."
    rebuilt = {
        "head": (digest.head_digest(context.header), sent.head_digest),
        "inherited history": (
            digest.messages_digest(context.messages[: context.inherited]),
            sent.prefix_digest,
        ),
        "messages": (digest.messages_digest(context.messages), sent.messages_digest),
    }
    changed = [name for name, (now, then) in rebuilt.items() if now != then]
    return f"{' and '.join(changed)} differ from what was sent." if changed else ""
