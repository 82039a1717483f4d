"""The feature as one object: what a surface may ask for, in the surface's words.

Every method takes the `Caller` first and lets only errors of `sidechat_mcp.errors` escape.
`session` None means "the one this caller means" (CONTRACT, who is calling)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from sidechat_mcp.core.events import Event, Header
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.core.session import Session
from sidechat_mcp.sidechat.reports import (
    Answer,
    Caller,
    ForkReport,
    Listing,
    Note,
    Reading,
    Replayed,
)

Emit = Callable[[str], Awaitable[None]]
"""Hears the readable text of an answer as it arrives."""


class Sidechat:
    async def fork(
        self,
        caller: Caller,
        *,
        parent: str | None = None,
        question: str | None = None,
        key: str | None = None,
        file: Path | None = None,
        reuse_untouched: bool = False,
        emit: Emit | None = None,
    ) -> ForkReport:
        """Fork `parent` (one of our ids, `CLIENT:ID`, or the caller's live conversation) at its
        last completed turn. With `question` the child's first turn follows at once. With
        `reuse_untouched` (prompts) the same caller, parent, place and question get the same
        child until it has a turn of its own."""
        raise NotImplementedError

    async def converse(
        self,
        caller: Caller,
        message: str,
        *,
        session: str | None = None,
        key: str | None = None,
        emit: Emit | None = None,
    ) -> Answer:
        raise NotImplementedError

    async def merge(
        self,
        caller: Caller,
        *,
        session: str | None = None,
        note: str | None = None,
        draft: bool = False,
    ) -> Note:
        raise NotImplementedError

    async def sessions(
        self,
        caller: Caller,
        *,
        parent: str | None = None,
        cursor: str | None = None,
        limit: int = 20,
        recent_only: bool = False,
    ) -> Listing:
        """The caller's side sessions, newest first; `recent_only` leaves out those idle for
        over 30 days (resource lists). Raises InvalidRequest for a cursor that is not ours."""
        raise NotImplementedError

    async def read(
        self, caller: Caller, session: str, *, start: int | None = None, limit: int = 20
    ) -> Reading:
        """What was said in any session of the caller's, from the turn numbered `start`."""
        raise NotImplementedError

    async def forget(self, caller: Caller, session: str) -> SessionId:
        raise NotImplementedError

    async def side(self, caller: Caller, session: str) -> tuple[Session, Sequence[Event]]:
        """A side session's state and its own events, for resources and `show`.
        Raises SessionNotFound also for sessions that are no side sessions of the caller's."""
        raise NotImplementedError

    async def markdown(self, caller: Caller, session: str) -> str:
        """A side session as Markdown (`core.render.session`)."""
        raise NotImplementedError

    async def ndjson(self, caller: Caller, session: str) -> str:
        """A side session's log with its places, inherited events included."""
        raise NotImplementedError

    async def turn_markdown(self, caller: Caller, session: str, number: int) -> str:
        """One turn. Raises InvalidRequest when there is no such turn."""
        raise NotImplementedError

    async def complete(self, caller: Caller, value: str) -> Sequence[str]:
        """Ids of the caller's side sessions that `value` may mean, by recency: it matches the
        beginning of an id, or words of a title. At most 100."""
        raise NotImplementedError

    async def native(self, caller: Caller, *, system: str | None = None) -> Header:
        """A new native session, with its `request/header`; `converse` talks to it by id."""
        raise NotImplementedError

    async def pending_notes(self, caller: Caller, session_id: str, prompt: str | None) -> str:
        """Hook JSON with the notes that wait for that client conversation, or empty."""
        raise NotImplementedError

    async def replay(self, caller: Caller, session: str | None = None) -> Sequence[Replayed]:
        """Rebuild every request of one session (or all) from the log and compare digests."""
        raise NotImplementedError

    async def next_request(self, caller: Caller, session: str) -> str:
        """What the session's model would be sent next, as canonical lines (for `demo`, `show`)."""
        raise NotImplementedError

    async def changed(self, since: int) -> tuple[int, Sequence[SessionId]]:
        """The present mark and the sessions written after `since`; waits for none."""
        raise NotImplementedError

    async def wait(self, since: int) -> None:
        """Returns when a write after the mark `since` may exist."""
        raise NotImplementedError

    def leave(self) -> None:
        """The process is about to end: a turn that is cut from now on is `interrupted`."""
        raise NotImplementedError
