"""What a question asks for: the words it is about, and the kind of answer that would do.

English question words are known; any other language is searched by its words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sidechat_mcp.providers.quoting.cues import asks
from sidechat_mcp.providers.quoting.sentences import split
from sidechat_mcp.providers.quoting.synonyms import related, spellings
from sidechat_mcp.providers.quoting.wordlists import (
    ASKING,
    LIGHT,
    OPEN_FILL,
    OPEN_WORDS,
    is_stop,
    little_words,
)
from sidechat_mcp.providers.quoting.words import stem, words

Want = Literal[
    "any",
    "count",
    "number",
    "money",
    "duration",
    "size",
    "often",
    "time",
    "name",
    "value",
    "person",
    "open",
]
HEART, MOST_READ = 400, 20_000
"""Characters of a message that is all question, and of the end of one in which it is looked for."""
MOST_WORDS = 24
"""A longer question is searched by its first words only."""

OPEN = "open item"
"""Stands among the stems of a question that asks what is open; no word has such a stem."""
_OPEN = re.compile(
    r"\b(?:left|remain\w*|outstanding|unresolved|undecided|unsettled|to-?do|still to|open"
    r" (?:item|question|point|issue|task|end)s?|(?:is|are|stays?|what's|anything) (?:still )?open"
    r"|next steps?|pending|loose ends?|(?:be|get) (?:clarified|decided|settled|resolved))\b",
    re.I,
)
_TIME = re.compile(
    r"\b(?:when (?:do|does|did|is|are|was|were|will|would|shall|should|can|could|has|have|must)\b"
    r"|(?:since|until|till|by|and|or) when|when\s*\?|what (?:time|day|date)"
    r"|which (?:day|date|month|week|year)s?|deadline|due)\b",
    re.I,
)
_KINDS: tuple[tuple[Want, re.Pattern[str]], ...] = (
    (
        "money",
        re.compile(
            r"\b(?:what|how much)\s+(?:do|does|did|will|would|can|must|should)\b.*"
            r"\b(?:cost|pay|charge|earn|owe|spend)s?\b",
            re.I | re.S,
        ),
    ),
    ("duration", re.compile(r"\bhow long\b", re.I)),
    ("size", re.compile(r"\bhow (?:large|big)\b", re.I)),
    ("often", re.compile(r"\bhow (?:often|frequently)\b", re.I)),
    (
        "number",
        re.compile(
            r"\b(?:how (?:much|fast|slow|far|old|high|wide|deep|heavy|expensive|likely)"
            r"|what (?:percent\w*|share|fraction))\b",
            re.I,
        ),
    ),
    (
        "name",
        re.compile(
            r"\bname of\b|\b(?:called|named)\s*(?:\?|$)|\bwhat(?:'s| is| was)\s(?:\S+\s){1,4}"
            r"(?:number|address|id|version|port|code|url|title)\b",
            re.I,
        ),
    ),
    (
        "value",
        re.compile(
            r"\bwhat(?:'s| is| was| are)\s(?:\S+\s){1,3}(?:fees?|prices?|costs?|salary|size|length"
            r"|rate|budget|limit|weight|height|age)\b",
            re.I,
        ),
    ),
)
_COUNT = re.compile(r"\bhow many\s+(.+)", re.I | re.S)
_WHO = re.compile(
    r"(?:^\W*|[,;.?!]\s*|\b(?:and|or|but|so|by|to|with|from|for)\s+)whom?\b(?:['’](?:s|ll|d))?\s+(.+)",
    re.I | re.S,
)
_WHICH = re.compile(r"\b(?:what|which)\s+(.+)", re.I | re.S)
_IS_THE = re.compile(r"\bwhat(?:'s|\s+(?:is|was|are|were|will be))\s+(.+)", re.I | re.S)
_TYPED = re.compile(
    r"\b(?:(?:what|which)\s+(?:time|day|date|month|week|year|percent\w*)s?"
    r"|how\s+(?:long|fast|slow|large|big|far|old|often|high|wide|deep|heavy|expensive))\b",
    re.I,
)
"""Says the kind of answer, not the thing."""
_YES_NO = re.compile(
    r"\W*(?:and |but |so )?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should"
    r"|may|might|must)(?:n't|n’t)?\b",
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
    counted: frozenset[str] = frozenset()
    want: Want = "any"
    yes_no: bool = False

    @property
    def wider(self) -> tuple[str, ...]:
        """More words to look for when its own find too little."""
        return tuple(sorted({word for s in self.stems for word in spellings(s)}))

    @property
    def alike(self) -> dict[str, frozenset[str]]:
        """For each stem, the stems of words that often stand for it and are not asked for too."""
        return {s: related(s).difference(self.stems) for s in self.stems}


def _heart(text: str) -> str:
    """Of a long message what asks something in it, or else how it begins."""
    if len(text) <= HEART:
        return text
    spans = split(text[:MOST_READ]) if len(text) <= MOST_READ else split(text[-MOST_READ:])
    said = text if len(text) <= MOST_READ else text[-MOST_READ:]
    asking = [said[s.start : s.stop] for s in spans if asks(said[s.start : s.stop])]
    return " ".join(asking)[-HEART:] if asking else text[:HEART]


def _content(text: str) -> list[str]:
    found = words(text)
    little = little_words(found)
    return [w for w in found if w.lower() not in little and w.lower() not in ASKING]


def read(text: str) -> Question:
    """Take a question apart. A question of nothing but asking words has no stems."""
    text = _heart(text)
    surface: dict[str, str] = {}
    for word in _content(text):
        surface.setdefault(stem(word), word)
        if len(surface) >= MOST_WORDS:
            break
    if (about := _asks_what_is_open(text)) is not None:
        kept = tuple(about)
        return Question(text, (*kept, *sorted(OPEN_WORDS)), (*map(stem, kept), OPEN), want="open")
    return Question(
        text,
        tuple(surface.values()),
        tuple(surface),
        frozenset(focus(text)) & surface.keys(),
        frozenset(_names(text)) & surface.keys(),
        _light(text, surface),
        frozenset(_counted(text)),
        want(text),
        _YES_NO.match(text) is not None,
    )


def _asks_what_is_open(text: str) -> list[str] | None:
    """What the open items are to be about, or None when the question is another one."""
    if _OPEN.search(text) is None:
        return None
    rest = _content(_OPEN.sub(" ", text))
    about = [w for w in rest if w.lower().removesuffix("s") not in OPEN_FILL]
    return about if len(about) <= 1 else None


def want(text: str) -> Want:
    if _COUNT.search(text):
        return "count"
    if _WHO.search(text):
        return "person"
    if _TIME.search(text):
        return "time"
    for kind, pattern in _KINDS:
        if pattern.search(text):
            return kind
    return "any"


def _run(text: str) -> list[str]:
    """The content words right at the beginning, up to the first little word."""
    found: list[str] = []
    for match in re.finditer(r"[^\W_]+|[^\w\s]", text):
        word = match.group()
        if is_stop(word) or not word.isalnum():
            if found and word not in ("-", "'", "’", "s"):
                break
            continue
        if word.lower() not in ASKING:
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
            return [stem(word) for word in run if word.lower() not in LIGHT]
    return []


def _light(text: str, surface: dict[str, str]) -> frozenset[str]:
    typed = {word.lower() for piece in _TYPED.findall(text) for word in piece.split()}
    return frozenset(s for s, word in surface.items() if word.lower() in LIGHT | typed)


def _counted(text: str) -> Sequence[str]:
    """Stems of what is to be counted."""
    match = _COUNT.search(text)
    return [stem(word) for word in _run(match.group(1))[:2]] if match else []


def _names(text: str) -> Sequence[str]:
    """Stems of words that are names by their form: a capital inside a sentence, or a digit."""
    found: list[str] = []
    for match in re.finditer(r"[^\W_]+", text):
        word = match.group()
        inside = re.search(r"[\w,;:)'\"’]\s*$", text[: match.start()]) is not None
        if any(c.isdigit() for c in word) or (inside and word[:1].isupper() and not is_stop(word)):
            found += [stem(piece) for piece in words(word)]
    return found
