"""Turns of phrase that tell what a sentence does in a dialogue: decide, take back, leave open.

English only; in another language nothing is recognised and words alone decide."""

from __future__ import annotations

import re

_CORRECTION = re.compile(
    r"^\W*(?:hm+|no|nope|nah|wait|actually|but|however|hold on|not (?:quite|really|that|so)|scratch"
    r" that|stop|careful|sorry|wrong)\b"
    r"|\b(?:instead|rather than|make (?:it|that|them)|change (?:it|that|this) to|switch(?:ed)? to"
    r"|changed my mind|on second thoughts?|forget (?:about|it|that|the)|never ?mind|scratch that"
    r"|(?:is|are|was|were|'s|that's|looks?|seems?) (?:much |far |way |a bit )?too \w+"
    r"|(?:is|are|'s|'re) wrong|breaks?|(?:won't|doesn't|does not|will not|can't|cannot|didn't) work"
    r"|(?:is|are|'s|'re) enough|not (?:allowed|possible|available|acceptable|an option)"
    r"|no longer|retired|cancell?ed|closed|(?:need|find|use|take|want|try) (?:another|a different)"
    r"|(?:we )?don't have (?:an?|any)|\w+ wants? (?:us to |it )?(?:\d|at least|at most|only)"
    r"|we (?:can't|cannot|must not|shouldn't)|i(?:'d| would) rather|let's not|please don't)\b"
    r"|^no \w+|[,.] no \w+",
    re.I | re.M,
)
_DECISION = re.compile(
    r"\b(?:agreed|decided?|decision|settled|chosen|we(?:'ll| will)|i(?:'ll| will)|let's|go(?:ing)?"
    r" (?:with|for)|stays?|it is,|use|keep|take|make it|do (?:that|this|it)|set (?:it|the|up)|then:"
    r"|done|changed|book|switch(?:ed)? to|must|approved?|confirmed|ok(?:ay)?,|yes,|fine,|only"
    r"|accepts?|instead|prepare|hire|leave)\b",
    re.I,
)
_OPEN = re.compile(
    r"\b(?:open(?: (?:is|are|items?|questions?|points?|issues?))?:|(?:is|are|that is|that's|stays?"
    r"|remains?|still) (?:still )?(?:open|undecided|unclear|unresolved|outstanding|missing)"
    r"|remaining|still to|to do|todo|to be (?:decided|done|clarified|confirmed|checked)|outstanding"
    r"|pending|undecided|unsettled|not (?:yet )?(?:settled|decided|clear|done|sure)(?: yet)?"
    r"|unresolved|next steps?|what's left|left to|follow-?ups?|blocked on|waiting for|depends on"
    r"|tbd|should decide|has to decide|must (?:approve|decide|confirm))\b",
    re.I,
)
_AGREES = re.compile(
    r"^\W*(?:agreed|yes|yep|yeah|ok(?:ay)?|fine|good|great|perfect|nice|right|sure|sounds good"
    r"|makes sense|do (?:that|it|this)|go (?:with|for|ahead)|i like|please do|exactly)\b",
    re.I,
)
_PROPOSAL = re.compile(
    r"\b(?:i(?:'d| would)|i suggest|i propose|we could|could we|could (?:also )?be|should we"
    r"|options?:|alternatively|maybe|perhaps|either|first idea|thinking of|consider|candidates?)\b",
    re.I,
)


def corrects(said: str) -> bool:
    """Whether a person's message takes back or changes what was said just before."""
    return _CORRECTION.search(said) is not None


def agrees(said: str) -> bool:
    return _AGREES.search(said) is not None


def decides(sentence: str) -> bool:
    return _DECISION.search(sentence) is not None


def leaves_open(sentence: str) -> bool:
    return _OPEN.search(sentence) is not None


def proposes(sentence: str) -> bool:
    return _PROPOSAL.search(sentence) is not None


def asks(sentence: str) -> bool:
    return sentence.rstrip("\"'”’) ").endswith(("?", "？"))
