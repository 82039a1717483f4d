"""Model requests of the four clients, as what can be compared: a head and a conversation.

Where a fork's request cannot be the parent's byte for byte, the difference is named in `EXPLAINED`
and left out of what is compared; nothing else is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

FRAMED = "[Side conversation] The conversation above is background"
OPENED = "<sidechat-note id="
FEW = 3
"""Tools that a request has which is no conversation's but asks for a title or the like."""

EXPLAINED: Mapping[str, Mapping[str, str]] = {
    "claude": {
        "metadata": "names the session, and a fork is one of its own",
        "system[0]": "the billing line, which no model is shown: a digest of the newest prompt",
        "cache_control": "marks where a cache may end: always the last messages",
    },
    "codex": {
        "client_metadata": "names the thread and the turn, and a fork has its own",
        "input[0].id": "the item of the base instructions is named after the thread",
        "tools: codex_tui": "the screen's own tools, which nobody else can give a thread",
    },
    "opencode": {},
    "pi": {},
}


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: when, its head by member, its conversation's messages, and the answer."""

    at: float
    head: Mapping[str, str]
    talk: list[str]
    answer: Mapping[str, Any]

    @property
    def aside(self) -> bool:
        return any(FRAMED in message for message in self.talk)

    @property
    def fresh(self) -> str:
        """What it adds behind the last answer."""
        start = max((n for n, one in enumerate(self.talk) if _answers(one)), default=-1)
        return "\n".join(self.talk[start + 1 :])

    @property
    def notes(self) -> int:
        """How many notes it shows; the stub says some of them after us."""
        return sum(one.count(OPENED) for one in self.talk if not _answers(one))

    def place(self, words: str) -> int:
        """The message that holds `words`, -1 when none does."""
        return next((n for n, one in enumerate(self.talk) if words in one), -1)


def sent(out: Path, who: str, start: int = 0) -> list[Sent]:
    """Every request of a conversation or a fork, in order, without the first `start` lines."""
    lines = (out / "llm.jsonl").read_text("utf-8").splitlines()[start:]
    every = [json.loads(line) for line in lines]
    talks = [one for one in every if len(_tools(one.get("view"))) > FEW]
    return [Sent(one["t"], *_parted(one["body"], who), one["answer"]) for one in talks]


def _tools(view: dict[str, Any] | None) -> list[str]:
    return view["tools"] if view else []


def _parted(body: dict[str, Any], who: str) -> tuple[dict[str, str], list[str]]:
    match who:
        case "claude":
            head, talk = _anthropic(body)
        case "codex":
            head, talk = _responses(body)
        case _:
            head = {name: value for name, value in body.items() if name != "messages"}
            head["system"] = [one for one in body["messages"] if one["role"] == "system"]
            talk = [one for one in body["messages"] if one["role"] != "system"]
    return {name: json.dumps(value) for name, value in head.items()}, [*map(_written, talk)]


def _anthropic(body: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    body = cast("dict[str, Any]", _unmarked(body))
    talk, system = body.pop("messages"), body.pop("system")
    body.pop("metadata", None)
    for message in talk:
        content = message.get("content")
        if isinstance(content, list):
            blocks = cast("list[dict[str, Any]]", content)
            # Only as a list can a lone text have a mark.
            if len(blocks) == 1 and blocks[0].get("type") == "text":
                message["content"] = blocks[0]["text"]
    return {**body, "system": system[1:]}, talk


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {k: _unmarked(v) for k, v in fields.items() if k != "cache_control"}
    if isinstance(value, list):
        return [_unmarked(one) for one in cast("list[Any]", value)]
    return value


def _responses(body: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    head = {k: v for k, v in body.items() if k not in ("input", "client_metadata")}
    head["tools"] = [one for one in body["tools"] if one.get("name") != "mcp__codex_tui"]
    first = {k: v for k, v in body["input"][0].items() if k != "id"}
    return head, [first, *body["input"][1:]]


def _written(message: Any) -> str:
    return json.dumps(message, ensure_ascii=False)


def _answers(message: str) -> bool:
    """Whether the model said it, or called for it."""
    one = json.loads(message)
    return one.get("role") == "assistant" or str(one.get("type", "")).endswith("_call")
