"""The tables, as steps from one version to the next. A step that has been released never changes.

`event.id` is the session's row number and the place in one number, so a log is one range of one
B-tree and needs no second index. `word` keeps owners, folders and clients once, which keeps a
fork small. `once.kept` and `session.origin` hold the numbers of `KEPT` and `ORIGINS`."""

from __future__ import annotations

from collections.abc import Sequence

APPLICATION = 0x53494443
"""Marks the file as ours (`PRAGMA application_id`)."""

ORIGINS = ("native", "mirror", "sidechat")
KEPT = ("caller", "identity")

PLACE_BITS = 32
PLACES = 1 << PLACE_BITS

FIRST = (
    "CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    """CREATE TABLE session (
      id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, parent INTEGER, seed INTEGER NOT NULL,
      head INTEGER NOT NULL, active INTEGER NOT NULL, origin INTEGER NOT NULL,
      owner INTEGER NOT NULL, cwd INTEGER, client INTEGER, client_ref TEXT,
      sum BLOB NOT NULL, header BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX by_active ON session (active)",
    "CREATE INDEX by_owner ON session (owner, origin, active, cwd, client)",
    "CREATE INDEX by_parent ON session (parent, active) WHERE parent IS NOT NULL",
    """CREATE INDEX by_client_ref ON session (client_ref, active, client)
      WHERE client_ref IS NOT NULL""",
    """CREATE TABLE event (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, eid TEXT NOT NULL,
      sum BLOB NOT NULL, body BLOB NOT NULL)""",
    """CREATE TABLE once (key BLOB PRIMARY KEY, digest TEXT NOT NULL, session INTEGER NOT NULL,
      seq INTEGER NOT NULL, kept INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID""",
)

STEPS: Sequence[Sequence[str]] = (FIRST,)
"""`STEPS[n]` are the statements that lead from version n to n + 1."""


def event_id(row: int, seq: int) -> int:
    return row << PLACE_BITS | seq
