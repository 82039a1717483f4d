"""The note that a side session hands back: identity, wrapper, provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sidechat_mcp.core.events import Event, Source
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.core.session import Session


@dataclass(frozen=True, slots=True)
class Handback:
    """A note as it stands (or will stand) in its parent. `covers` are places in the child."""

    note: str
    child: SessionId
    parent: SessionId
    text: str
    fork_seq: int
    covers: tuple[int, int]
    turns: int
    model: str | None
    cap: int
    revision: int
    carrier: Literal["log", "client"]
    supersedes: str | None = None
    advanced_turns: int = 0
    advanced_files: Sequence[str] = ()


def identity(child: SessionId, covered_to: int, own_text: str | None) -> str:
    """The `Once` key of a merge: `merge/CHILD/COVERED_TO` and, only if the person supplied the
    text, `/` and its digest."""
    raise NotImplementedError


def prefix(child: SessionId) -> str:
    """What the identities of all merges of `child` begin with."""
    raise NotImplementedError


def covered(session: Session) -> tuple[int, int, int] | None:
    """`(from, to, turns)`: the places of the child's own completed turns that are no condense
    turns (first start, last end) and how many; None when there is nothing own to bring back."""
    raise NotImplementedError


def draft(session: Session) -> str | None:
    """The last condense turn's note when it was completed and no newer own turn follows."""
    raise NotImplementedError


def fit(text: str, cap: int) -> str:
    """`redact.clean(text)` with our wrapper's tags defused. Raises NoteTooLong over `cap` code
    points, InvalidRequest when nothing is left."""
    raise NotImplementedError


def wrap(handback: Handback) -> str:
    """What the parent's model reads: an opening tag with the note's id and origin, one sentence
    that calls it an advisor's note and no instruction, the text, the closing tag."""
    raise NotImplementedError


def source(handback: Handback) -> Source:
    """Full provenance (DESIGN, events)."""
    raise NotImplementedError


def read(event: Event) -> Handback | None:
    """The handback that an event carries, text and all, or None."""
    raise NotImplementedError


def seen(text: str) -> Sequence[str]:
    """Ids of our notes whose wrapper `text` shows."""
    raise NotImplementedError
