"""What a client's own fork is to the person, whichever client it is."""

from __future__ import annotations

from sidechat_mcp.ports.provider import About


def about(name: str, called: str) -> About:
    """The client `name`, whose people call it `called`: it brings its own head, model and account,
    and every tool is denied."""
    return About(
        name,
        None,
        f"your {called} subscription or key",
        "reads this conversation's history; every tool is denied",
        head="client",
    )
