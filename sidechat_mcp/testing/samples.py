"""Small events and headers for suites: a name says which one it is."""

from __future__ import annotations

from collections.abc import Sequence

from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Draft, Event, Header, UserMessage
from sidechat_mcp.core.ids import EventId, SessionId, TurnId

HOUR = 3_600_000_000


class Now:
    """Microseconds since 1970 that pass only when told to."""

    def __init__(self) -> None:
        self.value = 1_790_000_000_000_000

    def __call__(self) -> int:
        return self.value

    def pass_by(self, microseconds: int) -> None:
        self.value += microseconds


def draft(name: str) -> Draft:
    return Draft(EventId(f"event-{name}"), 1_790_000_000_000, UserMessage(TurnId("t"), text(name)))


def drafts(*names: str) -> Sequence[Draft]:
    return [draft(name) for name in names]


def native(id: str, *, owner: str = "local", cwd: str | None = None) -> Header:
    return Header(SessionId(id), 1_790_000_000_000, "native", owner, "scripted", cwd=cwd)


def child(id: str, parent: str, seed_length: int, *, owner: str = "local") -> Header:
    return Header(
        SessionId(id),
        1_790_000_000_000,
        "sidechat",
        owner,
        "scripted",
        parent_session=SessionId(parent),
        seed_length=seed_length,
    )


def mirror(id: str, client: str, client_ref: str, *, owner: str = "local") -> Header:
    return Header(
        SessionId(id),
        1_790_000_000_000,
        "mirror",
        owner,
        "client",
        client=client,
        client_ref=client_ref,
    )


def names(events: Sequence[Event]) -> Sequence[str]:
    """The names the drafts were made with, each with the place it has."""
    return [f"{event.session}:{event.seq} {event.id.removeprefix('event-')}" for event in events]
