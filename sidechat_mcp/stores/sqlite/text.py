"""Text that SQLite cannot hold: a lone surrogate (a client's id, a folder's undecodable name) is
kept as bytes, all other text as text. Keys are always bytes, so that their order is one."""

from __future__ import annotations


def stored(text: str) -> str | bytes:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def restored(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def key(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def after(prefix: bytes) -> bytes | None:
    """The first key behind all that begin with `prefix`; None when there is no such key."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
