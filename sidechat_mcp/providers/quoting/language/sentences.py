"""Where text may be cut: at sentence limits, never inside a word. A piece is always a verbatim
slice of the text it comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

ITEM = re.compile(r"(?:[-*•]|\d{1,3}[.)]|\|)\s")
"""How an item of a list begins."""
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)", re.M | re.S)
_LIMIT = re.compile(r"(?:[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[」』”’）]*|;(?=\s)|\n)\s*")
_SHORT = re.compile(
    r"(?:\b(?:[A-Za-z]|e\.g|i\.e|cf|vs|etc|no|nr|approx|dr|mr|mrs|ms|prof|st|fig|sec|dept|inc|ltd)"
    r"|(?:^|\n)\s*\d{1,3})\.$",
    re.I,
)
LONGEST = 420
"""A sentence over this many characters is split at white space."""


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:stop]`, without surrounding white space."""

    start: int
    stop: int


def _trim(text: str, start: int, stop: int) -> Span | None:
    while start < stop and text[start].isspace():
        start += 1
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    return Span(start, stop) if stop > start else None


def split(text: str, start: int = 0, stop: int | None = None) -> Sequence[Span]:
    """The sentences of `text[start:stop]` as spans of `text`; lines end sentences too."""
    end = len(text) if stop is None else stop
    found: list[Span] = []
    at = start
    for limit in _LIMIT.finditer(text, start, end):
        if limit.group().startswith("."):
            before = text[max(at, limit.start() - 12) : limit.start() + 1]
            follows = text[limit.end() : limit.end() + 1]
            if _SHORT.search(before) or follows.islower():
                continue
        found += _pieces(text, at, limit.end())
        at = limit.end()
    return found + _pieces(text, at, end)


def _pieces(text: str, start: int, stop: int) -> list[Span]:
    found: list[Span] = []
    while stop - start > LONGEST:
        at = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        at = at if at > 0 else start + LONGEST
        piece = _trim(text, start, at)
        found += [piece] if piece else []
        start = at
    piece = _trim(text, start, stop)
    return found + ([piece] if piece else [])


def fenced(text: str) -> Sequence[Span]:
    """Blocks of code and of output."""
    return [Span(m.start(), m.end()) for m in _FENCED.finditer(text)] if "``" in text else []


def passages(text: str, size: int) -> Sequence[Span]:
    """`text` in pieces of about `size` characters, cut at sentence limits."""
    if len(text) <= size:
        whole = _trim(text, 0, len(text))
        return [whole] if whole else []
    found: list[Span] = []
    for sentence in split(text):
        last = found[-1] if found else None
        if last is not None and sentence.stop - last.start <= size:
            found[-1] = Span(last.start, sentence.stop)
        else:
            found.append(sentence)
    return found


def window(text: str, sentences: Sequence[Span], best: int, size: int) -> Span:
    """The sentences around number `best` that together hold at most `size` characters; the ones
    after it are taken first, because explanations follow what they explain."""
    first = last = best
    while True:
        room = size - (sentences[last].stop - sentences[first].start)
        after = sentences[last + 1].stop - sentences[last].stop if last + 1 < len(sentences) else -1
        before = sentences[first].start - sentences[first - 1].start if first else -1
        if 0 <= after <= room:
            last += 1
        elif 0 <= before <= room:
            first -= 1
        else:
            return Span(sentences[first].start, sentences[last].stop)
