"""A program that holds conversations of its own: where it keeps them, which one is calling.

Contract (checked by `testing.client_contract`): nothing here writes to a client's files or
changes their times; reading is pure from bytes to a `Transcript`; what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sidechat_mcp.core.events import Draft
from sidechat_mcp.core.ids import EventId
from sidechat_mcp.ports.provider import Provider


@dataclass(frozen=True, slots=True)
class Call:
    """What is known of a call to us: request `_meta`, our environment, our own ancestors' pids
    (nearest first) and the folder we run in. A tool's call also has the `tool`'s name as we list
    it and its `arguments` as the client sent them: some clients are known by nothing else."""

    meta: Mapping[str, Any]
    environment: Mapping[str, str]
    ancestors: Sequence[int]
    cwd: str
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation on disk. `ref` is the client's own id for it; `active` is when it was last
    written, in milliseconds since 1970; `title` is its first words."""

    client: str
    ref: str
    path: Path
    active: int
    cwd: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """What a reader left out, by reason: `unreadable` lines are findings, the others normal."""

    unreadable: Mapping[str, int] = field(default_factory=dict[str, int])
    ignored: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as events without places.

    `drafts` holds whole closed turns only: each opens with `turn/start`, ends with `turn/end`,
    and has no dangling call (repair wrote synthetic results). Draft ids are the client's id of
    the record and a digest of its content, so the same record always has the same id. A
    `request/header` may come first; `context/compacted` stands where context begins anew.
    `open_turns`, `open_events` and `open_calls` count what follows the last closed turn.
    `delivered` maps note ids of ours that the transcript shows to the record that shows them.

    With `after` this is only what stands behind the draft of that id, which an earlier reading
    gave: `drafts`, `repaired`, `delivered` and what was ignored are then of that part alone; what
    could not be read is counted over all of it.
    """

    client: str
    ref: str
    drafts: Sequence[Draft]
    cwd: str | None = None
    open_turns: int = 0
    open_events: int = 0
    open_calls: int = 0
    repaired: int = 0
    skipped: Skipped = Skipped()
    delivered: Mapping[str, str] = field(default_factory=dict[str, str])
    version: str | None = None
    after: EventId | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A completed turn of a client's conversation, in the client's own ids: its turn's, and that
    of the last record that belongs to it."""

    client: str
    ref: str
    turn: str
    record: str
    cwd: str | None = None


class Client(Protocol):
    @property
    def name(self) -> str:
        """As in `NAME:THEIR-ID`, e.g. `claude-code`."""
        ...

    async def locate(self, call: Call) -> Found | None:
        """The conversation that this call surely comes from, or None; never a guess."""
        ...

    async def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        """The newest conversations, of that folder when given, newest first."""
        ...

    async def find(self, ref: str, cwd: str | None) -> Found | None:
        """The conversation with exactly that id."""
        ...

    async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
        """All of it; with `since_last` it may be only what is new since the last reading.

        Raises: UnknownFormat, ParentNotFound (it vanished)."""
        ...

    async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
        """The same for a file anywhere; its ref is taken from the file."""
        ...

    def hosted(self, point: Point) -> Hosted | None:
        """The client's own headless fork at `point`, read-only and leaving nothing behind; None
        where this client, or this machine, has no such fork."""
        ...

    async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
        """Put a note into the live conversation by the client's own means, starting no turn: the
        door's name when the client took it, None when it has no such door or it is not open."""
        ...


class Hosted(Provider, Protocol):
    """A provider whose answers a client gives. One serves every side session forked at its
    point; `Context.session` tells them apart."""

    def close(self) -> None:
        """End every process that was started, at once."""
        ...
