"""What of a parent's request head its child keeps, and what has to be said about the rest."""

from __future__ import annotations

from dataclasses import replace

from sidechat_mcp.core.events import Part, RequestHeader

IDENTICAL = "identical"
SUBSTITUTED = "substituted"
REBUILT = "changed: rebuilt by the client"
"""No identity is claimed for it; the provider's own cache count is the evidence."""


def known(part: Part) -> bool:
    """Whether the very text of a part is there to be sent again."""
    return part.text is not None


def carried(parent: RequestHeader, model: str | None, tools: str = "[]") -> RequestHeader:
    """The parent's head as another agent can send it: what is only a digest, or unknown, cannot
    be sent. Such a system prompt is empty; of such tools it lists `tools`, those of the parent's
    that can be carried out for the agent. The model is the agent's own."""
    return replace(
        parent,
        system=parent.system if known(parent.system) else Part(text=""),
        tools=parent.tools if known(parent.tools) else Part(text=tools),
        model=model or parent.model,
    )


def compared(parent: RequestHeader, child: RequestHeader) -> str:
    """`identical`, or `changed: ` and what differs, in the order of a request."""
    differs = {
        "system prompt": parent.system != child.system,
        "tools": parent.tools != child.tools,
        "model": parent.model != child.model,
        "settings": dict(parent.settings) != dict(child.settings),
    }
    names = [name for name, changed in differs.items() if changed]
    return "changed: " + ", ".join(names) if names else IDENTICAL
