"""One spelling of a value: canonical JSON. What is stored and what is digested rest on it, so a
change here changes every digest ever written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from json.encoder import encode_basestring
from typing import Any, cast

_TAGS = ("kind", "type")
# What JSON lets through raw and a line reader, a terminal or UTF-8 does not.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


@cache
def _shape(kind: type[Any]) -> tuple[tuple[str, str, object], ...]:
    """Field names in order, each with its spelling as a member's name and with the value that is
    left out (`MISSING`: never)."""
    shape: list[tuple[str, str, object]] = []
    for field in fields(kind):
        default: object = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        left_out = MISSING if field.name in _TAGS else default
        shape.append((field.name, f'"{field.name}":', left_out))
    return tuple(shape)


def _members(value: object) -> dict[str, Any]:
    """The JSON object of a dataclass, defaults left out, or of a mapping that is no dict."""
    if not is_dataclass(value):
        if isinstance(value, Mapping):
            return dict(cast("Mapping[str, Any]", value))
        raise ValueError(f"A {type(value).__name__} cannot be written as JSON.")
    found: dict[str, Any] = {}
    for name, _, default in _shape(cast("type[Any]", type(value))):
        member = getattr(value, name)
        if default is MISSING or member != default:
            found[name] = member
    return found


_CONSTANTS: dict[bool | None, str] = {None: "null", True: "true", False: "false"}
_encode = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_members
).encode


def _written(value: Any) -> str:
    """As `_encode`, in a fraction of its time for what nearly all of a log consists of:
    dataclasses of ours, and tuples, texts and whole numbers in them."""
    kind = cast("type[Any]", type(value))
    if kind is str:
        return encode_basestring(value)
    if kind is tuple:
        return "[" + ",".join([_written(item) for item in value]) + "]"
    if kind is int:
        return str(value)
    if kind is dict:
        return _object(value)
    if value is None or kind is bool:
        return _CONSTANTS[value]
    if not is_dataclass(kind):
        return _encode(value)
    written: list[str] = []
    for name, spelled, left_out in _shape(kind):
        member = getattr(value, name)
        if member is not left_out and member != left_out:
            written.append(spelled + _written(member))
    return "{" + ",".join(written) + "}"


def _object(value: dict[Any, Any]) -> str:
    """What is nested in it, however deeply, is `_encode`'s: that needs no frame a level."""
    written: list[str] = []
    for name, member in value.items():
        if type(name) is not str:
            return _encode(value)
        write = _encode if type(member) in (dict, list) else _written
        written.append(encode_basestring(name) + ":" + write(member))
    return "{" + ",".join(written) + "}"


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _escaped(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"


def spell(value: object) -> bytes:
    """`value` (JSON values, mappings, our dataclasses) as canonical JSON: members in field
    order, a dataclass's defaults left out (but `kind` and `type`), no spaces, UTF-8.

    Control characters, U+2028, U+2029 and lone surrogates are escaped; two surrogates that stand
    side by side as a pair are the one character they spell. Raises ValueError for NaN, infinity
    and what is no JSON value."""
    text = _written(value)
    if not (text.isascii() and "\x7f" not in text) and _UNSAFE.search(text):
        text = _UNSAFE.sub(_escaped, _PAIR.sub(_joined, text))
    return text.encode()
