"""The events of a Responses stream → chunks. Pure.

Finished items are the truth, deltas are only heard; the answer ends with `response.completed`,
`response.incomplete` or `response.failed`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidechat_mcp.core.content import Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.ports.provider import Chunk, Spent, Stop
from sidechat_mcp.providers.exchange.failures import Complaint, failure
from sidechat_mcp.providers.openai_responses.request import WIRE
from sidechat_mcp.providers.wire.answering import Held, count, part, rows, word
from sidechat_mcp.providers.wire.pieces import read_object, spell
from sidechat_mcp.providers.wire.sse import ServerEvent

_INCOMPLETE: Mapping[str, tuple[Stop, str | None]] = {
    "max_output_tokens": ("max_tokens", None),
    "content_filter": ("content_filter", "The provider's content filter stopped the answer."),
}
_POLICY = ("policy", "invalid_prompt")
"""What the codes of a response that failed for what was asked have in them."""


@dataclass(slots=True)
class Incoming:
    who: str
    held: Held = field(default_factory=Held)
    model: str | None = None
    refused: list[str] = field(default_factory=list[str])
    kept: int = 0
    """How many items are finished."""

    @property
    def begun(self) -> bool:
        return self.held.begun

    @property
    def ended(self) -> bool:
        return self.held.ended

    def take(self, event: ServerEvent) -> Sequence[Chunk]:
        found = read_object(event.data)
        if found is None or self.ended:
            return ()
        return tuple(self._take(found.get("type") or event.name, found))

    def _take(self, kind: object, found: Mapping[str, Any]) -> Iterator[Chunk]:
        match kind:
            case "response.created" | "response.in_progress":
                self.model = word(part(found, "response"), "model") or self.model
            case "response.output_item.added":
                yield from self.held.starts()
            case "response.output_text.delta":
                if not self.begun:
                    yield from self.held.starts()
                yield from self.held.says(word(found, "delta") or "")
            case "response.refusal.delta":
                self.refused.append(word(found, "delta") or "")
            case "response.output_item.done":
                self._item(part(found, "item"))
            case "response.completed" | "response.incomplete" | "response.failed":
                yield from self._end(str(kind), part(found, "response"))
            case "error":
                raise failure(self.who, 200, Complaint.read(_flat(found)))
            case _:
                pass

    def _item(self, item: Mapping[str, Any]) -> None:
        self.kept += 1
        match item.get("type"):
            case "message":
                for content in rows(item, "content"):
                    if content.get("type") == "refusal":
                        self.refused = [word(content, "refusal") or ""]
                    elif (text := word(content, "text")) is not None:
                        self.held.has(Text(text))
            case "function_call" if word(item, "call_id") and word(item, "name"):
                arguments = item.get("arguments")
                given = arguments if isinstance(arguments, str) else "{}"
                self.held.has(ToolUse(item["call_id"], item["name"], given or "{}"))
            case "reasoning":
                said = [row for name in ("summary", "content") for row in rows(item, name)]
                words = "\n\n".join(filter(None, (word(row, "text") for row in said)))
                self.held.has(Thinking(words, WIRE, spell(item).decode()))
            case _:
                self.held.has(Verbatim(WIRE, spell(item).decode()))

    def _end(self, kind: str, response: Mapping[str, Any]) -> Iterator[Chunk]:
        self.model = word(response, "model") or self.model
        self._count(response)
        if not self.kept:
            # Some servers send the items only here.
            for item in rows(response, "output"):
                self._item(item)
        stop: Stop = "end"
        detail = None
        if kind == "response.failed":
            error = part(response, "error")
            code = word(error, "code") or ""
            if not any(sign in code for sign in _POLICY):
                raise failure(self.who, 200, Complaint.read(error))
            stop, detail = "content_filter", f"The provider refused what was asked ({code})."
        elif kind == "response.incomplete":
            reason = word(part(response, "incomplete_details"), "reason") or "no reason given"
            unknown: tuple[Stop, str | None] = ("max_tokens", f"The answer stopped ({reason}).")
            stop, detail = _INCOMPLETE.get(reason, unknown)
        elif self.refused:
            why = " ".join("".join(self.refused).split())[:300]
            stop, detail = "refusal", f"The model refused to answer ({why or 'no reason given'})."
        yield from self.held.ends(stop, self.model, detail)

    def _count(self, response: Mapping[str, Any]) -> None:
        usage = part(response, "usage")
        if not usage:
            return
        details = part(usage, "input_tokens_details")
        ids = {"response": id} if (id := word(response, "id")) else {}
        diagnosis = part(response, "prompt_cache_diagnostics")
        if (kind := word(diagnosis, "type")) is not None:
            ids["prefix"] = word(diagnosis, "reason") or ("same" if kind == "cache_hit" else kind)
        self.held.spent = Spent(
            count(usage, "input_tokens"),
            count(usage, "output_tokens"),
            count(details, "cached_tokens"),
            count(details, "cache_write_tokens"),
            ids,
        )


def _flat(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """An error event's own `type` says only that it is one."""
    return found if "error" in found else {name: found[name] for name in found if name != "type"}
