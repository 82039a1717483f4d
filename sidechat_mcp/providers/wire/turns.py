"""A context → turns that every provider's validator takes. Pure, and it writes nothing back.

Every call has its result right behind it, nothing is empty, the conversation begins and ends
with a user. What becomes of a message depends on itself and on what stands before it only (a
late result stands at its call), so that a context that grows begins with the same turns."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import (
    Block,
    Content,
    Media,
    Text,
    Thinking,
    ToolUse,
    Verbatim,
)
from sidechat_mcp.providers.wire.pictures import Gallery
from sidechat_mcp.providers.wire.pieces import object_text, read_object

NO_RESULT = "No result of this call was recorded."
EMPTY = "(empty)"
BEGINNING = "(The conversation begins with an answer.)"
GO_ON = "(Please go on.)"

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Result:
    """What a model is told of the call `call`; never without content."""

    call: str
    content: Content
    is_error: bool = False


Part = Block | Result


@dataclass(frozen=True, slots=True)
class Turn:
    """One message with something in it, or all results of one answer's calls."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]
    inherited: bool


@dataclass(frozen=True, slots=True)
class Taste:
    """What a wire takes. `intact` judges a reasoning block by the provider's own JSON of it;
    with `bound` reasoning goes back to the very model that wrote it only."""

    wire: str
    model: str
    intact: Callable[[Thinking, Mapping[str, Any]], bool]
    bound: bool = True
    longest_name: int = 64
    verbatim: Literal["everywhere", "in answers", "nowhere"] = "everywhere"
    """Where a block of a kind that has no word here may stand as it is."""
    media_in_results: bool = True


def turns(context: Context, taste: Taste) -> Sequence[Turn]:
    """The conversation of `context` for a wire. Never empty."""
    growing = _Growing(taste, _paired(context.messages))
    for place, message in enumerate(context.messages):
        growing.take(place, message, place < context.inherited)
    found = growing.turns
    if found and found[0].role == "assistant":
        found.insert(0, Turn("user", (Text(BEGINNING),), found[0].inherited))
    if not found or found[-1].role == "assistant":
        found.append(Turn("user", (Text(GO_ON),), inherited=False))
    return found


def same_model(wrote: str | None, model: str) -> bool:
    """Whether an answer by `wrote` is by `model`: the same name, or its dated or hosted one."""
    if wrote is None:
        return False
    dated = r"(-\d{8}|-\d{4}-\d\d-\d\d|-latest)?(-v\d+)?([:@].*)?"
    bare = re.sub(r"(-\d{8}|-\d{4}-\d\d-\d\d|-latest)$", "", model)
    return re.search(rf"(^|[./]){re.escape(bare)}{dated}$", wrote) is not None


@dataclass(slots=True)
class _Growing:
    taste: Taste
    results: Mapping[tuple[int, str], Message]
    turns: list[Turn] = field(default_factory=list[Turn])
    gallery: Gallery = field(default_factory=Gallery)
    given: set[str] = field(default_factory=set[str])

    def take(self, place: int, message: Message, inherited: bool) -> None:
        match message.role:
            case "assistant":
                self.answer(place, message, inherited)
            case "user":
                self.add("user", tuple(self.shown(message.content)) or (Text(EMPTY),), inherited)
            case "context":
                self.add("user", tuple(self.shown(message.content)), inherited)
            case "tool":
                pass  # It stands behind its call.

    def add(self, role: Literal["user", "assistant"], parts: tuple[Part, ...], old: bool) -> None:
        if parts:
            self.turns.append(Turn(role, parts, old))

    def answer(self, place: int, message: Message, inherited: bool) -> None:
        parts: list[Part] = []
        results: list[Part] = []
        asked: set[str] = set()
        for block in message.content:
            if isinstance(block, ToolUse):
                name = _NOT_IN_A_NAME.sub("_", block.name)[: self.taste.longest_name] or "tool"
                call = ToolUse(self.name(block.id), name, object_text(block.input))
                found = None if block.id in asked else self.results.get((place, block.id))
                asked.add(block.id)
                parts.append(call)
                results.append(self.result(call.id, found))
            else:
                parts += self.said(block, message)
        while parts and isinstance(parts[-1], Thinking):
            parts.pop()  # Reasoning that led to nothing is refused when it comes last.
        self.add("assistant", tuple(parts), inherited)
        self.add("user", tuple(results), inherited)

    def said(self, block: Block, message: Message) -> Iterator[Part]:
        """A block of an answer that is no call."""
        match block:
            case Text(text=text) if text.strip():
                yield block
            case Thinking() if self.keeps(block, message):
                yield block
            case Media():
                yield Text(placeholder(block, "it stood in an answer"))
            case Verbatim():
                yield self.foreign(block, self.taste.verbatim != "nowhere")
            case _:
                pass

    def shown(self, content: Content, *, media: bool = True) -> Iterator[Block]:
        """Blocks of a user message or of a result."""
        for block in content:
            match block:
                case Text(text=text) if text.strip():
                    yield block
                case Media():
                    yield self.pictured(block, media)
                case Verbatim():
                    yield self.foreign(block, self.taste.verbatim == "everywhere")
                case _:
                    pass

    def pictured(self, media: Media, allowed: bool) -> Block:
        if (words := _document_text(media)) is not None:
            return Text(f"[document{_named(media)}]\n{words}")
        why = self.gallery.refusal(media) if allowed else "results take text only"
        return media if why is None else Text(placeholder(media, why))

    def foreign(self, block: Verbatim, allowed: bool) -> Block:
        value = read_object(block.json)
        if value is not None and block.wire == self.taste.wire and allowed:
            return block
        kind = value.get("type") if value else None
        what = kind if isinstance(kind, str) else "a block"
        return Text(f"[{what}: not sent, this provider has no such thing]")

    def keeps(self, block: Thinking, message: Message) -> bool:
        """Reasoning goes back whole to who wrote it, or not at all."""
        if block.wire != self.taste.wire or block.verbatim is None:
            return False
        if self.taste.bound and not same_model(message.model, self.taste.model):
            return False
        value = read_object(block.verbatim)
        return value is not None and self.taste.intact(block, value)

    def result(self, call: str, message: Message | None) -> Result:
        if message is None:
            return Result(call, (Text(NO_RESULT),), is_error=True)
        content = tuple(self.shown(message.content, media=self.taste.media_in_results))
        return Result(call, content or (Text(EMPTY),), message.is_error)

    def name(self, call: str) -> str:
        """An id that every provider takes and that no other call of the request has."""
        if not _ID.fullmatch(call):
            call = "call_" + sha256(call.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        name, n = call, 1
        while name in self.given:
            n += 1
            name = f"{call[:56]}_{n}"
        self.given.add(name)
        return name


def placeholder(media: Media, why: str) -> str:
    """The words that stand in for an image or a document."""
    digest = f"sha256 {media.digest[:16]}"
    return f"[{media.kind}{_named(media)}: {media.media_type}, {media.size} bytes, {digest}; {why}]"


def _named(media: Media) -> str:
    return f" {media.name}" if media.name else ""


def _document_text(media: Media) -> str | None:
    """The words of a document that is text."""
    if media.kind != "document" or not media.media_type.startswith("text/") or not media.data:
        return None
    try:
        return base64.b64decode(media.data, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _paired(messages: Sequence[Message]) -> Mapping[tuple[int, str], Message]:
    """(place of an answer, id of a call in it) → its result: the first one that comes after the
    answer and before another answer uses the same id."""
    open: dict[str, int] = {}
    found: dict[tuple[int, str], Message] = {}
    for place, message in enumerate(messages):
        if message.role == "assistant":
            open |= {block.id: place for block in message.content if isinstance(block, ToolUse)}
        elif message.role == "tool" and message.call in open:
            found.setdefault((open[message.call], message.call), message)
    return found
