"""Which conversation is calling us: Codex says so with each call, so that one server process may
serve many threads at once. Nothing is keyed on the process, and nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.codex.places import Places, about
from sidechat_mcp.clients.values import mapping, word
from sidechat_mcp.ports.client import Call

THREAD = "threadId"
TURN = "x-codex-turn-metadata"
DEEPEST = 16
"""How many subagents of subagents are followed up to the conversation they work for."""


def thread(call: Call) -> str | None:
    """The thread that the call says it comes from."""
    named = word(call.meta.get(THREAD)) or word(_turn(call.meta.get(TURN)).get("thread_id"))
    return named if named is not None and len(named) <= 200 else None


def file(places: Places, ref: str) -> Path | None:
    """The rollout of the conversation that the thread `ref` belongs to: its own, or that of the
    thread which a subagent works for. None while it is not there."""
    for _ in range(DEEPEST):
        path = places.file(ref)
        known = about(path) if path is not None else None
        if known is None or not known.subagent:
            return path
        if known.under is None or known.under == ref:
            return None
        ref = known.under
    return None


def _turn(value: Any) -> dict[str, Any]:
    """The client sends it as an object, or as the JSON text of one."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return mapping(value)
