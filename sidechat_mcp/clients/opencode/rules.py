"""opencode's permission rules → rules that deny every call and list the very same tools. Pure.

A rule `{permission, pattern "*", deny}` takes its tools out of the list that the model is shown;
`?*`, which fits every pattern that is not empty, denies and leaves them there (facts: clients C3).
The last rule that fits is the one that counts, so each rule is kept in its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sidechat_mcp.clients.values import mapping, word

Rule = dict[str, str]

ASKING = frozenset(
    {
        *("invalid", "bash", "read", "glob", "grep", "list", "edit", "write", "patch", "multiedit"),
        *("apply_patch", "task", "webfetch", "websearch", "codesearch", "todowrite", "todoread"),
        *("skill", "lsp", "question", "plan_enter", "plan_exit"),
    }
)
"""The client's own tools: each asks for permission before it acts, or does nothing but ask."""


def denying(found: Iterable[Any], tools: Iterable[Any]) -> Sequence[Rule]:
    """Rules to stand in a fork's session. `found` are those that counted for its parent, `tools`
    the names of all that are no server's: one that is not the client's own need not ask, so it is
    taken out of the list."""
    kept: dict[str, Rule] = {"*": _rule("*", "?*")}
    for one in map(mapping, found):
        name, pattern = word(one.get("permission")), word(one.get("pattern"))
        if name is None or pattern is None:
            continue
        hides = pattern == "*" and one.get("action") == "deny"
        kept.pop(name, None)
        kept[name] = _rule(name, "*" if hides else "?*")
    for name in tools:
        if isinstance(name, str) and name not in ASKING:
            kept.pop(name, None)
            kept[name] = _rule(name, "*")
    return list(kept.values())


def _rule(permission: str, pattern: str) -> Rule:
    return {"permission": permission, "pattern": pattern, "action": "deny"}
