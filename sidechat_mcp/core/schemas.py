"""Tool schemas as a request head keeps them: one JSON text, the same bytes for the same tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast


def dump(tools: Iterable[tuple[str, str, Mapping[str, Any]]]) -> str:
    """JSON text of `(name, description, input schema)` each, in the order given; keys `name`,
    `description`, `input_schema`; no spaces."""
    listed = [
        {"name": name, "description": description, "input_schema": schema}
        for name, description, schema in tools
    ]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


def names(listed: str | None) -> frozenset[str]:
    """The tools that a head's text lists, in the spelling of `dump` or of a model's wire (there a
    name may stand inside `function`). What is no such list lists none."""
    try:
        found: object = json.loads(listed or "[]")
    except (ValueError, RecursionError):
        return frozenset()
    if not isinstance(found, list):
        return frozenset()
    tools = [_object(tool) for tool in cast("list[object]", found)]
    named = [_object(tool.get("function", tool)).get("name") for tool in tools]
    return frozenset(name for name in named if isinstance(name, str))


def _object(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
