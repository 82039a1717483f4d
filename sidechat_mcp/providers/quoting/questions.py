"""What a question asks for: the words it is about, and the kind of answer that would do.

English question words are known; any other language is searched by its words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sidechat_mcp.providers.quoting.synonyms import related, spellings
from sidechat_mcp.providers.quoting.words import camel_parts, is_stop, stem, words

Want = Literal["number", "time", "count", "name", "person", "open", "any"]
MOST_WORDS = 24
"""A longer question is searched by its first words only."""

_EMPTY = frozenset(
    "happen happens happened exactly currently actually again maybe called call named name mean means"
    " question answer discuss discussed mention mentioned talk talked conversation detail details"
    " briefly explain summarise summarize remind side earlier before far plan way".split()
)
"""Words that ask rather than tell what is asked about."""
OPEN = "open item"
"""Stands among the stems of a question that asks what is open; no word has such a stem."""
OPEN_WORDS = (
    "open remaining outstanding pending undecided unresolved unsettled todo still settled decided"
    " clarified waiting next must"
).split()
_LIGHT = frozenset(
    "time times day days date dates month months week weeks year years percent percentage number"
    " amount total long fast slow large big far old often high wide deep heavy expensive start starts"
    " begin begins run runs work works place arrange arranged decide decided decision choose chosen"
    " chose pick picked final finally current along order along prevent prevents reason exact".split()
)
"""Words that shape a question as much as they say what it is about; they count for less, and not
at all where the history never uses them."""
_OPEN = re.compile(
    r"\b(?:left|remain\w*|outstanding|unresolved|undecided|unsettled|to-?do|still to|open"
    r" (?:item|question|point|issue|task|end)s?|(?:is|are|stays?|what's|anything) (?:still )?open"
    r"|next steps?|pending|loose ends?|(?:be|get) (?:clarified|decided|settled|resolved))\b",
    re.I,
)
_OPEN_FILL = frozenset("task item thing question point issue end side part step team list".split())
_TIME = re.compile(
    r"\b(?:when (?:do|does|did|is|are|was|were|will|would|shall|should|can|could|has|have|must)\b"
    r"|(?:since|until|till|by|and|or) when|when\s*\?|what (?:time|day|date)|which (?:day|date|month|week|year)s?|deadline"
    r"|due)\b",
    re.I,
)
_NUMBER = re.compile(
    r"\b(?:how (?:much|long|fast|slow|large|big|far|old|often|high|wide|deep|heavy|expensive)"
    r"|what (?:percent\w*|share|fraction|price|cost|fee)|(?:which|what) \w+ (?:price|cost|fee|size))\b",
    re.I,
)
_COUNT = re.compile(r"\bhow many\s+(.+)", re.I | re.S)
_WHO = re.compile(r"\b(?:who|whom)\b(?:'s|'ll|'d)?\s+(.+)", re.I | re.S)
_WHICH = re.compile(r"\b(?:what|which)\s+(.+)", re.I | re.S)
_IS_THE = re.compile(r"\bwhat(?:'s|\s+(?:is|was|are|were|will be))\s+(.+)", re.I | re.S)
_TYPED = re.compile(
    r"\b(?:(?:what|which)\s+(?:time|day|date|month|week|year|percent\w*)s?"
    r"|how\s+(?:long|fast|slow|large|big|far|old|often|high|wide|deep|heavy|expensive))\b",
    re.I,
)
"""Says the kind of answer, not the thing."""
_NAME = re.compile(
    r"\b(?:name of|(?:called|named)\s*(?:\?|$)|what(?:'s| is| was)\s(?:\S+\s){1,4}"
    r"(?:number|address|id|version|port|code|url|title)\b)",
    re.I,
)
_MUCH = re.compile(
    r"\bhow much\s+(?!(?:do|does|did|is|are|was|were|will|would|should|can|could|of)\b)(.+)",
    re.I | re.S,
)
_DOES = re.compile(r"\bwhat\s+(?:do|does|did|will|would|can|could|should)\s+(.+)", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Question:
    """`stems` are what it is about, in order, once each; `surface` the words as written, for the
    index. `focus` are the stems of the thing asked for, where the wording shows it: a turn that
    does not have one of them cannot be called an answer. `names` are stems of names and
    numbers."""

    text: str
    surface: tuple[str, ...]
    stems: tuple[str, ...]
    focus: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    light: frozenset[str] = frozenset()
    want: Want = "any"

    @property
    def wider(self) -> tuple[str, ...]:
        """More words to look for when its own find too little."""
        return tuple(sorted({word for s in self.stems for word in spellings(s)}))

    @property
    def alike(self) -> dict[str, frozenset[str]]:
        """For each stem, the stems of words that often stand for it."""
        return {s: related(s) for s in self.stems}


def _content(text: str) -> list[str]:
    found = words(text) + camel_parts(text)
    return [w for w in found if not is_stop(w) and w.lower() not in _EMPTY]


def read(text: str) -> Question:
    """Take a question apart. A question of nothing but asking words has no stems."""
    surface: dict[str, str] = {}
    for word in _content(text):
        surface.setdefault(stem(word), word)
        if len(surface) >= MOST_WORDS:
            break
    if (about := _asks_what_is_open(text)) is not None:
        kept = tuple(about)
        return Question(text, (*kept, *OPEN_WORDS), (*map(stem, kept), OPEN), want="open")
    return Question(
        text,
        tuple(surface.values()),
        tuple(surface),
        frozenset(focus(text)) & surface.keys(),
        frozenset(_names(text)) & surface.keys(),
        frozenset(s for s, word in surface.items() if word.lower() in _LIGHT),
        want(text),
    )


def _asks_what_is_open(text: str) -> list[str] | None:
    """What the open items are to be about, or None when the question is another one."""
    if _OPEN.search(text) is None:
        return None
    rest = _content(_OPEN.sub(" ", text))
    about = [w for w in rest if w.lower().removesuffix("s") not in _OPEN_FILL]
    return about if len(about) <= 1 else None


def want(text: str) -> Want:
    if _COUNT.search(text):
        return "count"
    if _WHO.search(text):
        return "person"
    if _TIME.search(text):
        return "time"
    if _NUMBER.search(text):
        return "number"
    return "name" if _NAME.search(text) else "any"


def _run(text: str) -> list[str]:
    """The content words right at the beginning, up to the first little word."""
    found: list[str] = []
    for match in re.finditer(r"[^\W_]+|[^\w\s]", text):
        word = match.group()
        if is_stop(word) or not word.isalnum():
            if found and word not in ("-", "'", "’", "s"):
                break
            continue
        if word.lower() not in _EMPTY:
            found.append(word)
        if len(found) == 3:
            break
    return found


def focus(text: str) -> Sequence[str]:
    """Stems of the thing that is asked for."""
    text = _TYPED.sub(" ", text)
    for pattern in (_COUNT, _MUCH, _WHO, _IS_THE, _DOES, _WHICH):
        if match := pattern.search(text):
            asked = match.group(1)
            if pattern is _IS_THE:
                asked = re.sub(r"^.{0,40}?\w['’]s\s+", "", asked, flags=re.S) or asked
            run = _run(asked)
            if pattern in (_COUNT, _WHO):
                run = run[:1]
            elif pattern is _DOES:
                run = run[-1:]
            return [stem(word) for word in run]
    return []


def _names(text: str) -> Sequence[str]:
    """Stems of words that are names by their form: a capital inside a sentence, or a digit."""
    found: list[str] = []
    for match in re.finditer(r"[^\W_]+", text):
        word = match.group()
        inside = re.search(r"[\w,;:)'\"’]\s*$", text[: match.start()]) is not None
        if any(c.isdigit() for c in word) or (inside and word[:1].isupper() and not is_stop(word)):
            found += [stem(piece) for piece in words(word)]
    return found
