"""What an answer looks like. Its first line says the verdict; every quote names its turn and its
speaker and is a verbatim slice of what was said, with … where something was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sidechat_mcp.core.events import Verdict
from sidechat_mcp.providers.quoting.language.words import is_pair

_SPEAKERS = "user|assistant|note|summary|context|call|tool result"
_WHO = rf"(?:(?:(?P<after>After turn)|Turn) (?P<turn>\d+), )?(?P<speaker>{_SPEAKERS})"
_QUOTE = re.compile(
    rf"^{_WHO}(?: \((?P<latest>latest)\))?: “(?P<before>…?)(?P<text>.*?)(?P<cut>…?)”$", re.M | re.S
)
_WEAK = "Weak match: nothing says this outright; the closest is in "
_EMPTY = "Not found: there is no earlier conversation to quote from."
_NO_WORDS = (
    "Not found: the question has no word to look for."
    " Ask with a word that the conversation would have used."
)
_REPLY = re.compile(
    r"(?P<answered>From [^\n]{1,80}:\n(?:After turn|Turn|note|summary|context|call|tool)[^\n]*: “)"
    rf"|(?P<weak>{re.escape(_WEAK)})"
    rf"|{re.escape(_EMPTY)}|{re.escape(_NO_WORDS)}|Not found: the [^\n]{{1,60}} says? nothing of "
)


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
    """The verdict that a reply states, or None when `text` is no reply of ours."""
    match = _REPLY.match(text)
    if match is None:
        return None
    return "answered" if match["answered"] else "weak" if match["weak"] else "not found"


def is_reply(text: str) -> bool:
    """Whether `text` is one of this agent's replies."""
    return _REPLY.match(text) is not None


def _listed(numbers: Sequence[str]) -> str:
    return numbers[0] if len(numbers) == 1 else f"{', '.join(numbers[:-1])} and {numbers[-1]}"


def _turns(quotes: Sequence[Quote]) -> str:
    numbers = list(dict.fromkeys(str(q.turn) for q in quotes if q.turn is not None))
    others = list(dict.fromkeys(f"a {q.speaker}" for q in quotes if q.turn is None))
    if not numbers:
        return _listed(others)
    turns = f"turn{'s' if len(numbers) > 1 else ''} {_listed(numbers)}"
    return f"{turns}, and {_listed(others)}" if others else turns


def answered(quotes: Sequence[Quote]) -> Sequence[str]:
    """The lines of an answer."""
    return [f"From {_turns(quotes)}:", *(q.line() for q in quotes)]


def weak(quotes: Sequence[Quote], missing: Sequence[str]) -> Sequence[str]:
    """The lines of a weak match; `missing` are words of the question that the quotes lack."""
    lack = _words(missing)
    lack = f" Not in it: {lack}." if lack else ""
    return [f"{_WEAK}{_turns(quotes)}.{lack}", *(q.line() for q in quotes)]


def not_found(looked_for: Sequence[str], turns: int) -> Sequence[str]:
    """The line that says so, and what was looked for in how many turns."""
    if not turns:
        return [_EMPTY]
    if not looked_for:
        return [_NO_WORDS]
    many = (
        f"the {turns} turns of this conversation say"
        if turns > 1
        else "the one turn of this conversation says"
    )
    return [f"Not found: {many} nothing of {_words(looked_for) or 'that'}."]


def _words(words: Sequence[str]) -> str:
    """The words as a list; pieces of a script without spaces are no words to show."""
    shown = [printable(w if len(w) <= 40 else f"{w[:39]}…") for w in words if not is_pair(w)]
    return ", ".join(shown[:8])
