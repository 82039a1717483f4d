"""A question and an index → the lines of a reply and its verdict. Deterministic, no waiting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sidechat_mcp.core.events import Verdict
from sidechat_mcp.providers.quoting import gate, reply
from sidechat_mcp.providers.quoting.index import Index, Passage
from sidechat_mcp.providers.quoting.language.cues import corrects, is_nod
from sidechat_mcp.providers.quoting.questions import Question, read
from sidechat_mcp.providers.quoting.rank import Turn, rank, turn_at, weights
from sidechat_mcp.providers.quoting.reply import Quote

FADING = 0.4
"""A turn with less than that share of the best one's score is not shown."""

SHORT = 18
"""So few words of a person that ask nothing are about what was said just before."""
HEAD = 400
"""A correction stands in that many first characters of what a person says."""
FEW = 2
"""A question with no more words of its own than that may lean on the one before it."""

_GOES_ON = re.compile(
    r"^\W*(?:and|but|so|or|also|why|how so|what about|how about|what else|anything else|which one"
    r"|since when|really)\b",
    re.I,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|there|ones?|same|other|he|she|him|her"
    r"|former|latter)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Reply:
    lines: Sequence[str]
    verdict: Verdict | None
    quotes: Sequence[Quote] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def answer(index: Index, text: str, earlier: Sequence[str] = ()) -> Reply:
    """The reply to the question `text`; `earlier` are the questions before it, oldest first."""
    question = _in_words_of(index, read(text))
    turns = rank(index, question)
    verdict = gate.verdict(question, turns, weights(index, question))
    if verdict != "answered":
        if earlier and _follows(text, question):
            question = question.after(_in_words_of(index, read(earlier[-1])))
            turns = rank(index, question)
        if len(turns) < gate.MOST_TURNS or turns[0].coverage < gate.COVERAGE:
            turns = rank(index, question, question.wider)
        found = gate.verdict(question, turns, weights(index, question))
        verdict = "not found" if found == "not found" else "weak"
    if verdict == "not found":
        total = max((p.entry.turn or 0 for p in index.passages), default=0)
        return Reply(reply.not_found(tuple(question.words.values()), total), verdict)
    shown = _shown(index, question, turns)
    quotes = _marked([q for turn in shown for q in _quotes(turn, turn.key == turns[0].key)])
    if verdict == "answered":
        return Reply(reply.answered(quotes), verdict, quotes)
    held = {s for turn in shown for s in turn.held}
    missing = [word for s, word in question.words.items() if s not in held]
    return Reply(reply.weak(quotes, missing), verdict, quotes)


def _follows(text: str, question: Question) -> bool:
    """Whether a question cannot be understood without the one before it."""
    if len(question.words) > FEW:
        return False
    return _GOES_ON.match(text) is not None or _POINTS_BACK.search(text) is not None


def _in_words_of(index: Index, question: Question) -> Question:
    """The question in the history's own forms of its words."""
    kin = {s: other for s in question.stems if (other := index.kin(s)) is not None}
    for first, second, whole in question.joined:
        if first in question.words and not index.seen(first) and index.seen(whole):
            kin |= {first: whole, second: whole}
    return question.respelled(kin) if kin else question


def _shown(index: Index, question: Question, turns: Sequence[Turn]) -> list[Turn]:
    """The best turns in their order. A turn that takes back what the best one says is shown with
    it, whatever else is left out."""
    best = turns[0]
    kept = [t for t in turns[: gate.MOST_TURNS] if t.score >= FADING * best.score]
    after = turn_at(index, best.key[0] + 1, question) if best.key[1] == 0 else None
    if after is not None and after.key not in {t.key for t in kept} and _steers(after):
        kept.append(after)
    before = turn_at(index, best.key[0] - 1, question) if _reacts(question, best) else None
    if question.want != "why" or (after is not None and not after.held):
        after = None
    for other in (before, after):
        if other is not None and other.key not in {t.key for t in kept}:
            kept.append(other)
    return sorted(kept, key=lambda t: t.key)


def _reacts(question: Question, turn: Turn) -> bool:
    """Whether what a turn has of the question is only what the person said of what they had just
    heard; where a question asks why, the reason often stands there, whoever else speaks of it."""
    if turn.key[1] != 0:
        return False
    of = {m.passage.entry.speaker for m in turn.matches if m.held}
    said = [m.passage.text for m in turn.matches if m.passage.entry.speaker == "user"]
    back = any(_POINTS_BACK.search(text) for text in said)
    return "user" in of and (question.want == "why" or (of == {"user"} and back))


def _steers(turn: Turn) -> bool:
    """Whether the person changes in this turn what was said in the one before."""
    said = [m.passage.entry.text for m in turn.matches if m.passage.entry.speaker == "user"]
    return any(
        corrects(text[:HEAD])
        or (len(text.split()) <= SHORT and "?" not in text and not is_nod(text))
        for text in said
    )


def _quotes(turn: Turn, best: bool) -> list[Quote]:
    """What is quoted of one turn: its passages that hold something of the question. Where that is
    only what the person said, what was answered, too; of the best turn always."""
    spoken = [m for m in turn.matches if m.held]
    if best or not spoken or all(m.passage.entry.speaker == "user" for m in spoken):
        spoken = list(turn.matches)
    return [_quote(m.passage) for m in spoken]


def _quote(passage: Passage) -> Quote:
    entry, span = passage.entry, passage.span
    return Quote(
        entry.turn,
        entry.after,
        entry.speaker,
        passage.text,
        bool(entry.text[: span.start].strip()),
        bool(entry.text[span.stop :].strip()),
    )


def _marked(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes with the latest turn marked, if there are several turns."""
    keys = [(q.turn, q.after) for q in quotes]
    if len(set(keys)) < 2:
        return list(quotes)
    return [replace(q, latest=key == keys[-1]) for q, key in zip(quotes, keys, strict=True)]
