"""A tool's arguments, checked against its own schema: what is wrong is named, with what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.surfaces.mcp.schemas import Schema

WORDS = {"string": "text", "integer": "a whole number", "boolean": "true or false"}


class BadArguments(InvalidRequest):
    code = "bad_arguments"


def checked(schema: Schema, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments that were really given: null and blank optional ones are as good as absent.

    Raises: BadArguments."""
    known: Mapping[str, Schema] = schema["properties"]
    found: dict[str, Any] = {}
    for name, value in (given or {}).items():
        if name not in known:
            raise BadArguments(
                f"There is no argument {name[:40]!r}.", then=f"Known: {', '.join(known)}."
            )
        if value is not None and not (isinstance(value, str) and not value.strip()):
            found[name] = _valued(name, known[name], value)
    for name in schema["required"]:
        if name not in found:
            kind = WORDS[known[name]["type"]]
            raise BadArguments(f"`{name}` is missing.", then=f"Give it as {kind}.")
    return found


def _valued(name: str, schema: Schema, value: Any) -> Any:
    match schema["type"], value:
        case "string", str():
            longest = schema.get("maxLength")
            if longest is not None and len(value) > longest:
                raise BadArguments(
                    f"`{name}` has {len(value)} characters.", then=f"Give at most {longest}."
                )
            return value
        case "boolean", bool():
            return value
        case "integer", int() if not isinstance(value, bool):
            return _bounded(name, schema, value)
        case "integer", float() if value.is_integer():
            return _bounded(name, schema, int(value))
        case kind, _:
            raise BadArguments(f"`{name}` has the wrong type.", then=f"Give {WORDS[kind]}.")


def _bounded(name: str, schema: Schema, value: int) -> int:
    least, most = schema.get("minimum"), schema.get("maximum")
    if (least is not None and value < least) or (most is not None and value > most):
        bounds = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise BadArguments(f"`{name}` is {value}.", then=f"Give a number {bounds}.")
    return value
