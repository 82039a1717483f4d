"""Where logs live. A store records events and never interprets a body.

Contract (checked by `testing.store_contract` over every implementation):
- every method is a checkpoint (it yields to the event loop at least once);
- what a method has acknowledged is durable;
- a session's places are contiguous, start at its `seed_length` and are never reused;
- one call is one transaction: all of it happened or none of it;
- only errors of `sidechat_mcp.errors` escape.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from sidechat_mcp.core.events import Draft, Event, Header, Origin
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import OutsideError


@dataclass(frozen=True, slots=True)
class Once:
    """Makes a write happen at most once. `key` is unique in the whole store; `digest` stands for
    the arguments. A `caller`'s key may be dropped after 30 days; an `identity` never."""

    key: str
    digest: str = ""
    kept: Literal["caller", "identity"] = "caller"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Where a write landed: its events are `[seq, head)` of `session` at that moment.

    `again` is True when nothing was written because the same `Once` came before; `seq` is then
    the first event of that earlier write, `head` the session's present head and `digest` the
    `Once`'s own."""

    session: SessionId
    seq: int
    head: int
    again: bool = False
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A session as lists need it. `head` is the next free place; `active` orders sessions by
    their latest write (strictly increasing over the whole store, microseconds since 1970).

    `damaged` says what is wrong with a stored header that cannot be believed; `header` is then
    what the store's own lists know of it, without its time and its agent."""

    header: Header
    head: int
    active: int
    damaged: str = ""

    @property
    def own(self) -> int:
        """How many events are its own."""
        return self.head - self.header.seed_length


@dataclass(frozen=True, slots=True)
class Query:
    """Which sessions to list: newest write first, strictly `active < before` when given,
    `active >= since` when given. None means "any"."""

    origin: Origin | None = None
    owner: str | None = None
    parent: SessionId | None = None
    cwd: str | None = None
    client: str | None = None
    client_ref: str | None = None
    before: int | None = None
    since: int | None = None
    limit: int = 50


class LogStore(Protocol):
    @property
    def unwritable(self) -> OutsideError | None:
        """What every write meets where this log is only read: a newer version wrote it
        (NewerSchema), or it lies where nothing can be written. Else None."""
        ...

    async def create(
        self, header: Header, drafts: Sequence[Draft], *, once: Once | None = None
    ) -> Receipt:
        """Write a new session and its first events. With a parent, the parent must exist and
        reach `seed_length`; the parent is not touched.

        Raises: SessionNotFound (parent), InvalidRequest (the id exists, or the parent is shorter
        than `seed_length`), KeyReused."""
        ...

    async def append(
        self,
        session: SessionId,
        drafts: Sequence[Draft],
        *,
        expect: int | None,
        once: Once | None = None,
    ) -> Receipt:
        """Append at the tip. `expect` is the head that a decision was made on; None is for
        facts, which are taken whatever happened meanwhile. `once` is looked up before `expect`.

        Raises: SessionNotFound, Moved, KeyReused."""
        ...

    async def read(
        self, session: SessionId, start: int = 0, stop: int | None = None, *, verify: bool = False
    ) -> Sequence[Event]:
        """Events `[start, stop)` of the whole lineage in order; an inherited event names its
        owner. `stop` None reads to the head; bounds beyond the log are clipped. With `verify`
        every event is compared with its checksum.

        Raises: SessionNotFound, DamagedLog (an event that cannot be decoded, or fails `verify`)."""
        ...

    async def row(self, session: SessionId, *, damaged: bool = False) -> Row:
        """With `damaged` a row is given also where its header cannot be believed.

        Raises: SessionNotFound, DamagedLog (its header, without `damaged`)."""
        ...

    async def rows(self, query: Query) -> Sequence[Row]:
        """One damaged header spoils no list: its row is there and says so."""
        ...

    async def children(self, session: SessionId) -> Sequence[SessionId]:
        """Sessions whose `parent_session` is this one."""
        ...

    async def once(self, key: str) -> Receipt | None:
        """What an earlier write under `key` did (`again` is True), or None."""
        ...

    async def onces(self, prefix: str) -> Sequence[tuple[str, Receipt]]:
        """Identities and keys that begin with `prefix`, in key order."""
        ...

    async def forget(self, session: SessionId) -> None:
        """Remove a session, its events and the keys that point into it.

        Raises: SessionNotFound, HasChildren."""
        ...

    def hold(self, session: SessionId) -> AbstractAsyncContextManager[None]:
        """Hold the right to run a turn in `session`, across processes; the operating system
        (or the database) gives it back when the holder dies.

        Raises on entering: AnsweringNow, at once, when somebody else holds it."""
        ...

    async def held(self, session: SessionId) -> bool:
        """Whether anybody holds `session` now."""
        ...

    async def changed(self, since: int) -> tuple[int, Sequence[SessionId]]:
        """The newest `active` mark, and the sessions written after the mark `since`
        (`since` 0 gives only the mark and no sessions)."""
        ...

    async def wait(self, since: int) -> None:
        """Return once a write after mark `since` may exist, by this or another process."""
        ...

    async def close(self) -> None: ...
