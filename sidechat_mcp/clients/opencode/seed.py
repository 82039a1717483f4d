"""What a fork begins with: a conversation's rows up to a completed turn, word for word, in a
database of ours. Its id stays the parent's, for some providers find their cache by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw

from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.opencode.database import Connection, Database, consult, text
from sidechat_mcp.clients.opencode.drafting import named
from sidechat_mcp.clients.opencode.records import parsed
from sidechat_mcp.clients.opencode.rules import Rule
from sidechat_mcp.clients.opencode.transcript import undone
from sidechat_mcp.clients.opencode.voice import Voice, voice
from sidechat_mcp.clients.values import mapping, sequence
from sidechat_mcp.errors import InvalidRequest, ProviderError
from sidechat_mcp.ports.client import Point

T = TypeVar("T")

BUSY = 5_000
"""Milliseconds that the fork's own server is waited for."""
_CLEARED = (
    *("parent_id", "workspace_id", "share_url"),
    *("revert", "time_archived", "time_compacting"),
)
"""What a session has that holds only where it came from."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a conversation is to be forked: its messages up to there, who answered last, and the
    rules that its session had."""

    messages: Sequence[str]
    voice: Voice
    rules: Sequence[Any]


def cut(parent: Path, point: Point) -> Cut:
    """Raises: ProviderError (the turn is not there any more)."""
    return _consulted(parent, lambda database: _cut(database, point))


def plant(parent: Path, point: Point, at: Cut, into: Path, rules: Sequence[Rule]) -> None:
    """Copy the conversation into the database that a server of ours has made, with `rules` as
    those of its session. Raises: ProviderError."""

    def copy(database: Database) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE
        made = cast("Connection", cast("object", apsw.Connection(str(into), flags=flags)))
        with closing(_Ours(made)) as ours:
            ours.copy(database, point.ref, at, rules)

    try:
        _consulted(parent, copy)
    except apsw.Error as error:
        raise ProviderError(f"opencode's fork could not be made: {error}.") from error


@dataclass(frozen=True, slots=True)
class _Ours:
    connection: Connection

    def close(self) -> None:
        self.connection.close(True)

    def copy(self, parent: Database, ref: str, at: Cut, rules: Sequence[Rule]) -> None:
        self.connection.set_busy_timeout(BUSY)
        self.connection.execute("BEGIN IMMEDIATE")
        for session in parent.whole("session", "id", ref):
            cleared = dict.fromkeys(_CLEARED)
            project = self._project(session.get("project_id"))
            own = {"project_id": project, "permission": json.dumps(list(rules))}
            self._put("session", {**session, **cleared, **own})
        back = undone(parent.session(ref))
        for message in at.messages:
            for row in parent.whole("message", "id", message):
                self._put("message", row)
            for row in parent.whole("part", "message_id", message):
                if message == back[0] and text(row.get("id")) == back[1]:
                    break
                self._put("part", row)
        self.connection.execute("COMMIT")

    def _project(self, wanted: Any) -> Any:
        """The project that our server found in the folder: the parent's, by the same rules."""
        found = [row[0] for row in self.connection.execute("SELECT id FROM project")]
        return wanted if wanted in found or not found else found[0]

    def _put(self, table: str, row: dict[str, Any]) -> None:
        columns = {str(one[1]) for one in self.connection.execute(f"PRAGMA table_info({table})")}
        names = [name for name in row if name in columns]
        marks = ",".join("?" * len(names))
        listed = ",".join(f'"{name}"' for name in names)
        values = [row[name] for name in names]
        self.connection.execute(f"INSERT INTO {table} ({listed}) VALUES ({marks})", values)


def _cut(database: Database, point: Point) -> Cut:
    line = database.line(point.ref)
    places = [n for n, (id, _) in enumerate(line) if named(id) == point.record]
    if not places:
        raise ProviderError(
            f"opencode has not got the turn any more that {point.ref} was forked at.",
            then="Fork it again.",
        )
    kept = line[: places[-1] + 1]
    return Cut([id for id, _ in kept], voice(kept), list(_rules(database, point.ref)))


def _rules(database: Database, ref: str) -> Iterator[Any]:
    for session in database.whole("session", "id", ref):
        told = text(session.get("permission"))
        found = parsed(f'{{"rules":{told or "[]"}}}'.encode(), "rules", Tally()) or {}
        yield from sequence(mapping(found).get("rules"))


def _consulted(parent: Path, work: Callable[[Database], T]) -> T:
    """Raises: ProviderError."""
    try:
        return consult(parent, work)
    except InvalidRequest as error:
        raise ProviderError(error.message, then=error.then) from error
