"""Whether what was found is an answer. When in doubt it is not: a quote that is shown as a weak
match misleads nobody, a wrong answer does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sidechat_mcp.core.events import Verdict
from sidechat_mcp.providers.quoting.language.cues import knows_not, leaves_open
from sidechat_mcp.providers.quoting.questions import Question
from sidechat_mcp.providers.quoting.rank import TOPIC, UNSEEN, Turn

COVERAGE = 0.5
"""The best turn must hold that share of the question, by weight (measured: facts on providers)."""
NEVER = 0.4
"""No more than that share of the question may be words that were never used."""
NEVER_WHY = 0.6
"""That a thing was done is not in doubt when somebody asks why, only in which words."""
HALF = 0.5
"""What a word counts that only a related one stands for, among the two that must be there."""
FOCUS = 0.5
"""The same of the words that name the thing asked for."""
SAID = 0.9
"""Credit of a word that somebody said (`rank.Match`)."""
MOST_TURNS = 3
"""So many turns are quoted."""
SPEAKS_OF = 0.4
"""A turn that holds so much of a question may answer it, too."""
FLOOR = 0.12
"""Below that share a turn has nothing to do with the question."""


def verdict(question: Question, turns: Sequence[Turn], weight: Mapping[str, float]) -> Verdict:
    """The verdict on `turns`, best first. `weight` is that of the question's words."""
    if not turns or turns[0].coverage < FLOOR:
        return "not found"
    clear = _answers(question, turns[0], weight) and not (
        _undecided(question, turns) or _ambiguous(question, turns) or _overtaken(question, turns)
    )
    return "answered" if clear else "weak"


def _overtaken(question: Question, turns: Sequence[Turn]) -> bool:
    """Whether how things stand now may be what a later turn says that is not among the best."""
    about = question.focus or question.heavy
    return question.latest and any(
        t.gives
        and t.key > turns[0].key
        and t.coverage >= SPEAKS_OF
        and any(t.held.get(s, 0.0) >= SAID for s in about)
        for t in turns[MOST_TURNS:]
    )


def _ambiguous(question: Question, turns: Sequence[Turn]) -> bool:
    """Whether so many turns speak of the one thing asked about that any may be meant."""
    if len(question.heavy) > 1 or question.want == "open":
        return False
    why = question.want == "why"
    same = [t for t in turns if (t.gives or why) and t.coverage >= turns[0].coverage]
    if question.latest and question.heavy and same and turns[0].key == max(t.key for t in same):
        return False
    return len(same) >= MOST_TURNS


def _undecided(question: Question, turns: Sequence[Turn]) -> bool:
    """Whether all that speaks of the matter only says that it is not known or not decided, and
    nothing later speaks of it."""
    best, about = turns[0], question.focus or question.heavy
    if question.want in ("open", "why") or question.yes_no or question.pending:
        return False
    if any(t.key > best.key and any(t.held.get(s, 0.0) >= SAID for s in about) for t in turns):
        return False
    closest = [s for m in best.matches for s in m.sentences if not s.asked]
    most = max((len(s.held & question.heavy) for s in closest), default=0)
    told = [s.text for s in closest if len(s.held & question.heavy) == most]
    return most > 0 and all(leaves_open(text) or knows_not(text) for text in told)


def _answers(question: Question, best: Turn, weight: Mapping[str, float]) -> bool:
    if best.coverage < COVERAGE or not best.gives:
        return False
    # What only a related word stands for, or only a tool returned, was not really said.
    own = {s for s, credit in best.held.items() if credit >= SAID}
    heavy = [s for s in question.stems if s not in question.light] or list(question.stems)
    said = sum(1.0 if s in own else HALF if s in best.held else 0.0 for s in heavy)
    if not own or said < min(1 + HALF, max(len(heavy), 1)):
        return False
    if not question.names <= own:
        return False
    if question.yes_no and any(s not in own and best.held.get(s) != TOPIC for s in heavy):
        return False
    never = sum(w for s, w in weight.items() if w >= UNSEEN and s not in best.held)
    if never > (NEVER_WHY if question.want == "why" else NEVER) * sum(weight.values()):
        return False
    if question.focus and not own & question.focus:
        return False
    wanted = sum(weight[s] for s in question.focus)
    return sum(weight[s] * best.held.get(s, 0.0) for s in question.focus) >= FOCUS * wanted
