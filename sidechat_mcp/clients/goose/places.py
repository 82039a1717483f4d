"""Where Goose keeps its sessions, and which one is calling: it says so with each call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import database, files
from sidechat_mcp.clients.database import Database, text
from sidechat_mcp.clients.goose.transcript import NAME, Row, Session, first_words, told
from sidechat_mcp.clients.values import instant, word
from sidechat_mcp.core.content import Text
from sidechat_mcp.errors import ParentNotFound, SidechatError
from sidechat_mcp.ports.client import Call, Found, Transcript

SESSION = "agent-session-id"
WHAT = "Goose"
TABLES = frozenset({"sessions", "messages", "schema_version"})
"""All others are none of our business."""
LONGEST = 32 * 1024 * 1024
"""Bytes of the longest message that is read."""
ABOVE = 8
"""How many agents may stand between a person's session and the one that calls."""

_SESSION = ("id", "session_type", "name", "working_dir", "updated_at", "parent_session_id")


@dataclass(frozen=True, slots=True)
class Places:
    """Goose's own file, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def name(self) -> str:
        return NAME

    def calling(self, call: Call) -> Found | None:
        """The session that calls; for an agent's agent, the person's session above it."""
        ref = word(call.meta.get(SESSION))
        return self._look(lambda rows: _above(rows, ref)) if ref is not None else None

    def awaited(self, call: Call) -> bool:
        return False

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        path = self.file

        def listed(rows: Database) -> Sequence[Found]:
            found = (one for one in _sessions(rows, "") if one.persons)
            ours = (one for one in found if cwd is None or files.same(one.cwd, cwd))
            newest = sorted(ours, key=lambda one: -one.updated)[:limit]
            return [_found(path, one, rows) for one in newest]

        try:
            return database.consult(path, WHAT, TABLES, listed)
        except SidechatError:
            return []

    def find(self, ref: str, cwd: str | None) -> Found | None:
        return self._look(lambda rows: _session(rows, ref)) if files.is_ref(ref) else None

    def read(self, path: Path, ref: str | None) -> Transcript:
        """`DATABASE#ID` names one session of a file with several."""
        path, named = database.split(path) if ref is None else (path, ref)

        def whole(rows: Database) -> Transcript:
            if not rows.columns["messages"] or not rows.columns["sessions"]:
                raise files.alien(WHAT, "it has no tables `sessions` and `messages`")
            wanted = named or database.one_of(
                path, WHAT, [one.id for one in _sessions(rows, "") if one.persons]
            )
            session = _session(rows, wanted)
            if session is None:
                raise ParentNotFound(
                    f"{path.name} has no session {wanted!r} of a person.", then=files.THEN
                )
            return told(session, _rows(rows, wanted), _version(rows))

        return database.consult(path, WHAT, TABLES, whole)

    @property
    def file(self) -> Path:
        root, home = self.environ.get("GOOSE_PATH_ROOT"), files.home(self.environ)
        if root:
            kept = Path(root) / "data"
        elif sys.platform == "win32":
            roaming = self.environ.get("APPDATA")
            kept = Path(roaming or home / "AppData" / "Roaming") / "Block" / "goose" / "data"
        else:
            named = self.environ.get("XDG_DATA_HOME")
            kept = (Path(named) if named else home / ".local" / "share") / "goose"
        return kept / "sessions" / "sessions.db"

    def _look(self, which: Callable[[Database], Session | None]) -> Found | None:
        path = self.file

        def look(rows: Database) -> Found | None:
            session = which(rows) if rows.columns["sessions"] else None
            return _found(path, session, rows) if session is not None else None

        try:
            return database.consult(path, WHAT, TABLES, look)
        except SidechatError:
            return None


def _session(rows: Database, ref: str) -> Session | None:
    """A person's session."""
    found = next(_sessions(rows, "WHERE id = ?", ref), None)
    return found if found is not None and found.persons else None


def _above(rows: Database, ref: str) -> Session | None:
    wanted: str | None = ref
    for _ in range(ABOVE):
        found = next(_sessions(rows, "WHERE id = ?", wanted), None) if wanted else None
        if found is None or found.persons:
            return found
        wanted = found.parent
    return None


def _sessions(rows: Database, where: str, *values: str) -> Iterator[Session]:
    if not rows.columns["sessions"]:
        return
    columns = ", ".join(rows.column("sessions", name) for name in _SESSION)
    for row in rows.rows(f"SELECT {columns} FROM sessions {where} ORDER BY id", values):
        id, kind, title, cwd, updated, parent = map(text, row)
        yield Session(id or "", kind, title, cwd, instant(updated, 0), parent)


def _rows(rows: Database, ref: str) -> Iterator[Row]:
    names = ("message_id", "role", "metadata_json")
    id, role, sight = (rows.column("messages", name) for name in names)
    content = f"CASE WHEN length(content_json) <= {LONGEST} THEN CAST(content_json AS BLOB) END"
    statement = (
        f"SELECT id, {id}, {role}, {content}, created_timestamp, {sight} FROM messages"
        " WHERE session_id = ? ORDER BY created_timestamp, id"
    )
    for place, named, said, given, created, seen in rows.rows(statement, (ref,)):
        yield Row(place, text(named), text(said), given, created, seen)


def _version(rows: Database) -> str | None:
    if not rows.columns["schema_version"]:
        return None
    found = rows.rows("SELECT CAST(max(version) AS BLOB) FROM schema_version")
    return next((text(one) for (one,) in found), None)


def _found(path: Path, session: Session, rows: Database) -> Found:
    named = files.title((Text(session.title),)) if session.title else None
    if named is None:
        asked = (one for one in _rows(rows, session.id) if one.role == "user")
        named = next((words for one in asked if (words := first_words(one)) is not None), None)
    return Found(NAME, session.id, path, session.updated, session.cwd, named)
