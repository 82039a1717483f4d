"""What a demo might ask of a conversation it has never seen: questions made from its own words.
Pure; the same conversation gives the same questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_TAG = re.compile(r"<[^<>\s][^<>]*>")
_WORD = re.compile(r"[^\W\d_][\w'-]*[^\W_]")
_SHORTEST, _LONGEST = 4, 24
_DULL = """about after again agreed also anything because before better could does doing done each
    even every first from give good great have here into just keep know last like look made make
    many more most much need next okay only other over please really right same says should show
    some something start still take tell thanks that them then there these they thing things think
    this those thought time today used using very want wants well were what when where which
    while will with work would write years your"""
_DULL_WORDS = frozenset(_DULL.split())
WORDS = 3
"""How many words a question is made of."""


@dataclass(frozen=True, slots=True)
class Told:
    """A turn as it was said: its number, the person's words and the assistant's."""

    number: int
    user: str
    assistant: str


def questions(turns: Sequence[Told], many: int = 2) -> Sequence[str]:
    """`many` questions, each about one turn, in the order of the turns. Each uses the words of
    the person that stand out: said in few turns, taken up in the answer, long. Where there are
    too few turns, the assistant's words give the rest."""
    spread = Counter(word for turn in turns for word in set(_words(turn.user)))
    asked = [(_prominent(turn, spread), turn) for turn in turns]
    best = sorted(asked, key=lambda one: (-_weight(*one, spread), one[1].number))[:many]
    found = [_question(words, turn) for words, turn in sorted(best, key=lambda one: one[1].number)]
    for turn in turns:
        if len(found) < many:
            turned = Told(turn.number, turn.assistant, turn.user)
            found.append(_question(_prominent(turned, spread), turned))
    return found


def _words(text: str) -> list[str]:
    found = (word.casefold() for word in _WORD.findall(_TAG.sub(" ", text)))
    return [
        word for word in found if _SHORTEST <= len(word) <= _LONGEST and word not in _DULL_WORDS
    ]


def _prominent(turn: Told, spread: Mapping[str, int]) -> Sequence[str]:
    taken_up = set(_words(turn.assistant))
    words = dict.fromkeys(_words(turn.user))
    return sorted(
        words, key=lambda word: (word not in taken_up, spread.get(word, 0), -len(word), word)
    )[:WORDS]


def _weight(words: Sequence[str], turn: Told, spread: Mapping[str, int]) -> float:
    taken_up = set(_words(turn.assistant))
    return sum((2.0 if word in taken_up else 0.5) / spread[word] for word in words)


def _question(words: Sequence[str], turn: Told) -> str:
    if not words:
        return " ".join(turn.user.split())[:200] or "What was said so far?"
    *before, last = words
    return f"What was said about {', '.join(before)}{' and ' if before else ''}{last}?"
