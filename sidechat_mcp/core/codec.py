"""The stored spelling of bodies and headers: canonical JSON bytes. No other module knows it."""

from __future__ import annotations

from sidechat_mcp.core.events import Body, Draft, Header


def dump(body: Body) -> bytes:
    """Canonical JSON: keys in field order, defaults left out (but `kind`), UTF-8, no spaces,
    separators U+2028, U+2029 and U+0085 and all control characters escaped. An `Unknown` is
    written as it was read."""
    raise NotImplementedError


def load(data: bytes) -> Body:
    """The body that `dump` wrote, by this or an older version (upcast) or a newer one
    (`Unknown`). Raises ValueError with what is wrong when `data` is damaged."""
    raise NotImplementedError


def dump_header(header: Header) -> bytes:
    raise NotImplementedError


def load_header(data: bytes) -> Header:
    raise NotImplementedError


def checksum(seq: int, draft_id: str, at: int, body: bytes) -> bytes:
    """Eight bytes that change when anything stored of an event changes."""
    raise NotImplementedError


def export(seq: int, draft: Draft, session: str) -> str:
    """One NDJSON line (without newline) of an event with its place, as `…/log` shows it."""
    raise NotImplementedError
