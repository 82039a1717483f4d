"""Which sentences give a value that a later one gives otherwise: of two figures of one kind with
the same words around them, the earlier one is out of date. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from sidechat_mcp.providers.quoting.language.words import stem

AROUND = 4
"""So many words before and behind a figure say what it measures."""
RARE, NEAR_TURNS = 4, 20
"""One word is enough if no more measures have it and the later one is no more turns away; else it
takes two."""
LATER = 60
"""Of a very long history only so many measures that share a word are compared with each one."""

_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_KINDS = (
    ("share", re.compile(r"%|percent\w*", re.I)),
    ("span", re.compile(r"ms|s|sec\w*|min\w*|h|hours?|days?|nights?|weeks?|months?|years?", re.I)),
    (
        "day",
        re.compile(
            r"jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sep\w*|oct(?:ober)?"
            r"|nov(?:ember)?|dec(?:ember)?",
            re.I,
        ),
    ),
    ("room", re.compile(r"[kmgt]i?b?|bytes", re.I)),
    ("money", re.compile(r"euros?|eur|dollars?|francs?|chf|pounds?|yen|usd|[€$£]", re.I)),
)
_LIMITS = frozenset(".;,()")
_TOKEN = re.compile(r"[^\W\d_]+[-_]?\d[\w.]*|\d+(?:[.,:]\d+)*|[^\W\d_]+|%|[.:;,()]")


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure in sentence number `place`. What is not `firm` only proposes it."""

    place: int
    turn: int
    firm: bool
    kind: str
    figure: str
    about: frozenset[str]


def measures(
    text: str, place: int, turn: int, firm: bool, tells: Callable[[str], bool]
) -> list[Measure]:
    """The figures of a sentence with the stems of the words around that `tells` lets count."""
    tokens = _TOKEN.findall(text)
    found: list[Measure] = []
    for at, token in enumerate(tokens):
        lowered = token.lower()
        figure = str(_NUMBERS.index(lowered)) if lowered in _NUMBERS else token
        if not _FIGURE.fullmatch(figure):
            continue
        unit = next((t for t in tokens[at + 1 : at + 2] if t[0].isalpha() or t == "%"), "")
        kind = next((name for name, pattern in _KINDS if pattern.fullmatch(unit)), "count")
        if kind == "count" and (figure is not token or not (unit or _of(tokens[:at]))):
            continue
        near = [*_back(tokens[max(at - AROUND, 0) : at]), *_on(tokens[at + 1 : at + 1 + AROUND])]
        if kind == "count":
            near = [*_of(tokens[:at]), *_on(tokens[at + 1 : at + 3])]
        about = frozenset(stem(w) for w in near if w[0].isalpha() and tells(w))
        # Sixty seconds is no other value than one minute, but who says the one means it.
        figure = f"{figure} {unit[:2].lower()}" if kind in ("span", "day", "room") else figure
        if about:
            found.append(Measure(place, turn, firm, kind, figure, about))
    return found


def _on(tokens: Sequence[str]) -> list[str]:
    """Up to where the clause ends."""
    return list(takewhile(lambda t: t not in _LIMITS and t != ":", tokens))


def _back(tokens: Sequence[str]) -> list[str]:
    """Back to where the clause began, over a colon: “interval: 10 minutes”."""
    return list(takewhile(lambda t: t not in _LIMITS, tokens[::-1]))


def _of(before: Sequence[str]) -> Sequence[str]:
    """The counted thing that stands before the figure, as in “batches of 20”."""
    return before[-2:-1] if before[-1:] == ["of"] else ()


def overtaken(given: Sequence[Measure]) -> frozenset[int]:
    """The places of those that a later one replaces. `given` stand in the order said."""
    by_word: dict[str, list[int]] = {}
    for at, measure in enumerate(given):
        for word in measure.about:
            by_word.setdefault(word, []).append(at)
    often = Counter({word: len(places) for word, places in by_word.items()})
    kept = {(m.place, m.kind, m.figure) for m in given}
    return frozenset(
        measure.place
        for at, measure in enumerate(given)
        if any(
            _replaces(given[later], measure, often)
            and (given[later].place, measure.kind, measure.figure) not in kept
            for later in {n for w in measure.about for n in by_word[w][-LATER:] if n > at}
        )
    )


def _replaces(later: Measure, measure: Measure, often: Counter[str]) -> bool:
    if later.turn == measure.turn or not later.firm or later.kind != measure.kind:
        return False
    if later.figure == measure.figure:
        return False
    shared = later.about & measure.about
    close = later.turn - measure.turn <= NEAR_TURNS
    return len(shared) > 1 or (close and any(often[word] <= RARE for word in shared))
