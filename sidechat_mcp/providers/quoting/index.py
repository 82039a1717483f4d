"""The full-text index of one history: SQLite FTS5 in memory, a row a passage.

An index only ever grows by whole messages, and holds nothing that depends on when it was built,
so the same history gives the same ranking whether it was built at once or turn by turn."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import apsw

from sidechat_mcp.core.assemble import Message
from sidechat_mcp.providers.quoting.history import COUNTS, Entry, entries
from sidechat_mcp.providers.quoting.language.forms import forms, near
from sidechat_mcp.providers.quoting.language.sentences import Span, passages
from sidechat_mcp.providers.quoting.language.words import searchable, stem, stems
from sidechat_mcp.providers.quoting.rows import Rows

PASSAGE = 600
"""Most characters of a passage; a quote is one passage."""
CANDIDATES = 60
SHORTEST_KIN = 4
SHORTEST_SLIP = 6
"""A shorter word is often another word but for one letter."""
ENDINGS = ("er", "est", "en", "ly", "or", "abl", "abil", "ment", "ness", "ing", "ed", "i", "ion")
"""Endings that the stemmer leaves on."""
BATCH = 400
"""Messages that are indexed between two checkpoints (about 20 ms)."""


@dataclass(frozen=True, slots=True)
class Passage:
    entry: Entry
    span: Span

    @property
    def text(self) -> str:
        return self.entry.text[self.span.start : self.span.stop]


class Index:
    """Grows message by message; `messages` are the ones it holds, `topic` the stems of the first
    thing that the person said. Not for two threads at once."""

    def __init__(self, inherited: int) -> None:
        self.inherited = inherited
        self.messages: list[Message] = []
        self.passages: list[Passage] = []
        self.of_turn: dict[int, list[int]] = {}
        self.size = 0
        self.topic = frozenset[str]()
        self._rows = Rows()

    def grow(self, messages: Sequence[Message]) -> None:
        """Take in the next messages of the history."""
        start = len(self.messages)
        self.messages += messages
        new = [
            Passage(entry, span)
            for entry in entries(self.messages, start, len(self.messages), self.inherited)
            for span in passages(entry.text, PASSAGE)
        ]
        if not self.passages and new and new[0].entry.speaker == "user":
            self.topic = frozenset(stems(new[0].text))
        self._rows.add((len(self.passages) + i, searchable(p.text)) for i, p in enumerate(new))
        for passage in new:
            if passage.entry.turn is not None:
                self.of_turn.setdefault(passage.entry.turn, []).append(len(self.passages))
            self.passages.append(passage)
            self.size += len(passage.text)

    @contextmanager
    def aside(self, messages: Sequence[Message]) -> Generator[None]:
        """Hold `messages` too, but only within the block: a side session's own turns, so that
        all children of a fork point share one index."""
        before = (len(self.messages), len(self.passages), self.size)
        try:
            with self._rows.aside():
                self.grow(messages)
                yield
        finally:
            for passage in self.passages[before[1] :]:
                if passage.entry.turn is not None:
                    self.of_turn[passage.entry.turn].pop()
            del self.messages[before[0] :], self.passages[before[1] :]
            self.size = before[2]

    def rarity(self, stems: Sequence[str]) -> dict[str, float]:
        """How telling each stem is: 0 for one that is everywhere, about 1 for one that occurs
        once or never."""
        total = max(len(self.passages), 1)
        top = math.log(1 + total)
        found: dict[str, float] = {}
        for word in stems:
            seen = self.seen(word)
            found[word] = math.log(1 + total / max(seen, 1)) / top if total > 1 else 1.0
        return found

    def seen(self, stem: str) -> int:
        """In how many passages a stem occurs."""
        return self._rows.holding(stem)

    def kin(self, stem: str) -> str | None:
        """A stem of the history that differs from one it lacks only by an ending."""
        if len(stem) < SHORTEST_KIN or self.seen(stem):
            return None
        for ending in ENDINGS:
            if stem.endswith(ending) and len(stem) - len(ending) >= SHORTEST_KIN:
                shorter = stem.removesuffix(ending)
                if self.seen(shorter):
                    return shorter
        longer = self._rows.beginning(stem, len(stem) + 4)
        found = next((s for s in longer if s[len(stem) :] in ENDINGS), None)
        return found or self._misspelt(stem)

    def _misspelt(self, stem: str) -> str | None:
        """The most frequent stem that a slip of the hand makes this one of."""
        if len(stem) < SHORTEST_SLIP or any(self.seen(form) for form in forms(stem)):
            return None
        like = self._rows.beginning(stem[:2], len(stem) + 1)
        return max((s for s in like if near(stem, s)), key=self.seen, default=None)

    def search(self, words: Sequence[str]) -> list[tuple[int, float]]:
        """Passages that hold any of `words`, best first, with a score above 0. Words that are
        nearly everywhere are left out as long as others are left."""
        found = self._rows.find(self._telling(words), CANDIDATES)
        return [(row, score * self._counts(row)) for row, score in found]

    def _counts(self, row: int) -> float:
        return COUNTS.get(self.passages[row].entry.speaker, 1.0) ** 2

    def _telling(self, words: Sequence[str]) -> list[str]:
        unique = list(dict.fromkeys(words))
        if len(self.passages) < 2000:
            return unique
        rare = [w for w in unique if self.seen(stem(w)) * 10 < len(self.passages)]
        return rare or unique

    def close(self) -> None:
        self._rows.close()


class Cache:
    """Indexes of recent histories, bounded in number and in characters.

    An index is taken out while it is in use and put back afterwards: no lock, and no half-built
    one is ever found. A history that continues a kept one takes that one over."""

    def __init__(self, most: int = 8, characters: int = 64_000_000) -> None:
        self._most, self._characters = most, characters
        self._kept: list[Index] = []

    @property
    def count(self) -> int:
        return len(self._kept)

    @property
    def size(self) -> int:
        """Characters of all kept indexes."""
        return sum(index.size for index in self._kept)

    @contextmanager
    def lend(self, messages: Sequence[Message], inherited: int) -> Generator[Index]:
        """The kept index that holds the longest beginning of `messages`, or an empty one."""
        index = self._take(messages, inherited)
        try:
            yield index
        except apsw.Error:
            index.close()
            raise
        except BaseException:
            self._put(index)
            raise
        self._put(index)

    def _take(self, messages: Sequence[Message], inherited: int) -> Index:
        fitting = [
            index
            for index in self._kept
            if index.inherited == inherited and index.messages == messages[: len(index.messages)]
        ]
        if not fitting:
            return Index(inherited)
        best = max(fitting, key=lambda index: len(index.messages))
        self._kept.remove(best)
        return best

    def _put(self, index: Index) -> None:
        self._kept.append(index)
        while self.count > 1 and (self.count > self._most or self.size > self._characters):
            self._kept.pop(0).close()


def batches(messages: Sequence[Message], start: int) -> Iterator[Sequence[Message]]:
    """`messages[start:]` in steps of about `BATCH`, each ending right before a user message."""
    while start < len(messages):
        stop = min(start + BATCH, len(messages))
        while stop < len(messages) and messages[stop].role != "user":
            stop += 1
        yield messages[start:stop]
        start = stop
