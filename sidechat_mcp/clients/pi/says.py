"""What an entry of a session file can say. Values alone: `records` reads, `turns` tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.core.content import Content


@dataclass(frozen=True, slots=True)
class Said:
    """A person's message."""

    content: Content


@dataclass(frozen=True, slots=True)
class Tokens:
    """As reported; None = not reported. `input` is the whole prompt."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a model. pi never shows a `lost` one (aborted or failed) to a model again."""

    content: Content
    model: str | None = None
    stop: str | None = None
    tokens: Tokens | None = None
    response: str | None = None
    error: str | None = None

    @property
    def lost(self) -> bool:
        return self.stop in ("aborted", "error")


@dataclass(frozen=True, slots=True)
class Result:
    """What the model was told of a call."""

    call: str
    content: Content
    is_error: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """Context that no person typed as a message; `what` is pi's word for it."""

    content: Content
    what: str


@dataclass(frozen=True, slots=True)
class Declared:
    """A system message: text that is added, sections that are set (None: taken away), tools by
    name that are added or taken away."""

    text: str
    sections: Mapping[str, str | None]
    added: Mapping[str, dict[str, Any]]
    removed: Sequence[str]


@dataclass(frozen=True, slots=True)
class Compacted:
    """Context begins anew: with `summary`, then what stands from the entry `kept` on."""

    summary: Content
    kept: str | None
    head: Declared | None


@dataclass(frozen=True, slots=True)
class Edited:
    """From here on the entry `target` is shown as `content`; None: not at all."""

    target: str
    content: Content | None


@dataclass(frozen=True, slots=True)
class Link:
    """Says nothing to a model; later entries hang on it."""


Saying = Said | Answer | Result | Shown | Declared | Compacted | Edited | Link


@dataclass(frozen=True, slots=True)
class Record:
    """An entry. `at` is when it was written, in milliseconds since 1970; `mark` is a digest of
    all that it says. It is the `count`th in its file, and its line ends before the byte `end`."""

    id: str
    parent: str | None
    at: int
    says: Saying
    mark: bytes
    count: int = 0
    end: int = 0
