"""Tool schemas as a head keeps them, and the names that a head lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sidechat_mcp.core.schemas import dump, names

TOOLS: Sequence[tuple[str, str, Mapping[str, Any]]] = [
    ("read", "Reads “all”.", {"type": "object", "required": []}),
    ("list", "", {"type": "object"}),
]


def test_the_same_tools_give_the_same_bytes_in_the_order_given() -> None:
    assert dump(TOOLS) == (
        '[{"name":"read","description":"Reads “all”.","input_schema":{"type":"object",'
        '"required":[]}},{"name":"list","description":"","input_schema":{"type":"object"}}]'
    )
    assert dump([]) == "[]"


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (dump(TOOLS), {"read", "list"}),
        (json.dumps([{"type": "function", "function": {"name": "a"}}]), {"a"}),
        (json.dumps([{"type": "function", "name": "a", "parameters": {}}]), {"a"}),
        (json.dumps([{"name": 7}, {"name": None}, {}, "x", None, ["a"]]), set[str]()),
        (json.dumps([{"function": "a", "name": "b"}]), set[str]()),
        (None, set[str]()),
        ("", set[str]()),
        ("[]", set[str]()),
        ("{}", set[str]()),
        ("no JSON", set[str]()),
        ("[" * 100_000, set[str]()),
    ],
)
def test_names_are_those_of_a_list_of_tools_and_of_nothing_else(
    listed: str | None, expected: set[str]
) -> None:
    assert names(listed) == expected
