"""Our resource URIs: `sidechat://sessions/ID`, `…/log` and `…/turns/N`, and no others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sidechat_mcp.core.ids import SessionId, is_session_id
from sidechat_mcp.surfaces.mcp.schemas import SCHEME

_SHAPE = re.compile(rf"(?i:{re.escape(SCHEME)})([^/?#]+)(?:/(log)|/turns/([^/?#]+))?")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Place:
    """What a URI names: a session (`page`), its log, or its turn `number`."""

    session: SessionId
    part: Literal["page", "log", "turn"]
    number: int = 0


def parsed(uri: str) -> Place | None:
    """The place a URI names by its form, or None. It is decoded exactly once; `+` stays `+`.
    Spaces around it, and capitals in what has none, do not count."""
    shape = _SHAPE.fullmatch(uri.strip())
    if shape is None:
        return None
    named, turn = _decoded(shape[1]), _decoded(shape[3] or "")
    session = SessionId((named or "").lower())
    if turn is None or not is_session_id(session):
        return None
    if shape[2]:
        return Place(session, "log")
    if shape[3] is None:
        return Place(session, "page")
    if not _NUMBER.fullmatch(turn):
        return None
    return Place(session, "turn", int(turn))


def _decoded(part: str) -> str | None:
    """`part` without percent escapes, or None when one is broken or not text."""
    if not part.isascii():
        return None
    broken = False

    def byte(escape: re.Match[str]) -> str:
        nonlocal broken
        broken = broken or escape[1] is None
        return chr(int(escape[1] or "0", 16))

    octets = _ESCAPE.sub(byte, part).encode("latin-1")
    try:
        return None if broken else octets.decode()
    except UnicodeDecodeError:
        return None
