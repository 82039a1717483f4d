"""What a question asks for: the words it is about, and the kind of answer that would do.

English question words are known; any other language is searched by its words alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sidechat_mcp.providers.quoting.kinds import COUNT, WHO, Want, want
from sidechat_mcp.providers.quoting.language.cues import asks
from sidechat_mcp.providers.quoting.language.forms import forms
from sidechat_mcp.providers.quoting.language.sentences import split
from sidechat_mcp.providers.quoting.language.synonyms import related, spellings
from sidechat_mcp.providers.quoting.language.wordlists import (
    ASKING,
    LATEST_WORDS,
    LIGHT,
    OPEN_FILL,
    OPEN_WORDS,
    is_stop,
    little_words,
)
from sidechat_mcp.providers.quoting.language.words import stem, words

HEART, MOST_READ = 400, 20_000
"""Characters of a message that is all question, and of the end of one in which it is looked for."""
MOST_WORDS = 24
"""A longer question is searched by its first words only."""

OPEN = "open item"
"""Stands among the stems of a question that asks what is open; no word has such a stem."""
_OPEN = re.compile(
    r"\b(?:left (?:to|open|over|on|for)|(?:what|anything|something|much|is|are|still) left"
    r"|left\s*\?|remain\w*|outstanding|unresolved|undecided|unsettled|to-?do|still to"
    r"|open (?:item|question|point|issue|task|end)s?"
    r"|(?:is|are|stays?|what's|anything) (?:still )?open|next steps?|still pending"
    r"|loose ends?|(?:be|get) (?:clarified|decided|settled|resolved)"
    r"|ahead of us|still ahead|still (?:have|need)(?: to)?)\b",
    re.I,
)
_QUICK_IS = re.compile(r"\b(what|who|where|how|when|why|that|there)s\b", re.I)
_QUICK_NOT = re.compile(
    r"\b(do|does|did|is|are|was|were|have|has|had|could|would|should)nt\b", re.I
)
_WHICH = re.compile(r"\b(?:what|which)\s+(.+)", re.I | re.S)
_IS_THE = re.compile(r"\bwhat(?:'s|\s+(?:is|was|are|were|will be))\s+(.+)", re.I | re.S)
_TYPED = re.compile(
    r"\b(?:(?:what|which)\s+(?:time|day|date|month|week|year|percent\w*)s?"
    r"|how\s+(?:long|fast|slow|large|big|far|old|often|high|wide|deep|heavy|expensive)"
    r"|how much (?:\w+er|more|less))\b",
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
_MUCH_DOES = re.compile(
    r"\bhow much\s+(?:do|does|did|is|are|was|were|will|would|should|can|could)\s+(.+)", re.I | re.S
)
_PENDING = re.compile(r"\b(?:yet|still|missing|left|(?:need|needs|has|have) to|must)\b", re.I)
_DOES = re.compile(r"\bwhat\s+(?:do|does|did|will|would|can|could|should)\s+(.+)", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Question:
    """`words` are what it is about: stem → the word as written, in order. `also` are more words to
    look for. `focus` are the stems of the thing asked for, where the wording shows it: what has
    none of them is no answer. `names` are stems of names and numbers, `light` those of words that
    count for less, `counted` those of what is to be counted. `latest` says that it asks how things
    stand at the end, `pending` what is not done yet; `joined` are pairs of neighbours that may be
    one word."""

    words: Mapping[str, str]
    also: tuple[str, ...] = ()
    focus: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    light: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    want: Want = "any"
    yes_no: bool = False
    latest: bool = False
    pending: bool = False
    joined: tuple[tuple[str, str, str], ...] = ()

    @property
    def stems(self) -> tuple[str, ...]:
        return tuple(self.words)

    @property
    def looked_for(self) -> list[str]:
        return [*self.words.values(), *self.also]

    def respelled(self, kin: Mapping[str, str]) -> Question:
        """The question with other stems for some of its own."""

        def among(stems: Iterable[str]) -> frozenset[str]:
            return frozenset(kin.get(s, s) for s in stems)

        return replace(
            self,
            words={kin.get(s, s): word for s, word in self.words.items()},
            also=(*self.also, *kin.values()),
            focus=among(self.focus),
            names=among(self.names),
            light=among(self.light),
            counted=among(self.counted),
        )

    def after(self, before: Question) -> Question:
        """A follow-up is about what was asked before it, too."""
        return replace(self, words={**before.words, **self.words})

    @property
    def wider(self) -> tuple[str, ...]:
        """More words to look for when its own find too little."""
        return tuple(sorted({word for s in self.words for word in spellings(s)}))

    @property
    def alike(self) -> dict[str, frozenset[str]]:
        """For each stem, the stems of words that often stand for it and are not asked for too."""
        return {
            s: related(s).union(*map(related, forms(s))).difference(self.words) for s in self.words
        }

    @property
    def heavy(self) -> frozenset[str]:
        """The stems that say what it is about."""
        return frozenset(self.words) - self.light


def _heart(text: str) -> str:
    """Of a long message what asks something in it, or else how it begins."""
    if len(text) <= HEART:
        return text
    said = text[-MOST_READ:]
    asking = [said[s.start : s.stop] for s in split(said) if asks(said[s.start : s.stop])]
    return " ".join(asking)[-HEART:] if asking else text[:HEART]


def _content(text: str) -> list[str]:
    found = words(text)
    little = little_words(found)
    return [w for w in found if w.lower() not in little and w.lower() not in ASKING]


def read(text: str) -> Question:
    """Take a question apart. A question of nothing but asking words has no stems."""
    text = _spelled(_heart(text))
    surface: dict[str, str] = {}
    for word in _content(text):
        surface.setdefault(stem(word), word)
        if len(surface) >= MOST_WORDS:
            break
    if (about := _asks_what_is_open(text)) is not None:
        words_about = {stem(word): word for word in about}
        return Question({**words_about, OPEN: "open"}, tuple(sorted(OPEN_WORDS)), want="open")
    return Question(
        surface,
        (),
        frozenset(focus(text)) & surface.keys(),
        frozenset(_names(text)) & surface.keys(),
        _light(text, surface),
        frozenset(_counted(text)),
        want(text),
        _YES_NO.match(text) is not None,
        any(word.lower() in LATEST_WORDS for word in words(text)),
        _PENDING.search(text) is not None,
        tuple((stem(a), stem(b), stem(a + b)) for a, b in pairwise(words(text))),
    )


def _spelled(text: str) -> str:
    """With the apostrophes that quick typing leaves out."""
    return _QUICK_NOT.sub(r"\1n't", _QUICK_IS.sub(r"\1's", text))


def _asks_what_is_open(text: str) -> list[str] | None:
    """What the open items are to be about, or None when the question is another one."""
    if _OPEN.search(text) is None:
        return None
    rest = _content(_OPEN.sub(" ", text))
    about = [w for w in rest if w.lower().removesuffix("s") not in OPEN_FILL]
    return about if len(about) <= 1 else None


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
    for pattern in (COUNT, _MUCH, _MUCH_DOES, WHO, _IS_THE, _DOES, _WHICH):
        if match := pattern.search(text):
            asked = match.group(1)
            if pattern is _IS_THE:
                asked = re.sub(r"^.{0,40}?\w['’]s\s+", "", asked, flags=re.S) or asked
            run = _run(asked)
            if pattern in (COUNT, WHO):
                run = run[:1]
            heavy = [stem(word) for word in run if word.lower() not in LIGHT]
            return heavy[-1:] if pattern in (_DOES, _MUCH_DOES) else heavy
    return []


def _light(text: str, surface: dict[str, str]) -> frozenset[str]:
    typed = {word.lower() for piece in _TYPED.findall(text) for word in piece.split()}
    return frozenset(s for s, word in surface.items() if word.lower() in LIGHT | typed)


def _counted(text: str) -> Sequence[str]:
    """Stems of what is to be counted."""
    match = COUNT.search(text)
    if match is None:
        return []
    if match.group(1).startswith("of "):
        return [stem(word) for word in _content(match.group(1))]
    return [stem(word) for word in _run(match.group(1))[:2]]


def _names(text: str) -> Sequence[str]:
    """Stems of words that are names by their form: a capital inside a sentence, or a digit."""
    found: list[str] = []
    for match in re.finditer(r"[^\W_]+", text):
        word = match.group()
        inside = re.search(r"[\w,;:)'\"’]\s*$", text[: match.start()]) is not None
        if any(c.isdigit() for c in word) or (inside and word[:1].isupper() and not is_stop(word)):
            found += [stem(piece) for piece in words(word)]
    return found
