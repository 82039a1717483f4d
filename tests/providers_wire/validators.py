"""What the strictest of each kind of provider insists on, in our own words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]


def _anthropic(body: Json) -> None:
    messages: Sequence[Json] = body["messages"]
    assert messages[0]["role"] == messages[-1]["role"] == "user"
    seen: set[str] = set()
    for place, message in enumerate(messages):
        blocks: Sequence[Json] = message["content"]
        assert blocks, "a message without content"
        assert place == 0 or message["role"] != messages[place - 1]["role"]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        answered: Sequence[Json] = messages[place + 1]["content"][: len(calls)] if calls else ()
        assert [block.get("tool_use_id") for block in answered] == calls, "results right behind"
        assert seen.isdisjoint(calls), "ids are unique"
        seen.update(calls)
        results = [block for block in blocks if block["type"] == "tool_result"]
        before: Sequence[Json] = messages[place - 1]["content"] if place else ()
        asked = [block["id"] for block in before if block["type"] == "tool_use"]
        assert [block["tool_use_id"] for block in results] == asked, "no result without its call"
        for block in blocks:
            _block(block, message["role"])
        assert blocks[-1]["type"] not in ("thinking", "redacted_thinking")
    assert bool(seen) <= bool(body.get("tools")), "calls stand beside tools"
    assert "tool_choice" not in body or body["tools"]
    assert json.dumps(body).count('"cache_control": {') <= 4


def _block(block: Json, role: str) -> None:
    match block["type"]:
        case "text":
            assert block["text"].strip()
        case "tool_use":
            assert role == "assistant"
            assert re.fullmatch(r"[A-Za-z0-9_-]+", block["id"])
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,128}", block["name"])
            assert isinstance(block["input"], dict)
        case "tool_result":
            assert role == "user"
            assert block["content"]
            for inner in block["content"]:
                _block(inner, "user")
        case "thinking":
            assert role == "assistant"
            assert block["signature"]
            assert block["thinking"]
        case "image" | "document":
            assert role == "user"
            assert block["source"]["data"]
        case kind:
            assert kind == "odd", kind


def _openai(body: Json) -> None:
    items: Sequence[Json] = body["input"]
    assert (items[0]["type"], items[0].get("role")) == ("message", "user")
    assert items[-1].get("role") == "user" or items[-1]["type"] == "function_call_output"
    open: list[str] = []
    seen: set[str] = set()
    for item in items:
        match item["type"]:
            case "function_call":
                assert item["call_id"] not in seen
                seen.add(item["call_id"])
                open.append(item["call_id"])
                assert isinstance(json.loads(item["arguments"]), dict)
                assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", item["name"])
            case "function_call_output":
                open.remove(item["call_id"])
                assert item["output"]
            case "message":
                assert not open or item["role"] == "assistant", "a message before its results"
                assert all(part.get("text", "-").strip() for part in item["content"])
                assert item["content"]
            case "reasoning":
                assert item["encrypted_content"]
                assert item is not items[-1]
            case kind:
                assert kind == "odd"
    assert not open, "calls without results"
    assert "tool_choice" not in body or body["tools"]


def _chat(body: Json) -> None:
    messages: Sequence[Json] = [m for m in body["messages"] if m["role"] != "system"]
    assert messages[0]["role"] == "user"
    assert messages[-1]["role"] in ("user", "tool")
    waiting: list[str] = []
    for message in messages:
        match message["role"]:
            case "tool":
                assert waiting.pop(0) == message["tool_call_id"]
                assert isinstance(message["content"], str)
            case "assistant":
                assert not waiting
                calls = message.get("tool_calls", [])
                waiting = [call["id"] for call in calls]
                assert calls or message["content"].strip()
                assert all(isinstance(json.loads(c["function"]["arguments"]), dict) for c in calls)
            case "user":
                assert not waiting
                assert message["content"]
            case role:
                raise AssertionError(role)
    assert not waiting
    assert "tool_choice" not in body or body["tools"]


_CHECKS: Mapping[str, Callable[[Json], None]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai-chat": _chat,
}


def check(wire: str, body: Json) -> None:
    """Raises AssertionError for a body that a strict server would refuse."""
    _CHECKS[wire](body)
