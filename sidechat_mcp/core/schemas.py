"""Tool schemas as a request head keeps them: one JSON text, the same bytes for the same tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def dump(tools: Iterable[tuple[str, str, Mapping[str, Any]]]) -> str:
    """JSON text of `(name, description, input schema)` each, in the order given; keys `name`,
    `description`, `input_schema`; no spaces."""
    listed = [
        {"name": name, "description": description, "input_schema": schema}
        for name, description, schema in tools
    ]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
