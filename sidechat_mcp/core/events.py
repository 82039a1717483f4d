"""The whole vocabulary of a log. An event is a fact with a place; its words are never changed.

What happened (`Draft`) has no place yet; only a store gives one (`Event`). Adding a field with
a default is allowed; removing or renaming one is an upcast in `codec`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sidechat_mcp.core.content import Content
from sidechat_mcp.core.ids import EventId, SessionId, TurnId

TurnKind = Literal["turn", "injection", "condense"]
Reason = Literal[
    "completed", "max_tokens", "aborted", "error", "blocked", "interrupted", "injection"
]
Origin = Literal["native", "mirror", "sidechat"]
Verdict = Literal["answered", "weak", "not found"]
Source = Mapping[str, Any]
"""Who put a context message there. Ours: `kind: "plugin", plugin: "sidechat", role: …`; a
client's own context has `kind: "client"`."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the request head: its text, or only its digest, or neither (unknown)."""

    text: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """What every following request starts with; a new one only when something changes.

    `tools` is the JSON text of the tool schemas; `settings` are the model's call settings.
    """

    system: Part = Part()
    tools: Part = Part()
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    kind: Literal["request/header"] = "request/header"


@dataclass(frozen=True, slots=True)
class TurnStart:
    """A turn opens. `number` counts from 1 over the whole lineage; only `turn` turns have one."""

    turn: TurnId
    of: TurnKind = "turn"
    number: int | None = None
    kind: Literal["turn/start"] = "turn/start"


@dataclass(frozen=True, slots=True)
class UserMessage:
    turn: TurnId
    content: Content
    kind: Literal["user/message"] = "user/message"


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """Text that the model sees and no person typed. `content` is what the model reads."""

    turn: TurnId
    content: Content
    source: Source
    kind: Literal["context/message"] = "context/message"


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One whole answer to one request. `verdict` is the quoting agent's own word on it."""

    turn: TurnId
    content: Content
    model: str | None = None
    stop: str | None = None
    verdict: Verdict | None = None
    kind: Literal["assistant/message"] = "assistant/message"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call is about to be carried out (written before it is). The call itself is a `ToolUse`
    of the assistant's message; `input` is what was really passed, as JSON text."""

    turn: TurnId
    call: str
    name: str
    input: str
    kind: Literal["tool/call"] = "tool/call"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told of a call. `synthetic` marks a result written by repair."""

    turn: TurnId
    call: str
    content: Content
    is_error: bool = False
    synthetic: Literal["NOT_STARTED", "OUTCOME_UNKNOWN"] | None = None
    kind: Literal["tool/result"] = "tool/result"


@dataclass(frozen=True, slots=True)
class TurnEnd:
    turn: TurnId
    reason: Reason
    detail: str | None = None
    kind: Literal["turn/end"] = "turn/end"


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A request is about to leave. Digests are hex SHA-256 (`core.digest`); `count` is the
    number of messages in it. `wire` may hold digests of the bytes that a provider sends."""

    turn: TurnId
    head_digest: str
    prefix_digest: str
    messages_digest: str
    count: int
    wire: Mapping[str, str] = field(default_factory=dict[str, str])
    kind: Literal["request/sent"] = "request/sent"


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """Context begins here with `summary`; turns up to `covers` are for display only."""

    summary: Content
    covers: int
    kind: Literal["context/compacted"] = "context/compacted"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the provider reported them; None = not reported, never 0.

    `input` counts the whole prompt, cached part included."""

    turn: TurnId
    input: int | None
    output: int | None
    cache_read: int | None = None
    cache_write: int | None = None
    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    kind: Literal["usage"] = "usage"


@dataclass(frozen=True, slots=True)
class MirrorSeen:
    """The client's transcript shows the note `handback` (its note id) here."""

    handback: str
    evidence: str
    kind: Literal["mirror/seen"] = "mirror/seen"


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event of a newer version, kept verbatim. `data` is its whole JSON object."""

    name: str
    data: Mapping[str, Any]
    ignorable: bool
    kind: Literal["unknown"] = "unknown"


Known = (
    RequestHeader
    | TurnStart
    | UserMessage
    | ContextMessage
    | AssistantMessage
    | ToolCall
    | ToolResult
    | TurnEnd
    | RequestSent
    | ContextCompacted
    | Usage
    | MirrorSeen
)
Body = Known | Unknown


@dataclass(frozen=True, slots=True)
class Draft:
    """What happened and when (milliseconds since 1970, UTC), without a place. `written` is the
    body's stored spelling, where whoever made the draft has it at hand."""

    id: EventId
    at: int
    body: Body
    written: bytes | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Event:
    """A draft that has its place: `session` is the one that owns it, also when inherited."""

    session: SessionId
    seq: int
    id: EventId
    at: int
    body: Body


@dataclass(frozen=True, slots=True)
class Header:
    """What a session is, written once beside its log.

    `parent_session` and `seed_length` come together or not at all: the session inherits the
    parent's events `[0, seed_length)` and its own start at seq `seed_length`. `cwd` is the folder
    that its conversation works in; `made_in` the one it was forked from, where that is another.
    """

    id: SessionId
    created_at: int
    origin: Origin
    owner: str
    agent: str
    parent_session: SessionId | None = None
    seed_length: int = 0
    cwd: str | None = None
    client: str | None = None
    client_ref: str | None = None
    made_in: str | None = None

    @property
    def fork_seq(self) -> int | None:
        """The last inherited place, or None for a session without a parent."""
        return self.seed_length - 1 if self.parent_session is not None else None
