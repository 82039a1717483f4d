"""Read-only, enforced: which calls a side session's agent may have carried out.

Denied by default. The verdict rests on the stored header and on the tool object that the name
stands for, never on what the model or the history says; an error anywhere is a deny."""

from __future__ import annotations

from sidechat_mcp.core.content import text
from sidechat_mcp.ports.tool import Outcome, Toolbox
from sidechat_mcp.seams import Attempt, Gate


def read_only(tools: Toolbox, allowed: frozenset[str]) -> Gate:
    """A gate for sessions of `origin: sidechat`: only tools that are on the allow-list and
    declare themselves read-only pass. Other sessions' calls are not its business."""

    async def judge(attempt: Attempt) -> Outcome | None:
        if attempt.session.origin != "sidechat":
            return None
        name = attempt.call.name
        tool = await tools.find(name, attempt.session) if name in allowed else None
        if tool is not None and tool.read_only:
            return None
        return Outcome(
            text(
                f"{name} was not carried out: a side session is read-only. Answer from what is"
                " known, or say what the main session should do."
            ),
            is_error=True,
        )

    return judge
