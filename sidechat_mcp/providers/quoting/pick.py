"""The pieces of a history that a note should hold: what was decided, found out and left open.

A piece is a sentence or a run of its clauses. It counts for the telling words it brings, more if
it decides or leaves open, less if it only proposes; a turn that the person took back in the next
one counts nothing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from sidechat_mcp.providers.quoting.history import Entry
from sidechat_mcp.providers.quoting.language import cues
from sidechat_mcp.providers.quoting.language.sentences import ITEM, Span, fenced, split
from sidechat_mcp.providers.quoting.language.wordlists import NODS, UNITS, is_stop
from sidechat_mcp.providers.quoting.language.words import stem, words
from sidechat_mcp.providers.quoting.overtaken import Measure, measures, overtaken

Group = Literal["Decisions", "Facts", "Open"]

LATEST, LONGEST_SAID = 1_500, 50_000
"""Of a very long history only that many of the latest sentences are weighed; of a very long
message, that many of its last characters."""
NAMED, FIGURES = 1.6, 1.8
"""What a name, and on top of that a figure, weighs against a plain word."""
TAKEN, UNTAKEN = 1.7, 0.4
"""What a piece of an answer counts that the person took over in the next turn, and one of an answer
of which they took over something else."""
TOLD = 1.3
"""What a sentence counts in which the person says what to do or takes something over."""
PASSED_OVER = 0.6
"""What a sentence counts as an answer to what was asked that only proposes, or of whose answer the
person took over something else."""
OVERTAKEN, AGED = 0.25, 0.8
"""What a sentence counts whose figures a later one gives otherwise: in a note, and as an answer to
what was asked, since it may have been asked for."""
BARE = 0.3
"""What a person's one or two words count that take nothing over: they name what comes next."""
SHOWN = 1.4
"""What a piece counts that was shown as an answer on the side."""
WEIGHT: dict[Group, float] = {"Open": 1.8, "Decisions": 2.0, "Facts": 1.0}
SHORTEST, LONGEST = 4, 14
"""Words of a piece."""

_CLAUSE = re.compile(r"(?:[,;:](?=\s)|\s[–-](?=\s)|(?=\s(?:and|because|but|so|until|which)\s))\s*")
_POINTS_BACK = re.compile(r"(?:she|he|it|they|that|this|those|these|which|who)\b", re.I)
"""A piece that begins so says little without what came before it."""
_CONDITION = re.compile(r"(?:if|when|while|once|unless|as soon as|in case)\b", re.I)
_JOINED = re.compile(r"[\s,;:–-]*(?:(?:and|but|so|because)\s+)?")
_FIGURE = re.compile(r"(?<![^\W\d_])\d+(?:[.,:]\d+)*(?![^\W\d_])")
_NAME = re.compile(r"\w[/_.#-]\w|[a-z][A-Z]|^[A-Z][A-Z0-9-]+$|\d")


@dataclass(frozen=True, slots=True)
class Piece:
    """`terms` are its telling words; `factor` is what it does in the dialogue, as a number."""

    entry: Entry
    span: Span
    group: Group
    terms: frozenset[str]
    factor: float

    @property
    def text(self) -> str:
        return self.entry.text[self.span.start : self.span.stop]

    def overlaps(self, other: Piece) -> bool:
        same = self.entry.place == other.entry.place
        return same and self.span.start < other.span.stop and other.span.start < self.span.stop

    @property
    def length(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class Material:
    """All pieces of a history, how telling each of their words is, and the sentences that stand:
    those that nobody took back, each with what it counts."""

    pieces: Sequence[Piece]
    weight: Mapping[str, float]
    sentences: Sequence[tuple[Entry, Span, float]]
    said: Mapping[str, int]


def _tells(word: str) -> bool:
    return len(word) > 1 and not is_stop(word) and word.lower() not in NODS


def terms(text: str) -> frozenset[str]:
    """The telling words of `text`: stems, and figures as one word each."""
    figures = _FIGURE.findall(text)
    plain = _FIGURE.sub(" ", text) if figures else text
    return frozenset(stem(w) for w in words(plain) if _tells(w)) | {*figures}


def material(entries: Sequence[Entry], shown: str = "") -> Material:
    """`shown` is what was quoted on the side already: pieces of it count more."""
    spoken = [e for e in entries if e.speaker in ("user", "assistant", "summary")]
    turns = _Turns.of(spoken)
    sentences = _latest(spoken)
    pieces: list[Piece] = []
    said: Counter[str] = Counter()
    old = _overtaken(sentences)
    stand: list[tuple[Entry, Span, float]] = []
    listed: Entry | None = None
    for at, (entry, sentence) in enumerate(sentences):
        text = entry.text[sentence.start : sentence.stop]
        if turns.took_back(entry, text):
            continue
        said.update(terms(text))
        weak = turns.passed_over(entry, text) or cues.proposes(text)
        counts = PASSED_OVER if weak else 1.0
        stand.append((entry, sentence, counts * (AGED if at in old else 1.0)))
        if text.endswith(":"):
            listed = entry if cues.leaves_open(text) else None
        elif not cues.asks(text):
            more = (SHOWN if text in shown else 1.0) * (OVERTAKEN if at in old else 1.0)
            open_item = listed is entry and ITEM.match(text) is not None
            pieces += _pieces(entry, sentence, turns, more, open_item)
    named = {w for e, _ in sentences for t in e.text.split() if _NAME.search(t) for w in terms(t)}
    weight = {
        term: (1 + math.log(count))
        * (NAMED if term in named else 1.0)
        * (FIGURES if term[0].isdigit() and len(term) > 1 else 1.0)
        for term, count in said.items()
    }
    return Material(pieces, weight, stand, said)


def _latest(spoken: Sequence[Entry]) -> list[tuple[Entry, Span]]:
    """The last sentences, in order."""
    found: list[tuple[Entry, Span]] = []
    for entry in reversed(spoken):
        start = max(len(entry.text) - LONGEST_SAID, 0)
        code = fenced(entry.text)
        found += [
            (entry, span)
            for span in reversed(split(entry.text, start))
            if not any(block.start <= span.start < block.stop for block in code)
        ]
        if len(found) >= LATEST:
            break
    return found[:LATEST][::-1]


def _overtaken(sentences: Sequence[tuple[Entry, Span]]) -> frozenset[int]:
    def tells(word: str) -> bool:
        return _tells(word) and stem(word) not in units()

    given: list[Measure] = []
    for place, (entry, span) in enumerate(sentences):
        text = entry.text[span.start : span.stop]
        if not cues.asks(text):
            given += measures(text, place, entry.after, not cues.proposes(text), tells)
    return overtaken(given)


@cache
def units() -> frozenset[str]:
    return frozenset(stem(word) for word in UNITS)


@dataclass(frozen=True, slots=True)
class _Turns:
    """What became of each turn: taken back, agreed to, and the words of its answer that the
    person took over in the next turn (or in this one, of the answer before)."""

    rejected: Mapping[int, frozenset[str]]
    accepted: frozenset[int]
    taken: Mapping[int, frozenset[str]]
    dropped: Mapping[str, int]
    last: int

    @classmethod
    def of(cls, spoken: Sequence[Entry]) -> _Turns:
        rejected: dict[int, frozenset[str]] = {}
        accepted: set[int] = set()
        taken: dict[int, frozenset[str]] = {}
        dropped: dict[str, int] = {}
        answer = ""
        for entry in spoken:
            if entry.speaker == "user" and entry.turn is not None and answer:
                if cues.corrects(entry.text[:400]):
                    rejected[entry.turn - 1] = terms(entry.text[:2000]) - units()
                elif cues.agrees(entry.text):
                    accepted.add(entry.turn - 1)
                told = [entry.text[s.start : s.stop] for s in split(entry.text[:2000])]
                over = frozenset[str]().union(*(terms(t) for t in told if not cues.asks(t)))
                taken[entry.turn - 1] = over & terms(answer) - units()
                for name in cues.drops(entry.text[:2000]):
                    dropped |= dict.fromkeys(terms(name) - units(), entry.turn)
            answer = entry.text if entry.speaker == "assistant" else ""
        last = max((e.after for e in spoken), default=1) or 1
        return cls(rejected, frozenset(accepted), taken, dropped, last)

    def complains(self, entry: Entry) -> bool:
        """Whether a person's message takes back the answer before it."""
        return entry.speaker == "user" and entry.after - 1 in self.rejected

    def took_back(self, entry: Entry, text: str) -> bool:
        """Whether the next turn took `text` back: the whole answer, and of what the person said
        themselves that which the correction speaks of."""
        correction = self.rejected.get(entry.after)
        if correction is None:
            return False
        return entry.speaker != "user" or bool(correction & terms(text))

    def passed_over(self, entry: Entry, text: str) -> bool:
        """Whether the person took something else over of the same answer, or dropped this later."""
        found = terms(text)
        if any(entry.after < self.dropped.get(term, 0) for term in found):
            return True
        taken = self.taken.get(entry.turn or 0) if entry.speaker == "assistant" else None
        return bool(taken) and not taken & found


def _pieces(
    entry: Entry, sentence: Span, turns: _Turns, more: float, open_item: bool
) -> list[Piece]:
    text = entry.text[sentence.start : sentence.stop]
    group = "Open" if open_item else _group(text, entry, turns)
    factor = _factor(text, entry, turns) * more
    found: list[Piece] = []
    for span in runs(entry.text, sentence):
        piece = entry.text[span.start : span.stop]
        its = group
        if group == "Open" and not (open_item or cues.leaves_open(piece)):
            its = "Facts"
        weight = factor * WEIGHT[its]
        weight *= 1.0 if span.start == sentence.start else 0.8
        if _POINTS_BACK.match(piece) or (_CONDITION.match(piece) and len(piece) < len(text) - 1):
            weight *= 0.5
        found.append(Piece(entry, span, its, terms(piece), weight))
    return found


def _over(text: str, entry: Entry, turns: _Turns) -> frozenset[str]:
    """What the person takes over of the answer before."""
    return terms(text) & turns.taken.get((entry.turn or 0) - 1, frozenset())


def _told(text: str, entry: Entry, turns: _Turns) -> bool:
    """Whether the person says here what to do, or takes over something of the answer before in a
    few words."""
    if entry.speaker != "user" or entry.turn is None:
        return False
    if cues.orders(text) or turns.complains(entry):
        return cues.orders(text)
    return bool(_over(text, entry, turns)) and len(text.split()) <= 14


def _group(text: str, entry: Entry, turns: _Turns) -> Group:
    if cues.leaves_open(text) and entry.after * 2 >= turns.last:
        return "Open"
    return "Decisions" if _told(text, entry, turns) or cues.decides(text) else "Facts"


def _factor(text: str, entry: Entry, turns: _Turns) -> float:
    factor = TOLD if _told(text, entry, turns) else 1.0
    if entry.speaker == "user" and len(text.split()) <= 2 and not _over(text, entry, turns):
        factor *= BARE
    accepted = entry.speaker == "assistant" and entry.turn in turns.accepted
    if turns.complains(entry) and not (cues.orders(text) or cues.decides(text)):
        factor *= 0.3
    if any(entry.after < turns.dropped.get(term, 0) for term in terms(text)):
        factor *= 0.4
    if cues.proposes(text):
        factor *= 1.0 if accepted else 0.6
    elif accepted:
        factor *= 1.2
    taken = turns.taken.get(entry.turn or 0) if entry.speaker == "assistant" else None
    if taken:
        factor *= TAKEN if taken & terms(text) else UNTAKEN
    return factor * (0.9 + 0.2 * entry.after / turns.last)


def runs(text: str, sentence: Span, longest: int = LONGEST) -> list[Span]:
    """The sentence itself, if it is short, and the runs of its clauses that are."""
    limits = [
        m.end()
        for m in _CLAUSE.finditer(text, sentence.start, sentence.stop)
        if text.count("(", sentence.start, m.end()) == text.count(")", sentence.start, m.end())
    ]
    limits = [sentence.start, *limits, sentence.stop]
    found: list[Span] = []
    for first, start in enumerate(limits[:-1]):
        for stop in limits[first + 1 :]:
            span = _trimmed(text, start, stop)
            length = len(text[span.start : span.stop].split())
            if length > longest:
                break
            whole = span.stop - span.start >= sentence.stop - sentence.start - 1
            if length >= SHORTEST or whole:
                found.append(span)
    return found


def _trimmed(text: str, start: int, stop: int) -> Span:
    """Without separators at its ends, and without the little word that joined it to the clause
    before."""
    piece = text[start:stop].rstrip(" \n\t,;:–-")
    joined = _JOINED.match(piece)
    return Span(start + (joined.end() if joined else 0), start + len(piece))
