"""The answer to a line that is no message. It names the request where that can be known."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import mcp.types as T

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
ID = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]{1,20})\s*[,}]', re.DOTALL)
DEEP = 100
"""Levels of nesting beyond which a message that could not be read is called too deep."""


def refusal(line: bytes) -> T.JSONRPCError | None:
    """The error for `line`, or None when it was meant as an answer to us and needs none."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        id, depth = _scan(line)
        if depth > DEEP:
            return _error(id, T.INVALID_REQUEST, "The message is nested too deeply.")
        return _error(None, T.PARSE_ERROR, "That line is not JSON.")
    if not isinstance(value, dict):
        return _error(None, T.INVALID_REQUEST, "Send one message a line, as a JSON object.")
    message = cast("dict[str, Any]", value)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    id = message.get("id")
    known = id if isinstance(id, int | str) and not isinstance(id, bool) else None
    deep = _scan(line)[1] > DEEP
    said = "The message is nested too deeply." if deep else "That is no JSON-RPC message."
    return _error(known, T.INVALID_REQUEST, said)


def unanswerable(message: bytes) -> T.JSONRPCError | None:
    """The error for a message that would pass for a notification, but has an id: whoever sent it
    waits for an answer under that id, and it is none that an answer can have."""
    if b'"id"' not in message and b"\\u" not in message:
        return None
    try:
        value: Any = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value.keys() >= {"id", "method"}:
        return None
    id = cast("dict[str, Any]", value)["id"]
    if isinstance(id, int | str) and not isinstance(id, bool):
        return None
    return _error(None, T.INVALID_REQUEST, "The id of a request is a text or a whole number.")


def too_long(most: int) -> T.JSONRPCError:
    return _error(None, T.INVALID_REQUEST, f"A message has at most {most} bytes.")


def _error(id: int | str | None, code: int, message: str) -> T.JSONRPCError:
    error = T.ErrorData(code=code, message=message)
    return T.JSONRPCError(jsonrpc="2.0", id=_sendable(id), error=error)


def _sendable(id: int | str | None) -> int | str | None:
    """`id`, unless it holds half a character, which JSON can spell and no wire can carry."""
    if isinstance(id, str) and any("\ud800" <= letter <= "\udfff" for letter in id):
        return None
    return id


def _scan(line: bytes) -> tuple[int | str | None, int]:
    """The id at the top of an unreadable message, and how deep it goes; without recursion."""
    id: int | str | None = None
    depth = deepest = 0
    for token in TOKEN.finditer(line):
        match token[0]:
            case b"{" | b"[":
                depth += 1
                deepest = max(deepest, depth)
            case b"}" | b"]":
                depth -= 1
            case b'"id"' if depth == 1 and (found := ID.match(line, token.end())):
                id = json.loads(found[1])
            case _:
                pass
    return id, deepest
