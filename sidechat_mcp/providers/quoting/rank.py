"""Which turns answer a question best. FTS5 finds candidates; here they are weighed as turns of a
dialogue: what the person said and what was answered count together, what is said later counts a
little more. Only what would be quoted is counted: at most one passage of each side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sidechat_mcp.providers.quoting.history import COUNTS
from sidechat_mcp.providers.quoting.index import Index, Passage
from sidechat_mcp.providers.quoting.language.cues import leaves_open
from sidechat_mcp.providers.quoting.language.forms import forms
from sidechat_mcp.providers.quoting.language.sentences import split
from sidechat_mcp.providers.quoting.language.words import stems
from sidechat_mcp.providers.quoting.questions import OPEN, Question
from sidechat_mcp.providers.quoting.wants import Said, gives

TOPIC = 0.5
"""What a word of the conversation's first message counts where it is not said: it is meant."""
RELATED = 0.6
"""What a related word counts, against 1 for the word itself."""
UNSEEN = 1.3
"""The weight of a word that the whole history lacks; the rarest word there is weighs 1."""
LIGHT = 0.6
MOST_PASSAGES = 6
"""Of one turn, that many found passages are weighed."""

Key = tuple[int, int]
"""Orders turns: (number, 0), or for a message of no turn (number of the turn before, 1 + place)."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a passage holds of a question: the credit (0 to 1) of each of its words, and the
    weighted share that its best sentence holds."""

    row: int
    passage: Passage
    held: Mapping[str, float]
    closest: float
    sentences: Sequence[Said]


@dataclass(frozen=True, slots=True)
class Turn:
    """A candidate with the one or two passages that would be quoted of it. `held`, `coverage`
    (the weighted share of the question) and `gives` (it has the kind of thing asked for) are
    over these passages; `said` is the coverage without what is only meant."""

    key: Key
    matches: Sequence[Match]
    held: Mapping[str, float]
    coverage: float
    said: float
    closest: float
    gives: bool
    score: float = 0.0


def weights(index: Index, question: Question) -> dict[str, float]:
    """How much each word of the question counts."""
    found: dict[str, float] = {}
    for s, rare in index.rarity(question.stems).items():
        seen = s == OPEN or index.seen(s) > 0 or any(index.seen(f) for f in forms(s))
        if s in question.light:
            found[s] = LIGHT * rare if seen else 0.0
        else:
            found[s] = rare if seen else UNSEEN
    return found


def rank(index: Index, question: Question, extra: Sequence[str] = ()) -> list[Turn]:
    """Candidate turns, best first. `extra` are words for a wider second look."""
    hits = dict(index.search([*question.looked_for, *extra]))
    if not hits:
        return []
    rows: dict[Key, list[int]] = {}
    for row in hits:
        rows.setdefault(_key(index.passages[row]), []).append(row)
    weight = weights(index, question)
    top = max(hits.values())
    last = max(index.passages[-1].entry.after, 1)
    late = 0.5 if question.want == "open" else 0.3 if question.latest else 0.08
    found: list[Turn] = []
    for key, its in rows.items():
        turn = _weigh(key, _rows(index, key, its), index, question, weight)
        score = (
            turn.said
            + 0.5 * turn.closest
            + 0.35 * max(hits[row] for row in its) / top
            + late * key[0] / last
            + (0.15 if turn.gives else 0.0)
            - (0.0 if all(turn.held.get(s) for s in question.names) else 0.15)
        )
        found.append(replace(turn, score=score))
    return sorted(found, key=lambda t: (-t.score, t.key))


def turn_at(index: Index, number: int, question: Question) -> Turn | None:
    """The turn with that number, found or not."""
    key = (number, 0)
    rows = _rows(index, key, ())
    return _weigh(key, rows, index, question, weights(index, question)) if rows else None


def _key(passage: Passage) -> Key:
    entry = passage.entry
    return (entry.turn, 0) if entry.turn is not None else (entry.after, 1 + entry.place)


def _rows(index: Index, key: Key, found: Sequence[int]) -> Sequence[int]:
    """The found passages of a turn with what else a reader needs of it: how the person began it
    and how it ended."""
    same = index.of_turn.get(key[0], []) if key[1] == 0 else []
    spoken = [r for r in same if index.passages[r].entry.speaker in ("user", "assistant")]
    return sorted({*found[:MOST_PASSAGES], *spoken[:2], *spoken[-2:]})


def _weigh(
    key: Key,
    rows: Sequence[int],
    index: Index,
    question: Question,
    weight: Mapping[str, float],
) -> Turn:
    matches = [_match(row, index.passages[row], question, weight) for row in rows]
    asked = [m for m in matches if m.passage.entry.speaker == "user"]
    said = [m for m in matches if m.passage.entry.speaker != "user"]
    pair = max(
        ([m for m in (a, b) if m] for a in asked or [None] for b in said or [None]),
        key=lambda p: (_share(_union(p), weight), sum(m.closest for m in p), p[-1].row),
    )
    held = _union(pair)
    said = _share(held, weight)
    if held:
        held |= {s: TOPIC for s in question.heavy & index.topic if s not in held}
    return Turn(
        key,
        pair,
        held,
        _share(held, weight),
        said,
        max(m.closest for m in pair),
        gives(question, [said for m in pair for said in m.sentences]),
    )


def _match(row: int, passage: Passage, question: Question, weight: Mapping[str, float]) -> Match:
    factor = COUNTS.get(passage.entry.speaker, 1.0)
    held: dict[str, float] = {}
    closest = 0.0
    sentences: list[Said] = []
    for span in split(passage.entry.text, passage.span.start, passage.span.stop):
        sentence = passage.entry.text[span.start : span.stop]
        here = _held(frozenset(stems(sentence)), question, factor)
        if question.want == "open" and leaves_open(sentence):
            here[OPEN] = factor
        closest = max(closest, _share(here, weight))
        sentences.append(Said(sentence, frozenset(here), passage.entry.speaker == "user"))
        for s, credit in here.items():
            held[s] = max(credit, held.get(s, 0.0))
    return Match(row, passage, held, closest, sentences)


def _held(found: frozenset[str], question: Question, factor: float) -> dict[str, float]:
    held: dict[str, float] = {}
    for s, alike in question.alike.items():
        if s in found or found & forms(s):
            held[s] = factor
        elif alike & found:
            held[s] = RELATED * factor
    return held


def _union(matches: Sequence[Match]) -> dict[str, float]:
    held: dict[str, float] = {}
    for match in matches:
        for s, credit in match.held.items():
            held[s] = max(credit, held.get(s, 0.0))
    return held


def _share(held: Mapping[str, float], weight: Mapping[str, float]) -> float:
    total = sum(weight.values())
    return sum(weight[s] * credit for s, credit in held.items()) / total if total else 0.0
