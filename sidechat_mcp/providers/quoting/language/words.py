"""Text → the words it is searched by. Pure; the same text always gives the same words.

Stems come from SQLite's own tokenizer, so that what is counted here is what the index finds."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable
from functools import cache

import apsw

TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2")

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Scripts written without spaces between words (Thai, Lao, Burmese, Khmer, Kana, Han; Hangul
too, whose particles stick to the words)."""
_PIECE = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HAS_CAMEL = re.compile(r"[a-z][A-Z]")


def _clean(text: str) -> str:
    """`text` in one spelling that SQLite can take: composed, no lone surrogates, no NUL."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", " ")


def _pieces(word: str) -> Iterable[str]:
    """A word, or the overlapping pairs of characters of a script that writes no spaces."""
    for piece in _PIECE.findall(word):
        if not _HAS_UNSPACED.match(piece) or len(piece) == 1:
            yield piece
        else:
            yield from (piece[i : i + 2] for i in range(len(piece) - 1))


def is_pair(word: str) -> bool:
    """Whether `word` is a piece of a script that writes no spaces."""
    return _HAS_UNSPACED.match(word) is not None


def words(text: str) -> list[str]:
    """The words of `text` in order, in their own case; `snake_case` counts as its parts."""
    found = _WORD.findall(_clean(text))
    if not text.isascii():
        return [piece for word in found for piece in _pieces(word)]
    return found


def searchable(text: str) -> str:
    """What is put into the index for `text`: its words, and the parts of `camelCase` names."""
    cleaned = _clean(text)
    if not text.isascii() and _HAS_UNSPACED.search(cleaned):
        cleaned = " ".join(words(text))
    if _HAS_CAMEL.search(cleaned):
        return f"{cleaned} {' '.join(camel_parts(cleaned))}"
    return cleaned


def camel_parts(text: str) -> list[str]:
    return [
        part
        for word in _WORD.findall(text)
        if _HAS_CAMEL.search(word)
        for part in _CAMEL.findall(word)
    ]


class _Stems:
    """The stem of a word, remembered. Safe to ask from several threads."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self._tokenizer = self._connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}

    def of(self, word: str) -> str:
        known = self._known.get(word)
        if known is None:
            with self._lock:
                found = self._tokenizer(
                    word.encode("utf-8"),
                    apsw.FTS5_TOKENIZE_QUERY,
                    None,
                    include_offsets=False,
                    include_colocated=False,
                )
                parts = [part for part in found if isinstance(part, str)]
                if len(self._known) > 100_000:
                    self._known.clear()
                known = self._known[word] = "".join(parts)
        return known


@cache
def _stems() -> _Stems:
    return _Stems()


def stem(word: str) -> str:
    return _stems().of(word)


def stems(text: str) -> list[str]:
    """The stems of all words of `text`, parts of `camelCase` names after them."""
    of = _stems().of
    found = words(text)
    if _HAS_CAMEL.search(text):
        found += camel_parts(_clean(text))
    return [of(word) for word in found]
