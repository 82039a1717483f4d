"""Read-only, enforced: which calls a side session's agent may have carried out.

Denied by default. The verdict rests on the stored header and on the tool object that the name
stands for, never on what the model or the history says; an error anywhere is a deny."""

from __future__ import annotations

from collections.abc import Callable

from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Header
from sidechat_mcp.ports.tool import Outcome, Toolbox
from sidechat_mcp.seams import Attempt, Gate

Allowed = Callable[[Header], frozenset[str]]
"""The allow-list: names that a side session's agent may call, as far as they are read-only."""


def read_only(tools: Toolbox, allowed: Allowed) -> Gate:
    """A gate for sessions of `origin: sidechat`: only tools that are on the allow-list and
    declare themselves read-only pass. Other sessions' calls are not its business. A tool that
    is not allowed is not even looked for, for that may start a server."""

    async def judge(attempt: Attempt) -> Outcome | None:
        session, name = attempt.session, attempt.call.name
        if session.origin != "sidechat":
            return None
        names = allowed(session)
        tool = await tools.find(name, session) if name in names else None
        if tool is not None and tool.read_only is True:
            return None
        return Outcome(text(_words(name, session, names)), is_error=True)

    return judge


def _words(name: str, session: Header, names: frozenset[str]) -> str:
    said = (
        f"{name} was not carried out: a side session is read-only. Answer from what is known, or"
        " say what the main session should do."
    )
    if session.client is None:
        return said
    there = f"only these are here: {', '.join(sorted(names))}" if names else "none is here"
    return f"{said} Of {session.client}'s tools {there}."
