"""What an answer looks like. Its first line says the verdict; every quote names its turn and its
speaker and is a verbatim slice of what was said, with … where something was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sidechat_mcp.core.events import Verdict

_LEAD = re.compile(r"(?:From (?:turns? \d|a note)|Weak match[:.]|Not found[:.])")


@dataclass(frozen=True, slots=True)
class Quote:
    """`turn` None is a message of no turn, which stands after turn `after`."""

    turn: int | None
    after: int
    speaker: str
    text: str
    cut_before: bool = False
    cut_after: bool = False
    latest: bool = False

    def line(self) -> str:
        who = f"Turn {self.turn}, {self.speaker}"
        if self.turn is None:
            who = f"After turn {self.after}, {self.speaker}" if self.after else self.speaker
        before, after = "…" * self.cut_before, "…" * self.cut_after
        latest = " (latest)" if self.latest else ""
        return f"{who}{latest}: “{before}{printable(self.text)}{after}”"


def printable(text: str) -> str:
    """`text` as it can be written anywhere: a lone surrogate becomes U+FFFD."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


_QUOTE = re.compile(
    r"^(?:(?P<after>After turn) |Turn )?(?P<turn>\d+)?(?:, )?(?P<speaker>user|assistant|note"
    r"|context|call|tool result)(?P<latest> \(latest\))?: “(?P<before>…?)(?P<text>.*?)(?P<cut>…?)”$",
    re.M | re.S,
)


def quotes_of(text: str) -> list[Quote]:
    """The quotes that a reply shows."""
    return [
        Quote(
            None if m["after"] or not m["turn"] else int(m["turn"]),
            int(m["turn"] or 0),
            m["speaker"],
            m["text"],
            bool(m["before"]),
            bool(m["cut"]),
            bool(m["latest"]),
        )
        for m in _QUOTE.finditer(text)
    ]


def verdict_of(text: str) -> Verdict | None:
    """The verdict that a reply states, or None when it is no reply of ours."""
    if not is_reply(text):
        return None
    return "not found" if text[0] == "N" else "weak" if text[0] == "W" else "answered"


def is_reply(text: str) -> bool:
    """Whether `text` has the form of one of this agent's replies, whole or cut."""
    return _LEAD.match(text) is not None


def _listed(numbers: Sequence[str]) -> str:
    return numbers[0] if len(numbers) == 1 else f"{', '.join(numbers[:-1])} and {numbers[-1]}"


def _turns(quotes: Sequence[Quote]) -> str:
    numbers = list(dict.fromkeys(str(q.turn) for q in quotes if q.turn is not None))
    if not numbers:
        return "a note"
    return f"turn{'s' if len(numbers) > 1 else ''} {_listed(numbers)}"


def answered(quotes: Sequence[Quote]) -> Sequence[str]:
    """The lines of an answer."""
    return [f"From {_turns(quotes)}:", *(q.line() for q in quotes)]


def weak(quotes: Sequence[Quote], missing: Sequence[str]) -> Sequence[str]:
    """The lines of a weak match; `missing` are words of the question that the quotes lack."""
    lack = f" Not in it: {', '.join(printable(w) for w in missing[:6])}." if missing else ""
    lead = f"Weak match: nothing says this outright; the closest is in {_turns(quotes)}.{lack}"
    return [lead, *(q.line() for q in quotes)]


def not_found(looked_for: Sequence[str], turns: int) -> Sequence[str]:
    if not turns:
        return ["Not found: there is no earlier conversation to quote from."]
    if not looked_for:
        return [
            "Not found: the question has no word to look for."
            " Ask with a word that the conversation would have used."
        ]
    words = ", ".join(printable(w) for w in looked_for[:8])
    many = f"the {turns} turns of this conversation" if turns > 1 else "the conversation's one turn"
    return [f"Not found: {many} say nothing of {words}."]
