"""The stored spelling of bodies and headers: canonical JSON bytes. No other module knows it.

A stored line is never rewritten: an older spelling is raised on reading (`UPCASTS`), a newer
kind is carried as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any, NoReturn, cast, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from sidechat_mcp.core.events import Body, Draft, Header, Known, Unknown
from sidechat_mcp.core.spelling import spell

Upcast = Callable[[dict[str, Any]], dict[str, Any]]
"""From one version's object of a kind to the next one's; it changes nothing it cannot name."""

UPCASTS: Mapping[str, Sequence[Upcast]] = {}
"""By stored kind, oldest first. None yet: the vocabulary has only ever gained defaults."""


def dump(body: Body) -> bytes:
    """Canonical JSON: keys in field order, defaults left out (but `kind`), UTF-8, no spaces,
    separators U+2028, U+2029 and U+0085 and all control characters escaped. An `Unknown` is
    written as it was read."""
    return spell(body.data if isinstance(body, Unknown) else body)


def load(data: bytes, *, upcasts: Mapping[str, Sequence[Upcast]] = UPCASTS) -> Body:
    """The body that `dump` wrote, by this or an older version (upcast) or a newer one
    (`Unknown`). Raises ValueError with what is wrong when `data` is damaged."""
    kind = _kind_at_end(data)
    adapter = _adapter(kind)
    if adapter is not None and kind not in upcasts:
        return cast("Body", _read(adapter, data))
    found = _object(data)
    for upcast in upcasts.get(_kind(found), ()):
        found = upcast(found)
    adapter = _adapter(kind := _kind(found))
    if adapter is not None:
        return cast("Body", _valid(adapter, found))
    return Unknown(kind, found, found.get("ignorable") is True)


def dump_header(header: Header) -> bytes:
    return spell(header)


def load_header(data: bytes) -> Header:
    """Raises ValueError with what is wrong when `data` is damaged."""
    return cast("Header", _read(_header(), data))


def checksum(seq: int, draft_id: str, at: int, body: bytes) -> bytes:
    """Eight bytes that change when anything stored of an event changes."""
    id = draft_id.encode("utf-8", "surrogatepass")
    # Lengths go in front, so that no part can borrow bytes from its neighbour.
    framed = b"%d %d %d %d:%b%b" % (seq, at, len(id), len(body), id, body)
    return blake2b(framed, digest_size=8).digest()


def export(seq: int, draft: Draft, session: str) -> str:
    """One NDJSON line (without newline) of an event with its place, as `…/log` shows it."""
    place = spell({"session": session, "seq": seq, "id": draft.id, "at": draft.at})
    return (place[:-1] + b',"body":' + dump(draft.body) + b"}").decode()


@cache
def _kinds() -> Mapping[str, type[Any]]:
    return {str(fields(kind)[-1].default): kind for kind in get_args(Known)}


# Built when first needed, which costs milliseconds; bounded, for names come from outside.
@lru_cache(maxsize=256)
def _adapter(kind: str) -> TypeAdapter[Any] | None:
    """What reads that kind, or None for one that this version does not know."""
    return TypeAdapter(_kinds()[kind]) if kind in _kinds() else None


@cache
def _header() -> TypeAdapter[Any]:
    return TypeAdapter(Header)


def _kind_at_end(data: bytes) -> str:
    """The last member of the object when it is its kind, as it is in everything `dump` wrote."""
    _, mark, rest = data[-64:].rpartition(b'"kind":"')
    return rest[:-2].decode("ascii", "replace") if mark and rest.endswith(b'"}') else ""


def _read(adapter: TypeAdapter[Any], data: bytes) -> object:
    if b"\\ud" in data or b"NaN" in data or b"Infinity" in data:
        return _valid(adapter, _object(data))
    try:
        return adapter.validate_json(data, strict=True)
    except ValidationError as error:
        raise _damaged(error) from error


def _valid(adapter: TypeAdapter[Any], found: dict[str, Any]) -> object:
    try:
        return adapter.validate_python(found)
    except ValidationError as error:
        raise _damaged(error) from error


def _damaged(error: ValidationError) -> ValueError:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return ValueError(f"{where or 'the whole'}: {first['msg']}")


def _object(data: bytes) -> dict[str, Any]:
    try:
        # The fast reader knows no lone surrogates, and they are legal here.
        whole = json.loads(data, parse_constant=_refuse) if b"\\ud" in data else _plain(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(whole, dict):
        raise ValueError("it is no JSON object")
    return cast("dict[str, Any]", whole)


def _plain(data: bytes) -> object:
    return from_json(data, allow_inf_nan=False)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _kind(found: Mapping[str, Any]) -> str:
    kind = found.get("kind")
    if not isinstance(kind, str):
        raise ValueError("kind: it has none")
    return kind
