"""Hard prompt separation, for deployments that want it: an advisor with a system prompt of its
own. It gives the parent's prompt cache up, which the fork report says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from sidechat_mcp.core.events import Part
from sidechat_mcp.seams import AssembleSeam, Head


def separated(system: str) -> AssembleSeam:
    """A `system-prompt/assemble` interceptor that gives side sessions, and only them, `system`."""

    async def assemble(head: Head, following: Callable[[Head], Awaitable[Head]]) -> Head:
        if head.session.origin == "sidechat":
            head = replace(head, header=replace(head.header, system=Part(text=system)))
        return await following(head)

    return assemble
