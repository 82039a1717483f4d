"""Whether the log still says what was sent: every request of a session rebuilt and compared.

Reads past every cache and compares every event with its checksum, so that a changed byte in
any event is found, in the model's context or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidechat_mcp.core import digest
from sidechat_mcp.core.assemble import assemble
from sidechat_mcp.core.events import Event, RequestSent, Unknown
from sidechat_mcp.errors import DamagedLog
from sidechat_mcp.ports.store import LogStore, Row
from sidechat_mcp.sidechat.agency import hosted_point
from sidechat_mcp.sidechat.reports import Replayed


@dataclass(frozen=True, slots=True)
class Checkup:
    store: LogStore

    async def __call__(self, row: Row) -> Replayed:
        """Verify one session: its lineage's checksums, then each request of its own range."""
        session, first = row.header.id, row.header.seed_length
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
        for event in requests:
            wrong = _differs(event, events[: event.seq], first)
            if wrong:
                why = f"session {session}, event {event.seq}: the rebuilt {wrong}"
                return Replayed(session, len(requests), "failed", why, event.seq)
        return Replayed(session, len(requests), "verified")


def _differs(event: Event, before: Sequence[Event], seed_length: int) -> str:
    """What of the request recorded at `event` is not what the log before it gives."""
    sent = event.body
    assert isinstance(sent, RequestSent)
    context = assemble(before, seed_length=seed_length, session=event.session)
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
