"""The kind of answer that a question's wording asks for."""

from __future__ import annotations

import re
from typing import Literal

Want = Literal[
    "any",
    "count",
    "number",
    "money",
    "clock",
    "age",
    "distance",
    "duration",
    "size",
    "often",
    "time",
    "file",
    "name",
    "code",
    "value",
    "person",
    "why",
    "open",
]
COUNT = re.compile(r"\bhow many\s+(.+)", re.I | re.S)
WHO = re.compile(
    r"(?:^\W*|[,;.?!]\s*|\b(?:and|or|but|so|by|to|with|from|for)\s+)whom?\b(?:['’](?:s|ll|d))?\s+(.+)",
    re.I | re.S,
)
_TIME = re.compile(
    r"\b(?:when (?:do|does|did|is|are|was|were|will|would|shall|should|can|could|may|might|has|have"
    r"|must)\b"
    r"|(?:since|until|till|by|and|or) when|when\s*\?|(?:what|which) (?:day|date)"
    r"|which (?:day|date|month|week|year)s?|deadline|due (?:date|on|by)|due(?=\s*\?))\b",
    re.I,
)
_SHARE = re.compile(
    r"\bhow many (?:would|will|can|could|do|did|are|were|have|had|should|may)\b", re.I
)
"""Asks how many of those who are spoken of do something."""
_KINDS: tuple[tuple[Want, re.Pattern[str]], ...] = (
    (
        "money",
        re.compile(
            r"\b(?:what|how much)\s+(?:do|does|did|will|would|can|must|should)\b.*"
            r"\b(?:cost|pay|charge|earn|owe|spend)s?\b",
            re.I | re.S,
        ),
    ),
    ("clock", re.compile(r"\b(?:what|which) (?:time|hour)\b", re.I)),
    ("age", re.compile(r"\bhow old\b", re.I)),
    ("distance", re.compile(r"\bhow (?:far|high|wide|deep|tall)\b", re.I)),
    ("duration", re.compile(r"\bhow long\b", re.I)),
    ("size", re.compile(r"\bhow (?:large|big)\b", re.I)),
    ("often", re.compile(r"\bhow (?:often|frequently)\b", re.I)),
    (
        "number",
        re.compile(
            r"\b(?:how (?:much|fast|slow|heavy|expensive|likely)"
            r"|what (?:percent\w*|share|fraction))\b",
            re.I,
        ),
    ),
    ("why", re.compile(r"^\W*(?:and |but |so )?why\b|[,;.] (?:and )?why\b", re.I)),
    (
        "file",
        re.compile(
            r"\b(?:which|what|whose) (?:\w+ ){0,2}(?:file|script|module|document)s?\b", re.I
        ),
    ),
    (
        "name",
        re.compile(
            r"\b(?:which|what)\s(?:\w+\s)?(?:brand|bank|company|firm|vendor|provider|supplier|shop"
            r"|restaurant|bar|pub|airline|station|school|university|city|town|village|country|street"
            r"|agency|newspaper|manufacturer|insurer)s?\b",
            re.I,
        ),
    ),
    ("name", re.compile(r"\bname of\b|\bwhat(?:'s| is| was)\s(?:\S+\s){1,4}name\b", re.I)),
    (
        "code",
        re.compile(
            r"\b(?:called|named)\s*(?:\?|$)|\bwhat(?:'s| is| was)\s(?:\S+\s){1,4}"
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


def want(text: str) -> Want:
    if _SHARE.search(text):
        return "number"
    if COUNT.search(text):
        return "count"
    if WHO.search(text):
        return "person"
    if _TIME.search(text):
        return "time"
    for kind, pattern in _KINDS:
        if pattern.search(text):
            return kind
    return "any"
