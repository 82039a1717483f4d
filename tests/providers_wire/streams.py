"""Streams as the three kinds of provider send them, of our own writing: an answer with reasoning,
text and two parallel calls; a plain one; and how each says that it refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sidechat_mcp.core.content import Block, Text, Thinking, ToolUse
from sidechat_mcp.ports.provider import Spent


def named(*events: dict[str, Any]) -> list[bytes]:
    """Events that carry their name, as Anthropic's and the Responses API's do."""
    return [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]


def unnamed(*events: dict[str, Any] | str) -> list[bytes]:
    return [
        f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()
        for event in events
    ]


def _block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _start(**usage: int) -> dict[str, Any]:
    message: dict[str, Any] = {"id": "msg_1", "model": "claude-m-20260101", "usage": usage}
    return {"type": "message_start", "message": {"type": "message", "role": "assistant", **message}}


def _stop(reason: str, tokens: int, **more: Any) -> list[dict[str, Any]]:
    delta = {"stop_reason": reason, "stop_sequence": None, **more}
    return [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": tokens}},
        {"type": "message_stop"},
    ]


ANTHROPIC = named(
    _start(
        input_tokens=7, cache_read_input_tokens=900, cache_creation_input_tokens=90, output_tokens=1
    ),
    {"type": "ping"},
    *_block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Which file"},
        {"type": "thinking_delta", "thinking": "? Both."},
        {"type": "signature_delta", "signature": "c2lnbmF0dXJl"},
    ),
    *_block(
        1,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "I read "},
        {"type": "text_delta", "text": "both – ünïcode \u2028 included."},
    ),
    *_block(
        2,
        {"type": "tool_use", "id": "toolu_a", "name": "read", "input": {}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"path": '},
        {"type": "input_json_delta", "partial_json": '"a.py",  "n": 1.50}'},
    ),
    *_block(3, {"type": "tool_use", "id": "toolu_b", "name": "list", "input": {}}),
    *_stop("tool_use", 42),
)
ANTHROPIC_PLAIN = named(
    _start(input_tokens=5, output_tokens=1),
    *_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Yes."}),
    *_stop("end_turn", 2),
)
ANTHROPIC_REFUSED = named(
    _start(input_tokens=5, output_tokens=1),
    *_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "First, take"}),
    {"type": "content_block_stop", "index": 1},
    *_stop("refusal", 3, stop_details={"type": "refusal", "category": "bio", "explanation": None}),
)
ANTHROPIC_OVERLOADED = named(
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
)


def _item(index: int, item: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    place = {"output_index": index}
    added = {"type": item["type"], "status": "in_progress"}
    return [
        {"type": "response.output_item.added", **place, "item": added},
        *({**delta, **place} for delta in deltas),
        {"type": "response.output_item.done", **place, "item": item},
    ]


def _message(text: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "m1", "role": "assistant", "content": content}


def _said(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "response.output_text.delta", "delta": text} for text in texts]


REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Which file? Both."}],
    "encrypted_content": "Z2VoZWlt",
}
_CALLS: Sequence[dict[str, Any]] = (
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_a",
        "name": "read",
        "arguments": '{"path": "a.py",  "n": 1.50}',
    },
    {
        "type": "function_call",
        "id": "fc_2",
        "call_id": "call_b",
        "name": "list",
        "arguments": "{}",
    },
)


def ended(kind: str, **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 997,
        "input_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 90},
        "output_tokens": 42,
    }
    response = {"id": "resp_1", "model": "gpt-m-2026-01-01", "usage": usage, **more}
    return {"type": f"response.{kind}", "response": response}


CREATED = {"type": "response.created", "response": {"id": "resp_1", "model": "gpt-m-2026-01-01"}}
RESPONSES = named(
    CREATED,
    *_item(0, REASONING),
    *_item(
        1,
        _message("I read both – ünïcode \u2028 included."),
        *_said("I read ", "both – ünïcode \u2028 included."),
    ),
    *_item(
        2,
        _CALLS[0],
        {"type": "response.function_call_arguments.delta", "delta": '{"path": "a.py",  "n"'},
    ),
    *_item(3, _CALLS[1]),
    ended("completed"),
)
RESPONSES_PLAIN = named(CREATED, *_item(0, _message("Yes."), *_said("Yes.")), ended("completed"))
RESPONSES_REFUSED = named(
    CREATED,
    *_item(
        0,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "I cannot help with that."}],
        },
        {"type": "response.refusal.delta", "delta": "I cannot help with that."},
    ),
    ended("completed"),
)
RESPONSES_OVERLOADED = named(
    {"type": "error", "code": "server_error", "message": "The server had an error", "param": None}
)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> Any:
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    return {"id": "chatcmpl-1", "model": "m", "choices": choices, **more}


_USED = {
    "prompt_tokens": 997,
    "completion_tokens": 42,
    "prompt_tokens_details": {"cached_tokens": 900},
}
CHAT = unnamed(
    chunk({"role": "assistant", "content": None}),
    chunk({"reasoning_content": "Which file"}),
    chunk({"reasoning_content": "? Both."}),
    chunk({"content": "I read "}),
    chunk({"content": "both – ünïcode \u2028 included."}),
    chunk(
        {
            "tool_calls": [
                {"index": 0, "id": "call_a", "function": {"name": "read", "arguments": ""}}
            ]
        }
    ),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"path": "a.py", '}}]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": ' "n": 1.50}'}}]}),
    chunk(
        {
            "tool_calls": [
                {"index": 1, "id": "call_b", "function": {"name": "list", "arguments": "{}"}}
            ]
        }
    ),
    chunk(finish="tool_calls"),
    {"id": "chatcmpl-1", "model": "m", "choices": [], "usage": _USED},
    "[DONE]",
)
CHAT_PLAIN = unnamed(chunk({"content": "Yes."}), chunk(finish="stop"), "[DONE]")
CHAT_REFUSED = unnamed(
    chunk({"refusal": "I cannot help with that."}), chunk(finish="stop"), "[DONE]"
)
CHAT_OVERLOADED = unnamed({"error": {"code": 503, "message": "Overloaded"}, "choices": []})

WORDS = "I read both – ünïcode \u2028 included."


def whole(wire: str) -> tuple[tuple[Block, ...], Spent, str]:
    """What the long stream of a wire adds up to: its blocks, tokens, model."""
    prefix = "toolu" if wire == "anthropic" else "call"
    calls = (
        ToolUse(f"{prefix}_a", "read", '{"path": "a.py",  "n": 1.50}'),
        ToolUse(f"{prefix}_b", "list", "{}"),
    )
    thought = "Which file? Both."
    verbatim: dict[str, dict[str, Any]] = {
        "anthropic": {"type": "thinking", "thinking": thought, "signature": "c2lnbmF0dXJl"},
        "openai": REASONING,
        "openai-chat": {"reasoning_content": thought},
    }
    text = json.dumps(verbatim[wire], separators=(",", ":"))
    ids = {"anthropic": "msg_1", "openai": "resp_1", "openai-chat": "chatcmpl-1"}
    models = {"anthropic": "claude-m-20260101", "openai": "gpt-m-2026-01-01", "openai-chat": "m"}
    written = None if wire == "openai-chat" else 90
    spent = Spent(997, 42, 900, written, {"response": ids[wire]})
    return (Thinking(thought, wire, text), Text(WORDS), *calls), spent, models[wire]
