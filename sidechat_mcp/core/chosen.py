"""Whether a value beside a name like `password` is a secret, or code, a placeholder or prose."""

from __future__ import annotations

import re

_PLACEHOLDER = re.compile(
    r"\$\{?\w+\}?$|[$%]?[({<\[]|%\w|\*+$|\.{3}|x{3,}$|your|example|change|placeholder|dummy|todo"
    r"|insert|redacted|undefined|null$|none$|true$|false$|process\.|os\.|env\.|self\.|this\.",
    re.IGNORECASE,
)
_WORD_WITH_NUMBER = re.compile(
    r"(?:u?int|float|n?var(?:char)?2?|utf|sha|md|base|argon|oauth|rsa|ed|ecdsa|hs|rs|es|ps|aes|v"
    r"|http|python|step|section|line|item|test|part|u|i|f)[-_]?\d+(?:[-_]\w{1,8})?$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+$", re.ASCII)
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@ -]{1,24}[/\\])*[\w.@-]{0,24}$", re.ASCII)
_SYMBOLS = frozenset("!@#$%^&*?~+=")


def looks_random(piece: str, after: str) -> bool:
    """Long enough, with digits among its letters: a token, not a word."""
    return (
        len(piece) >= 8
        and any(c.isdigit() for c in piece)
        and any(c.isalpha() for c in piece)
        and not _PLACEHOLDER.match(piece)
    )


def looks_chosen(piece: str, after: str) -> bool:
    """Something a person or a generator chose to be hard to guess: letters mixed with digits or
    symbols, or digits alone; a call, a name of something, a path or a placeholder is none."""
    if len(piece) < 5 or after in ("(", "[") or any(c.isspace() for c in piece):
        return False
    if any(shape.match(piece) for shape in (_PLACEHOLDER, _WORD_WITH_NUMBER, _NAME, _PATH)):
        return False
    digits = any(c.isdigit() for c in piece)
    letters = any(c.isalpha() for c in piece)
    if digits and not letters:
        return len(piece) >= 6 and piece.isdigit()
    return letters and (digits or bool(_SYMBOLS & set(piece.rstrip("?!"))))


def looks_set(piece: str, after: str) -> bool:
    """What stands behind `NAME=` in an environment: anything but a placeholder or a path."""
    return (
        len(piece) >= 6
        and after not in ("(", "[")
        and not any(c.isspace() for c in piece)
        and not any(shape.match(piece) for shape in (_PLACEHOLDER, _NAME, _PATH))
    )
