"""What credentials look like, as a table of families. A family is recognised by its own prefix
or shape, so that digests, ids and images are left alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """`kind` is what stands in its place. `cues`: without one of them (lower case) in the text
    nothing is looked for. A group named `secret` is what is replaced, else the whole match."""

    kind: str
    cues: Sequence[str]
    pattern: re.Pattern[str]

    def redact(self, text: str) -> str:
        lowered = text.lower()
        if not any(cue in lowered for cue in self.cues):
            return text
        return self.pattern.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        start, stop = match.span("secret" if "secret" in self.pattern.groupindex else 0)
        text, mark = match.string, f"[redacted: {self.kind}]"
        return text[match.start() : start] + mark + text[stop : match.end()]


FAMILIES: Sequence[Family] = (
    Family("GitHub token", ("gh",), re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b")),
)
