"""The events of a Chat Completions stream → chunks. Pure.

The answer ends with `[DONE]`, and only if a finish reason came before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sidechat_mcp.core.content import Text, Thinking, ToolUse
from sidechat_mcp.errors import AnswerCut
from sidechat_mcp.ports.provider import Chunk, Spent, Stop
from sidechat_mcp.providers.exchange.failures import Complaint, failure
from sidechat_mcp.providers.openai_chat.request import WIRE
from sidechat_mcp.providers.wire.answering import Held, count, part, rows, word
from sidechat_mcp.providers.wire.pieces import read_object, spell
from sidechat_mcp.providers.wire.sse import ServerEvent

_STOPS: Mapping[str, Stop] = {
    "stop": "end",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filter",
    "refusal": "refusal",
}


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Incoming:
    who: str
    held: Held = field(default_factory=Held)
    model: str | None = None
    id: str = ""
    finish: str | None = None
    text: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    thought: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    details: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    calls: dict[int, _Call] = field(default_factory=dict[int, _Call])

    @property
    def begun(self) -> bool:
        return self.held.begun

    @property
    def ended(self) -> bool:
        return self.held.ended

    def take(self, event: ServerEvent) -> Sequence[Chunk]:
        if self.ended:
            return ()
        if event.data.strip() == "[DONE]":
            return tuple(self._end())
        found = read_object(event.data)
        return tuple(self._take(found)) if found is not None else ()

    def _take(self, found: Mapping[str, Any]) -> Iterator[Chunk]:
        if found.get("error"):
            raise failure(self.who, _status(found), Complaint.read(found))
        self.id = word(found, "id") or self.id
        self.model = word(found, "model") or self.model
        self._count(part(found, "usage"))
        for choice in rows(found, "choices"):
            yield from self._delta(part(choice, "delta"))
            self.finish = word(choice, "finish_reason") or self.finish

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        said = word(delta, "content") or ""
        thoughts = {
            name: text for name in ("reasoning_content", "reasoning") if (text := word(delta, name))
        }
        calls, details = rows(delta, "tool_calls"), rows(delta, "reasoning_details")
        if (said or thoughts or calls or details) and not self.begun:
            yield from self.held.starts()
        for name, text in thoughts.items():
            self.thought.setdefault(name, []).append(text)
        self.details += details
        self.refused += [text] if (text := word(delta, "refusal")) else []
        for place, call in enumerate(calls):
            self._call(place, call)
        if said:
            self.text.append(said)
            yield from self.held.says(said)

    def _call(self, place: int, delta: Mapping[str, Any]) -> None:
        index = delta.get("index")
        call = self.calls.setdefault(index if isinstance(index, int) else place, _Call())
        function = part(delta, "function")
        call.id = call.id or word(delta, "id") or ""
        call.name = call.name or word(function, "name") or ""
        match function.get("arguments"):
            case str(text):
                call.arguments.append(text)
            case {**whole}:
                call.arguments.append(spell(whole).decode())
            case _:
                pass

    def _end(self) -> Iterator[Chunk]:
        if self.finish is None:
            raise AnswerCut(
                f"{self.who} ended the answer without saying why.",
                then="Ask again.",
                retryable=True,
            )
        if self.finish == "error":
            raise failure(self.who, 200, Complaint("api_error"))
        if self.thought or self.details:
            self.held.has(self._thinking())
        if text := "".join(self.text):
            self.held.has(Text(text))
        for index, call in sorted(self.calls.items()):
            self.held.has(
                ToolUse(self._id(index, call), call.name, "".join(call.arguments) or "{}")
            )
        stop, detail = _STOPS.get(self.finish, "end"), None
        if self.refused or stop == "refusal":
            why = " ".join("".join(self.refused).split())[:300]
            stop, detail = "refusal", f"The model refused to answer ({why or 'no reason given'})."
        elif stop == "content_filter":
            detail = "The provider's content filter stopped the answer."
        yield from self.held.ends(stop, self.model, detail)

    def _thinking(self) -> Thinking:
        kept: dict[str, object] = {name: "".join(texts) for name, texts in self.thought.items()}
        words = next((text for text in kept.values() if isinstance(text, str)), "")
        if self.details:
            kept["reasoning_details"] = self.details
        return Thinking(words, WIRE, spell(kept).decode())

    def _id(self, index: int, call: _Call) -> str:
        """A call's id; one of our own, the same each time, where the server gave none."""
        return call.id or f"call_{sha256(self.id.encode()).hexdigest()[:16]}_{index}"

    def _count(self, usage: Mapping[str, Any]) -> None:
        if not usage:
            return
        details = part(usage, "prompt_tokens_details")
        self.held.spent = Spent(
            count(usage, "prompt_tokens"),
            count(usage, "completion_tokens"),
            count(details, "cached_tokens"),
            count(details, "cache_write_tokens"),
            {"response": self.id} if self.id else {},
        )


def _status(found: Mapping[str, Any]) -> int:
    code = part(found, "error").get("code")
    return code if isinstance(code, int) and 400 <= code < 600 else 200
