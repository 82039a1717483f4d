"""What a message is made of. Pure values; identity and place belong to the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Discriminator


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's reasoning, kept for the model that wrote it.

    `verbatim` is the provider's own JSON of the block (signature, encrypted content …), which
    goes back to that `wire` unchanged; other wires leave the whole block out.
    """

    text: str
    wire: str = ""
    verbatim: str | None = None
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that the model asked for. `input` is JSON text, kept byte for byte."""

    id: str
    name: str
    input: str
    type: Literal["tool_use"] = "tool_use"


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a document: its bytes (`data`, base64) or only what identifies them.

    `size` is in bytes of the decoded content, `digest` its SHA-256 in hex.
    """

    kind: Literal["image", "document"]
    media_type: str
    digest: str
    size: int
    data: str | None = None
    name: str | None = None
    type: Literal["media"] = "media"


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A block of a kind this version has no word for, carried as the provider's JSON text."""

    wire: str
    json: str
    type: Literal["verbatim"] = "verbatim"


# The tag tells a reader of stored logs which kind it has; trying each takes five times as long.
Block = Annotated[Text | Thinking | ToolUse | Media | Verbatim, Discriminator("type")]
Content = tuple[Block, ...]


def text(words: str) -> Content:
    """Content of one text block."""
    return (Text(words),)


def plain(content: Content) -> str:
    """The readable text of `content`: its text blocks, joined by blank lines."""
    return "\n\n".join(block.text for block in content if isinstance(block, Text) and block.text)
