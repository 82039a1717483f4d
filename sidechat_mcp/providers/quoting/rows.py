"""The full-text table: numbered rows of text, found by words. Speaks SQL and interprets nothing."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Protocol, cast

import apsw

from sidechat_mcp.providers.quoting.language.words import TOKENIZER

_SCHEMA = f"""
CREATE VIRTUAL TABLE passage USING fts5(words, content='', tokenize="{" ".join(TOKENIZER)}");
CREATE VIRTUAL TABLE word USING fts5vocab(passage, row)
"""


class _Cursor(Protocol):
    def __iter__(self) -> Generator[tuple[float, ...]]: ...


class _Connection(Protocol):
    """What we use of `apsw.Connection`, whose own types need Python 3.12 to be read."""

    def execute(self, statement: str, values: Sequence[str | int] = ()) -> _Cursor: ...
    def executemany(self, statement: str, rows: Iterable[Sequence[str | int]]) -> _Cursor: ...
    def close(self) -> None: ...


class Rows:
    """In memory, and not for two threads at once. Words must be single tokens."""

    def __init__(self) -> None:
        opened: object = apsw.Connection(":memory:")
        self._db = cast("_Connection", opened)
        self._db.execute(_SCHEMA)

    def add(self, rows: Iterable[tuple[int, str]]) -> None:
        """All of `rows` (number, text) or none."""
        self._db.execute("SAVEPOINT rows")
        try:
            self._db.executemany("INSERT INTO passage(rowid, words) VALUES (?, ?)", rows)
        except BaseException:
            self._db.execute("ROLLBACK TO rows")
            raise
        finally:
            self._db.execute("RELEASE rows")

    @contextmanager
    def aside(self) -> Generator[None]:
        """What is added within the block is gone after it."""
        self._db.execute("SAVEPOINT aside")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK TO aside; RELEASE aside")

    def holding(self, stem: str) -> int:
        """How many rows hold a stem."""
        found = self._db.execute("SELECT doc FROM word WHERE term = ?", (stem,))
        return next((int(row[0]) for row in found), 0)

    def beginning(self, start: str, longest: int) -> list[str]:
        """Stems that begin with `start` and have at most `longest` characters, in order."""
        found = self._db.execute(
            "SELECT term FROM word WHERE term > ?1 AND term < ?1 || char(1114111)"
            " AND length(term) <= ?2 ORDER BY term",
            (start, longest),
        )
        return [str(row[0]) for row in found]

    def find(self, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Rows that hold any of `words`, best first, with a score above 0 (BM25)."""
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._db.execute(
            "SELECT rowid, rank FROM passage(?) ORDER BY rank, rowid LIMIT ?", (match, limit)
        )
        return [(int(row[0]), -row[1]) for row in found]

    def close(self) -> None:
        self._db.close()
