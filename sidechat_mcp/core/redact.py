"""What may leave a side session: secrets and characters that deceive are taken out."""

from __future__ import annotations


def secrets(text: str) -> str:
    """`text` with every piece that looks like a credential replaced by `[redacted: KIND]`."""
    raise NotImplementedError


def harmless(text: str) -> str:
    """`text` without terminal escapes, control characters (but newline and tab), bidi overrides
    and invisible tag characters; emoji sequences stay whole; lone surrogates become U+FFFD."""
    raise NotImplementedError


def clean(text: str) -> str:
    """Both, and trailing white space trimmed: the one way out for notes and titles."""
    raise NotImplementedError
