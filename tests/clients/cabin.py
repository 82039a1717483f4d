"""Writes opencode conversations as opencode does, for tests."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sidechat_mcp.clients.opencode.client import Opencode
from sidechat_mcp.clients.opencode.database import Database, Session, consult
from sidechat_mcp.clients.opencode.transcript import told
from sidechat_mcp.ports.client import Call, Transcript

SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
  slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
  metadata text, revert text, permission text, time_created integer NOT NULL,
  time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE TABLE credential (id text PRIMARY KEY, value text NOT NULL);
INSERT INTO credential VALUES ('key', 'sk-secret-of-the-person');
"""
BEGUN = 1_796_000_000_000
TOKENS = {"total": 109, "input": 60, "output": 9, "reasoning": 0, "cache": {"read": 40, "write": 0}}
Json = dict[str, Any]


@dataclass
class Talk:
    """One conversation. Every message and part is a row; each message comes a second later."""

    ref: str
    cwd: str = "/srv/ferryline"
    title: str | None = None
    parent: str | None = None
    rows: list[tuple[Json, list[Json]]] = field(default_factory=list[tuple[Json, list[Json]]])
    revert: Json | None = None
    metadata: Json | None = None
    permission: list[Json] | None = None
    updated: int = BEGUN
    now: int = BEGUN
    asked: str = ""

    def message(self, data: Json, *parts: Json) -> str:
        self.now += 1000
        id = f"msg_{self.ref}_{len(self.rows):04d}"
        data.setdefault("time", {}).setdefault("created", self.now)
        self.rows.append(({"id": id, **data}, list(parts)))
        return id

    def says(self, *words: str, synthetic: bool = False, **more: Any) -> str:
        """A user's message."""
        flag = {"synthetic": True} if synthetic else {}
        parts = [{"type": "text", "text": text, **flag} for text in words]
        model = {"providerID": "stub", "modelID": "one"}
        data = {"role": "user", "agent": "build", "model": model, **more}
        self.asked = self.message(data, *parts)
        return self.asked

    def answers(self, *parts: Json | str, finish: str | None = "stop", **more: Any) -> str:
        """An assistant's message, whole unless `finish` is None."""
        found = [{"type": "text", "text": one} if isinstance(one, str) else one for one in parts]
        data: Json = {
            "role": "assistant",
            "parentID": self.asked,
            "agent": "build",
            "providerID": "stub",
            "modelID": "one",
            "tokens": TOKENS,
            "time": {"created": self.now + 1000},
            **more,
        }
        if finish is not None:
            data["finish"] = finish
            data["time"]["completed"] = self.now + 1500
        return self.message(data, {"type": "step-start"}, *found)

    def turn(self, question: str, answer: str) -> None:
        self.says(question)
        self.answers(answer)

    def compacts(self, *, auto: bool = False, tail: str | None = None, **more: Any) -> None:
        """A compaction and its summary."""
        part: Json = {"type": "compaction", "auto": auto}
        if tail is not None:
            part["tail_start_id"] = tail
        data = {"role": "user", "agent": "build", "model": {"providerID": "stub", "modelID": "one"}}
        self.asked = self.message(data, part)
        self.answers("A summary of it all.", summary=True, agent="compaction", **more)


def tool(
    id: str, name: str = "bash", status: str = "completed", input: Json | None = None, **state: Any
) -> Json:
    """A tool part; a completed one has an output."""
    more: Json = {"output": f"result of {id}"} if status == "completed" else {}
    begun = {"time": {"start": state.pop("start", BEGUN)}}
    whole = {"status": status, "input": input or {}, **more, **begun, **state}
    return {"type": "tool", "tool": name, "callID": id, "state": whole}


ABORTED: Json = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}


@dataclass
class Home:
    """A made-up home of a person who works with opencode."""

    root: Path

    @property
    def files(self) -> Path:
        return self.root / "home" / ".local" / "share" / "opencode"

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.root / "home")}

    def client(self, patience: float = 0.3, **environ: str) -> Opencode:
        return Opencode({**self.environ, **environ}, patience)

    def folder(self, name: str) -> str:
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    def put(self, *talks: Talk, channel: str = "", wal: bool = True) -> Path:
        path = self.files / f"opencode{channel}.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, *talks, wal=wal)
        return path


def write(path: Path, *talks: Talk, wal: bool = True) -> None:
    """Conversations into a database; in WAL mode as the client leaves it when it ends."""
    new = not path.exists()
    with closing(sqlite3.connect(path)) as database:
        if new:
            database.execute(f"PRAGMA journal_mode = {'wal' if wal else 'delete'}")
            database.executescript(SCHEMA)
        for talk in talks:
            put(database, talk)
        database.commit()


def put(database: sqlite3.Connection, talk: Talk) -> None:
    """A conversation into an open database, in place of what it has of it; nothing is committed."""
    for table, column in (("session", "id"), ("message", "session_id"), ("part", "session_id")):
        database.execute(f"DELETE FROM {table} WHERE {column} = ?", (talk.ref,))
    title = talk.title if talk.title is not None else "New session - 2026-12-01T10:00:00.000Z"
    columns = (talk.ref, "p", talk.parent, "slug", talk.cwd, title, "1.18.33")
    values = (talk.metadata, talk.revert, talk.permission)
    told = tuple(None if one is None else json.dumps(one) for one in values)
    times = (BEGUN, talk.updated, None)
    marks = ",".join("?" * 13)
    database.execute(f"INSERT INTO session VALUES ({marks})", (*columns, *told, *times))
    for n, (message, parts) in enumerate(talk.rows):
        data = {name: value for name, value in message.items() if name != "id"}
        at = message["time"]["created"]
        row = (message["id"], talk.ref, at, at, json.dumps(data))
        database.execute("INSERT INTO message VALUES (?,?,?,?,?)", row)
        for m, part in enumerate(parts):
            row = (f"prt_{talk.ref}_{n:04d}_{m:04d}", message["id"], talk.ref, at, at)
            database.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", (*row, json.dumps(part)))


def call(cwd: str, name: str | None, arguments: Mapping[str, Any] | None = None) -> Call:
    """A call that opencode makes to a server of its own."""
    return Call(
        {}, {"OPENCODE": "1", "OPENCODE_PID": str(os.getppid())}, (), cwd, name, arguments or {}
    )


def of(talk: Talk) -> Transcript:
    """What the reader makes of a conversation."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "talk.db"
        write(file, talk)
        return consult(
            file, lambda database: told(_session(database, talk), database.rows(talk.ref))
        )


def _session(database: Database, talk: Talk) -> Session:
    session = database.session(talk.ref)
    assert session is not None
    return session
