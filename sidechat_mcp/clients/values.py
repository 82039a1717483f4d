"""Looking at what a client wrote down: any value may be of any kind, and nothing is required.

A look answers with what was hoped for or with nothing; it never raises."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any, cast

LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def mapping(value: Any) -> dict[str, Any]:
    """`value` when it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """`value` when it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def word(value: Any) -> str | None:
    """`value` when it is text that says something."""
    return value if isinstance(value, str) and value else None


def amount(value: Any) -> int | None:
    """`value` when it is a whole number from 0 that every JSON reader keeps exactly."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**53 else None


def compact(value: Any) -> str:
    """JSON text of a value that was read from JSON, without spaces, members in their order. A
    number too large for Python, which JSON could not spell again, is text."""
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(_spellable(value))


def _spellable(value: Any) -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _spellable(member) for name, member in members.items()}
    if isinstance(value, list):
        return [_spellable(item) for item in cast("list[Any]", value)]
    beyond = isinstance(value, float) and not math.isfinite(value)
    return str(value) if beyond else value


def instant(value: Any, before: int) -> int:
    """Milliseconds since 1970 of an ISO time (without an offset: UTC) or of a number, which may be
    in seconds; nonsense is the time `before`."""
    if isinstance(value, bool):
        return before
    if isinstance(value, int | float):
        milliseconds = value if value > 100_000_000_000 else value * 1000
        return int(milliseconds) if 0 < milliseconds <= LATEST else before
    if not isinstance(value, str) or len(value) > 64:
        return before
    try:
        moment = datetime.fromisoformat(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        milliseconds = int(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        return before
    return milliseconds if 0 <= milliseconds <= LATEST else before
