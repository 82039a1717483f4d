"""Turns of phrase that tell what a sentence does in a dialogue: decide, take back, leave open.

English only; in another language nothing is recognised and words alone decide."""

from __future__ import annotations

import re

from sidechat_mcp.providers.quoting.language.sentences import split

_CORRECTION = re.compile(
    r"^\W*(?:hm+|only|no|nope|nah|wait|actually|but|however|hold on|not (?:quite|really|that|so)"
    r"|scratch that|stop|careful|sorry|wrong)\b"
    r"|\b(?:instead|rather than|make (?:it|that|them)|change (?:it|that|this) to|switch(?:ed)? to"
    r"|changed my mind|on second thoughts?|forget (?:about|it|that|the)|never ?mind|scratch that"
    r"|(?:is|are|was|were|'s|that's|looks?|seems?) (?:much |far |way |a bit )?too \w+"
    r"|too (?:little|few|much|many|long|short|slow|expensive|big|small|late|early|risky)"
    r"|(?:is|are|'s|'re) wrong|breaks?|(?:won't|doesn't|does not|will not|can't|cannot|didn't) work"
    r"|(?:is|are|'s|'re) enough|not (?:allowed|possible|available|acceptable|an option)"
    r"|no longer|retired|cancell?ed|closed|(?:need|find|use|take|want|try) (?:another|a different)"
    r"|(?:we )?don't have (?:an?|any)|\w+ wants? (?:us to |it )?(?:\d|at least|at most|only)"
    r"|we (?:can't|cannot|must not|shouldn't)|i(?:'d| would) rather|let's not|please don't)\b"
    r"|^no \w+|^\W*\w{1,8}[,.] no \w+",
    re.I | re.M,
)
_DECISION = re.compile(
    r"^\W*(?:(?:agreed|then|done|changed|fixed|decided|settled|understood)\b|ok(?:ay)?[:,])"
    r"|\b(?:agreed|we(?:'ve)? decided|decision|settled on|chosen|we(?:'ll| will)|i(?:'ll| will)"
    r"|let's|go(?:ing)? (?:with|for)|it is,|stays|make it|do (?:that|this)"
    r"|set (?:it|the \w+) (?:at|to)"
    r"|i(?:'ve| have) (?:changed|added|moved|fixed)|i (?:changed|added|moved|fixed)"
    r"|switch(?:ed)? to|has agreed|approved|confirmed|instead|rollback is|the (?:rule|plan|fix) is"
    r"|is enough|wants? (?:\d|at least|at most|only))\b"
    r"|\b(?:it is|then|settled|accepted|booked|agreed)\s*[.!](?:\s|$)"
    r"|^\W*(?:right|ok(?:ay)?|fine|good|yes|so)[,.]? then\b",
    re.I,
)
_ORDER = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|yes|fine|good|great|nice|right|sure|then|please|and)[,.:]?\s+)*(?:use|keep|take|go|make"
    r"|do|set|let|leave|prepare|hire|book|add|drop|remove|move|put|send|start|stop|switch|change|write"
    r"|no|call|ship|run|forget|skip|only|give|plan|try|buy|pick)\b",
    re.I,
)
"""A person's sentence that tells what to do."""
_OPEN = re.compile(
    r"\b(?:open(?: (?:is|are|items?|questions?|points?|issues?))?|remaining(?: work| tasks?)?|to do"
    r"|outstanding):|^\W*(?:missing|left):"
    r"|\b(?:(?:that|this|it) is (?:still )?open|(?:is|are|stays?|remains?|still) (?:still )?"
    r"(?:open|undecided|unclear|unresolved|outstanding)"
    r"|remaining to do|still to (?:do|be)|todo"
    r"|to be (?:decided|done|clarified|confirmed|checked)|outstanding|still pending|undecided"
    r"|unsettled|not (?:yet )?(?:settled|decided|clear)(?: yet)?|unresolved|next steps?"
    r"|\w+n['’]t (?:yet )?(?:decided|settled|agreed|clear)|nobody has (?:decided|settled|agreed)"
    r"|what's left|left to \w+|follow-?ups?|blocked on"
    r"|still (?:waiting|need|missing)|tbd"
    r"|should decide|has to decide|not sure)\b",
    re.I,
)
_AGREES = re.compile(
    r"^\W*(?:agreed|yes|yep|yeah|ok(?:ay)?|fine|good|great|perfect|nice|right|sure|sounds good"
    r"|makes sense|do (?:that|it|this)|go (?:with|for|ahead)|i like|please do|exactly)\b",
    re.I,
)
_PROPOSAL = re.compile(
    r"\b(?:i(?:'d| would)|i suggest|i propose|we could|could we|could (?:also )?be|should we"
    r"|options?:|alternatively|maybe|perhaps|either|first idea|thinking of|consider|candidates?"
    r"|offers?|if we)\b",
    re.I,
)


_UNKNOWN = re.compile(
    r"\b(?:(?:do|does|did)(?:n['’]t| not) (?:yet )?(?:know|say|tell|mention)|(?:is|are|still)"
    r" unknown|no idea|(?:nobody|no one)"
    r" knows|not (?:mentioned|stated|specified|recorded))\b",
    re.I,
)


def knows_not(sentence: str) -> bool:
    """Whether a sentence says that something is not known."""
    return _UNKNOWN.search(sentence) is not None


def corrects(said: str) -> bool:
    """Whether a person's message takes back or changes what was said just before."""
    return _CORRECTION.search(said) is not None


_DROPPED = re.compile(
    r"\b(?:forget(?: about)?|drop|skip|scratch|instead of|rather than|no more|not"
    r"|do(?:n['’]?t| not)|never|without|against)"
    r"\s+(?:the |a |an |any |using )?([\w-]+)",
    re.I,
)


def drops(said: str) -> list[str]:
    """What a person's words turn down by name."""
    return _DROPPED.findall(said)


def agrees(said: str) -> bool:
    return _AGREES.search(said) is not None


_NOD = re.compile(
    r"\W*(?:(?:agreed|yes|yep|yeah|y|ok(?:ay)?|k|fine|good|great|perfect|nice|right|sure|cool"
    r"|thanks?|thank you|please do|do (?:that|it|this)|go (?:on|ahead)|sounds good|makes sense|wow"
    r"|done|super|lovely|got it|exactly)\W*)*",
    re.I,
)


def is_nod(said: str) -> bool:
    """Whether a message is nothing but assent."""
    return _NOD.fullmatch(said) is not None


def decides(sentence: str) -> bool:
    return _DECISION.search(sentence) is not None


def orders(sentence: str) -> bool:
    """Whether a person's sentence tells what to do."""
    return _ORDER.match(sentence) is not None


def leaves_open(sentence: str) -> bool:
    return _OPEN.search(sentence) is not None


def proposes(sentence: str) -> bool:
    return _PROPOSAL.search(sentence) is not None


_REQUEST = re.compile(
    r"^\W*(?:(?:and|so|but|ok(?:ay)?|please|now)[,:]?\s+)*(?:what|which|who|whom|whose|when|where"
    r"|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|have|tell me|show me"
    r"|explain|list|find|summari[sz]e|remind me|give me|describe|compare|look up|quote)\b",
    re.I,
)


def requests(said: str) -> bool:
    """Whether a message only asks and states nothing."""
    return all(
        asks(said[s.start : s.stop]) or _REQUEST.match(said[s.start : s.stop])
        for s in split(said[:4000])
    )


def asks(sentence: str) -> bool:
    return sentence.rstrip("\"'”’) ").endswith(("?", "？"))
