"""log → what the model sees. Pure and deterministic: the same events give the same context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sidechat_mcp.core.content import Content
from sidechat_mcp.core.events import Event, RequestHeader, Source

Role = Literal["user", "context", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request, in a provider's neutral words.

    `context` messages go out as user messages. A `tool` message answers the call `call`. `turn`
    is the number of the turn it belongs to (None in injection and condense turns), `seq` the
    place of its event. Neither `turn`, `seq` nor `source` is sent to a model or digested."""

    role: Role
    content: Content
    call: str | None = None
    is_error: bool = False
    turn: int | None = None
    seq: int = -1
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """A whole request: the head in force and the messages. `inherited` is how many of the
    messages come from before `fork_at` (0 without a fork); `session` is the asking session."""

    header: RequestHeader
    messages: Sequence[Message]
    inherited: int = 0
    session: str = ""


def assemble(events: Sequence[Event], *, seed_length: int = 0, session: str = "") -> Context:
    """The context that `events` (a whole lineage, from seq 0) add up to.

    - The last `request/header` counts. Context begins at the last `context/compacted`.
    - A `context/message` that arrived while a request was in flight, or between a call and its
      result, comes after that whole answer and its batch of results (law 7).
    - Results stand in the order of the calls of their message, right behind it.
    - An open call (no result yet) and everything of its batch is still shown as it is; repair
      is not done here.
    - A handback with `carrier: "client"` in its source is in no context.
    - `usage`, `mirror/seen`, `request/sent` and ignorable unknown events are no context; an
      unknown event that is not ignorable raises ValueError."""
    raise NotImplementedError
