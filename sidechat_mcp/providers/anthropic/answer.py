"""The events of a Messages stream → chunks. Pure.

Blocks are put together from their pieces byte for byte; the answer ends with `message_stop`, and
only if a stop reason came before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidechat_mcp.core.content import Block, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.errors import AnswerCut
from sidechat_mcp.ports.provider import Chunk, Spent, Stop
from sidechat_mcp.providers.anthropic.request import WIRE
from sidechat_mcp.providers.exchange.failures import Complaint, failure
from sidechat_mcp.providers.wire.answering import Held, count, part, word
from sidechat_mcp.providers.wire.pieces import item, raw, read_object, spell
from sidechat_mcp.providers.wire.sse import ServerEvent

UNSHOWN = "(thinking that the provider does not show)"

_STOPS: Mapping[str, tuple[Stop, str | None]] = {
    "end_turn": ("end", None),
    "stop_sequence": ("end", None),
    "tool_use": ("tool_use", None),
    "max_tokens": ("max_tokens", None),
    "pause_turn": ("max_tokens", "The provider paused the answer; ask it to go on."),
    "model_context_window_exceeded": ("max_tokens", "The model's window is full."),
    "refusal": ("refusal", None),
}


@dataclass(slots=True)
class _Growing:
    """A block while its deltas come in: `start` is its first form, `texts` by name of field."""

    start: dict[str, Any]
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, name: str, text: object) -> str:
        added = text if isinstance(text, str) else ""
        self.texts.setdefault(name, []).append(added)
        return added

    def text(self, name: str) -> str:
        return (word(self.start, name) or "") + "".join(self.texts.get(name, ()))

    def block(self) -> Block:
        start = self.start
        match start.get("type"):
            case "text":
                return Text(self.text("text"))
            case "thinking":
                fields = {name: self.text(name) for name in ("thinking", "signature")}
                verbatim = spell({"type": "thinking", **start, **fields}).decode()
                return Thinking(fields["thinking"] or UNSHOWN, WIRE, verbatim)
            case "redacted_thinking":
                return Thinking("", WIRE, spell(start).decode())
            case "tool_use" if word(start, "id") and word(start, "name"):
                return ToolUse(start["id"], start["name"], self.input())
            case _:
                return Verbatim(WIRE, self.verbatim())

    def input(self) -> str:
        """The call's arguments as they came; from the block's first form when none did."""
        whole = "".join(self.texts.get("partial_json", ()))
        return whole if whole.strip() else spell(self.start.get("input") or {}).decode()

    def verbatim(self) -> str:
        """A block of any other kind as the JSON that goes back."""
        if not self.texts.get("partial_json"):
            return spell(self.start).decode()
        pairs = {name: spell(self.start[name]) for name in self.start}
        given = self.input()
        pairs["input"] = raw(given) if read_object(given) is not None else b"{}"
        return item(*pairs.items()).decode()


@dataclass(slots=True)
class Incoming:
    """`compared`: the request named a response to compare its prefix with."""

    who: str
    compared: bool = False
    held: Held = field(default_factory=Held)
    model: str | None = None
    stop: str | None = None
    detail: str | None = None
    counts: dict[str, Any] = field(default_factory=dict[str, Any])
    ids: dict[str, str] = field(default_factory=dict[str, str])
    blocks: dict[int, _Growing] = field(default_factory=dict[int, _Growing])

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
        return tuple(self._take(found))

    def _take(self, found: Mapping[str, Any]) -> Iterator[Chunk]:
        match found.get("type"):
            case "message_start":
                self._message(part(found, "message"))
            case "content_block_start":
                self.blocks[_index(found)] = _Growing(part(found, "content_block"))
                yield from self.held.starts()
                yield from self.held.says(word(part(found, "content_block"), "text") or "")
            case "content_block_delta":
                yield from self._delta(_index(found), part(found, "delta"))
            case "content_block_stop" if growing := self.blocks.pop(_index(found), None):
                self.held.has(growing.block())
            case "message_delta":
                self._ending(found)
            case "message_stop":
                yield from self._end()
            case "error":
                raise failure(self.who, 200, Complaint.read(found))
            case _:
                pass

    def _message(self, message: Mapping[str, Any]) -> None:
        self.model = word(message, "model")
        if (id := word(message, "id")) is not None:
            self.ids["response"] = id
        if self.compared and "diagnostics" in message:
            self.ids["prefix"] = _diagnosis(message["diagnostics"])
        self._count(part(message, "usage"))

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        growing = self.blocks.get(index)
        if growing is None:
            # Some streams leave the start of a block out.
            growing = self.blocks[index] = _Growing({"type": "text"})
            yield from self.held.starts()
        match delta.get("type"):
            case "text_delta":
                yield from self.held.says(growing.add("text", delta.get("text")))
            case "thinking_delta":
                growing.add("thinking", delta.get("thinking"))
            case "signature_delta":
                growing.add("signature", delta.get("signature"))
            case "input_json_delta":
                growing.add("partial_json", delta.get("partial_json"))
            case _:
                pass

    def _ending(self, found: Mapping[str, Any]) -> None:
        delta = part(found, "delta")
        self.stop = word(delta, "stop_reason") or self.stop
        details = part(delta, "stop_details")
        said = [word(details, "category"), word(details, "explanation")]
        self.detail = ": ".join(filter(None, said)) or None
        self._count(part(found, "usage"))

    def _end(self) -> Iterator[Chunk]:
        if self.stop is None:
            raise AnswerCut(
                f"{self.who} ended the answer without saying why.",
                then="Ask again.",
                retryable=True,
            )
        stop, detail = _STOPS.get(
            self.stop, ("max_tokens", f"The answer stopped for a reason unknown here: {self.stop}.")
        )
        if stop == "refusal":
            detail = f"The model refused to answer ({self.detail or 'no reason given'})."
        for growing in self.blocks.values():
            self.held.has(growing.block())
        yield from self.held.ends(stop, self.model, detail)

    def _count(self, usage: Mapping[str, Any]) -> None:
        self.counts |= {name: usage[name] for name in usage if usage[name] is not None}
        if not self.counts:
            return
        read = count(self.counts, "cache_read_input_tokens")
        written = count(self.counts, "cache_creation_input_tokens")
        rest = count(self.counts, "input_tokens")
        whole = None if rest is None else rest + (read or 0) + (written or 0)
        self.held.spent = Spent(
            whole, count(self.counts, "output_tokens"), read, written, dict(self.ids)
        )


def _index(found: Mapping[str, Any]) -> int:
    value = found.get("index")
    return value if isinstance(value, int) else 0


def _diagnosis(said: object) -> str:
    """`same`, `pending`, or what differs from the request compared with, in the provider's word."""
    match said:
        case None:
            return "same"
        case {"cache_miss_reason": {"type": str(reason)}}:
            return reason
        case _:
            return "pending"
