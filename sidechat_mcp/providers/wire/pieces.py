"""A request as bytes that we choose. What is spliced stays byte for byte; what is spelled has one
spelling. A request that continues another begins with the same bytes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, cast

_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def spell(value: object) -> bytes:
    """`value` as compact JSON in UTF-8, members in their given order. A lone surrogate, which no
    provider takes, becomes U+FFFD. Raises ValueError for NaN and infinity."""
    text = _encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def members(pairs: Iterable[tuple[str, bytes]]) -> bytes:
    """`"name":value` for each pair, joined by commas, without the braces around."""
    return b",".join(spell(name) + b":" + value for name, value in pairs)


def item(*pairs: tuple[str, bytes]) -> bytes:
    """A JSON object of values that are JSON text already."""
    return b"{" + members(pairs) + b"}"


def read_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, or None."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def object_text(text: str) -> str:
    """The text of a JSON object: `text` itself, byte for byte, when it is one that can be sent;
    `{}` for nothing; anything else is put into an object as `input`."""
    if not text.strip():
        return "{}"
    value = read_object(text)
    if value is None:
        return spell({"input": text}).decode()
    return text if _sendable(text, value) else spell(value).decode()


def raw(text: str) -> bytes:
    """JSON text byte for byte, without the white space around it; only text that no provider
    would take (lone surrogates) is spelled anew."""
    text = text.strip()
    if text.isascii() and not _ESCAPED_SURROGATE.search(text):
        return text.encode()
    value = json.loads(text)
    return text.encode() if _sendable(text, value) else spell(value)


def _sendable(text: str, value: object) -> bool:
    """Whether `text`, which says `value`, has no lone surrogate, escaped or not."""
    if text.isascii() and not _ESCAPED_SURROGATE.search(text):
        return True
    try:
        text.encode()
        _encode(value).encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the conversation that is never sent in halves: a block, an item or a message.

    `open` and `close` are the container it stands in; neighbours with the same `open` share one,
    `between` them. A piece that is `markable` is a JSON object that takes a cache breakpoint."""

    body: bytes
    role: Literal["user", "assistant"]
    inherited: bool = False
    open: bytes = b""
    close: bytes = b""
    between: bytes = b","
    markable: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A whole request: `head` ends where the conversation begins, `tail` starts where it ends.
    `marked` are the places of the pieces that carry `mark`, a cache breakpoint."""

    head: bytes
    pieces: Sequence[Piece]
    tail: bytes
    mark: bytes = b""
    marked: Sequence[int] = ()

    @property
    def body(self) -> bytes:
        return self.head + joined(self.pieces, self.marked, self.mark) + self.tail

    @property
    def unmarked(self) -> bytes:
        """The body without breakpoints: what two requests are compared by."""
        return self.head + joined(self.pieces) + self.tail

    @property
    def prefix(self) -> bytes:
        """The inherited conversation up to the fork, without breakpoints; what follows in the
        body may be more of the same message."""
        kept = 0
        while kept < len(self.pieces) and self.pieces[kept].inherited:
            kept += 1
        return joined(self.pieces[:kept], closed=False)

    def digests(self, wire: str, form: str) -> Mapping[str, str]:
        """Hex SHA-256 of the head, the prefix and the whole body, and by what they were spelled."""
        parts = {"head": self.head, "prefix": self.prefix, "body": self.body}
        return {"wire": wire, "form": form} | {
            name: hashlib.sha256(data).hexdigest() for name, data in parts.items()
        }


def joined(
    pieces: Sequence[Piece],
    marked: Collection[int] = (),
    mark: bytes = b"",
    *,
    closed: bool = True,
) -> bytes:
    """The pieces in their containers. Without `closed` the last container stays open."""
    out: list[bytes] = []
    last: Piece | None = None
    for place, piece in enumerate(pieces):
        if last is None:
            out.append(piece.open)
        elif piece.open and piece.open == last.open:
            out.append(piece.between)
        else:
            out += (last.close, b",", piece.open)
        out.append(piece.body[:-1] + b"," + mark + b"}" if place in marked else piece.body)
        last = piece
    if last is not None and closed:
        out.append(last.close)
    return b"".join(out)


RESERVED = {"model", "system", "instructions", "tools", "messages", "input", "stream"}
"""What no setting may stand for, whatever the wire calls it."""


def settings(given: Mapping[str, Any], without: Collection[str]) -> list[tuple[str, bytes]]:
    """Call settings as members, in the order of their names, without the reserved ones and those
    named."""
    return [
        (name, spell(given[name]))
        for name in sorted(given)
        if name not in RESERVED and name not in without
    ]


def listed(text: str | None) -> list[dict[str, Any]]:
    """The JSON objects of the array that `text` is; nothing when it is no array of such."""
    if not text:
        return []
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list):
        return []
    values = cast("list[Any]", found)
    if not all(isinstance(one, dict) for one in values):
        return []
    return cast("list[dict[str, Any]]", values)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise ValueError(f"A {type(value).__name__} cannot be sent as JSON.")


_encode = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain
).encode


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")
