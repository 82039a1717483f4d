"""The named places in the loop where something may be put between. A closed set.

An interceptor gets a value and the rest of the chain; it never gets a store or a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.events import Header, RequestHeader, ToolCall
from sidechat_mcp.ports.tool import Outcome


@dataclass(frozen=True, slots=True)
class Head:
    """`system-prompt/assemble`: the head about to be written for a session."""

    session: Header
    header: RequestHeader


@dataclass(frozen=True, slots=True)
class Attempt:
    """`tools/pre-execute`: a call about to be carried out in a session."""

    session: Header
    call: ToolCall


AssembleSeam = Callable[[Head, Callable[[Head], Awaitable[Head]]], Awaitable[Head]]
GateSeam = Callable[
    [Attempt, Callable[[Attempt], Awaitable[Outcome | None]]], Awaitable[Outcome | None]
]
"""Answers None to let the call through, or the `Outcome` that stands in for it. The call itself
is carried out as it is: what an interceptor passes on is only what the next one sees."""
Gate = Callable[[Attempt], Awaitable[Outcome | None]]
RequestSeam = Callable[[Context], Awaitable[None]]
"""May refuse by raising, or observe; it cannot change a byte."""


@dataclass(frozen=True, slots=True)
class Seams:
    """What stands in each place, outermost first. `gate` judges the call that will really be
    carried out, after every `pre_execute`, so that none of them can undo it."""

    assemble: Sequence[AssembleSeam] = ()
    pre_execute: Sequence[GateSeam] = ()
    request: Sequence[RequestSeam] = ()
    gate: Gate | None = None
