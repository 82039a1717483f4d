"""Names of things. A name is text that says nothing; only `ports.Entropy` makes new ones."""

from __future__ import annotations

import re
from typing import NewType

SessionId = NewType("SessionId", str)
"""One word of `[a-z0-9-]`; ours are 26 characters that carry 128 random bits."""
EventId = NewType("EventId", str)
"""Ours are random; an imported event's is the client's own id and a content digest."""
TurnId = NewType("TurnId", str)
"""One word, unique within its session."""

ADDRESS = "sidechat://sessions/"
"""What stands before a session's id in its address."""

_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
_SESSION = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")


def session_id(text: str) -> SessionId | None:
    """The id that people and models mean by `text`, which may be its address as well; spaces
    around it and capital letters do not count. None for what names no session by its form."""
    found = text.strip().lower().removeprefix(ADDRESS)
    return SessionId(found) if is_session_id(found) else None


def is_session_id(text: str) -> bool:
    """Whether `text` has the form of a session id (it may still name nothing)."""
    return _SESSION.fullmatch(text) is not None


def word(random: bytes) -> str:
    """`random` spelled as one lower-case word (base 32): 16 bytes give 26 characters."""
    bits = len(random) * 8
    filled = -bits % 10
    number = int.from_bytes(random, "big") << filled
    pairs = [_PAIRS[number >> at & 1023] for at in range(bits + filled - 10, -1, -10)]
    return "".join(pairs)[: -(-bits // 5)]
