"""Whether what was found is an answer. When in doubt it is not: a quote that is shown as a weak
match misleads nobody, a wrong answer does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sidechat_mcp.core.events import Verdict
from sidechat_mcp.providers.quoting.questions import Question
from sidechat_mcp.providers.quoting.rank import UNSEEN, Turn

COVERAGE = 0.5
"""The best turn must hold that share of the question, by weight (measured: facts on providers)."""
NEVER = 0.4
"""No more than that share of the question may be words that were never used."""
FOCUS = 0.5
"""The same of the words that name the thing asked for."""
SAID = 0.9
"""Credit of a word that somebody said (`rank.Match`)."""
FLOOR = 0.12
"""Below that share a turn has nothing to do with the question."""


def verdict(question: Question, turns: Sequence[Turn], weight: Mapping[str, float]) -> Verdict:
    """The verdict on `turns`, best first. `weight` is that of the question's words."""
    if not turns or turns[0].coverage < FLOOR:
        return "not found"
    return "answered" if _answers(question, turns[0], weight) else "weak"


def _answers(question: Question, best: Turn, weight: Mapping[str, float]) -> bool:
    if best.coverage < COVERAGE or not best.gives:
        return False
    # What only a related word stands for, or only a tool returned, was not really said.
    own = {s for s, credit in best.held.items() if credit >= SAID}
    heavy = [s for s in question.stems if s not in question.light]
    if len(own.intersection(heavy)) < min(2, max(len(heavy), 1)):
        return False
    if not question.names <= own:
        return False
    if question.yes_no and not own.issuperset(question.stems):
        return False
    never = sum(w for s, w in weight.items() if w >= UNSEEN and s not in best.held)
    if never > NEVER * sum(weight.values()):
        return False
    wanted = sum(weight[s] for s in question.focus)
    return sum(weight[s] for s in question.focus if s in own) >= FOCUS * wanted
