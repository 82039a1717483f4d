"""What the feature answers with. Surfaces put these into their own words and add nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sidechat_mcp.core.events import Reason, Verdict
from sidechat_mcp.core.ids import SessionId


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling: a principal (`local`, or the authenticated subject) and what is known of
    the conversation the call comes from. `call` is the client's own id of this call, where it
    sends one (used as `key`); `meta` is the request's `_meta`; `tool` and `arguments` are what
    it asks of us, where it is a tool's call. `surface` is where they stand."""

    principal: str = "local"
    cwd: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    call: str | None = None
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    surface: Literal["mcp", "cli", "web"] = "cli"


@dataclass(frozen=True, slots=True)
class AgentReport:
    name: str
    model: str | None
    pays: str
    rights: str


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Tokens of the child's own requests; None = not reported."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


@dataclass(frozen=True, slots=True)
class SpentReport:
    """What a side session's own requests came to, its parent's apart. `cache` as in `Answer`, of
    its first request; `compared` what the provider found when it compared that one with the
    response before: `same`, `pending`, or what differs in its own word; None where it did not."""

    usage: UsageReport | None
    cache: str
    compared: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished (or cut) turn. `cache` is `hit N`, `miss` or `not reported`. `chosen` is the
    title of the session when the caller named none and we chose; `advice` a next step."""

    session: SessionId
    turn: int
    answer: str
    reason: Reason
    status: Verdict | None
    usage: UsageReport | None
    cache: str
    chosen: str | None = None
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ForkReport:
    """`parent` is our id of the parent (for an adopted one, of its mirror) and `parent_name` how
    people name it (`claude-code:…`). `cut_*` and `repaired` say what was left out or mended;
    `skipped` what the reader of a transcript could not read, by reason. `notice` comes first."""

    session: SessionId
    uri: str
    title: str
    parent: SessionId
    parent_name: str
    fork_seq: int
    seed_length: int
    turns: int
    tokens: int
    tokens_method: str
    cut_turns: int
    cut_events: int
    repaired: int
    compacted: int | None
    agent: AgentReport
    head: str
    head_digest: str | None
    prefix_digest: str
    again: bool = False
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    notice: str = ""
    first: Answer | None = None


Delivery = str
"""`none`, `pending`, `offered: DOOR` or `delivered`."""


@dataclass(frozen=True, slots=True)
class Note:
    """A handback, or with `seq` None a draft of one (revision 0, delivery `none`).
    `wrapped` is what the parent's model reads; `again` says it had been merged before."""

    note: str
    session: SessionId
    parent: SessionId
    parent_name: str
    text: str
    chars: int
    cap: int
    seq: int | None
    revision: int
    delivery: Delivery
    wrapped: str = ""
    again: bool = False
    supersedes: str | None = None
    chosen: str | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """`turns` counts the side session's own turns; times are milliseconds since 1970. `damaged`
    says what is wrong with a session that cannot be read, and what to do."""

    session: SessionId
    uri: str
    title: str
    parent: SessionId
    parent_name: str
    created: int
    active: int
    turns: int
    merged: bool
    damaged: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    sessions: Sequence[Listed]
    next: str | None


@dataclass(frozen=True, slots=True)
class Said:
    turn: int | None
    role: Literal["user", "assistant", "context", "tool"]
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    session: SessionId
    turns: Sequence[Said]
    next: int | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """One session's verification: `requests` were rebuilt and compared. `verdict` is
    `verified`, `not rebuildable` (with `why`) or `failed` (with `why` and `seq`). `wire` says
    whether the bytes that went to a model's host were made again and compared as well (where
    not, with `why`); None where nothing went over a wire."""

    session: SessionId
    requests: int
    verdict: Literal["verified", "not rebuildable", "failed"]
    why: str = ""
    seq: int | None = None
    wire: Literal["verified", "not checked"] | None = None
