"""How a conversation stood at the turn that a fork is made at: what its requests were made with,
and what was put in after that turn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidechat_mcp.clients.codex import records
from sidechat_mcp.clients.codex.records import Began, Ended
from sidechat_mcp.clients.codex.turns import BETWEEN
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.values import mapping, word


@dataclass(slots=True)
class Standing:
    """`wide_open` says that the client's sandbox was off. `added` are the items that were put in
    between that turn and the next, as the client keeps them. `known` says that the turn is in
    this file."""

    model: str | None = None
    provider: str | None = None
    effort: str | None = None
    wide_open: bool = False
    added: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    known: bool = False


def turn_of(turn: str) -> str:
    """The client's own turn that a turn of a mirror is, or that it follows."""
    return turn.partition(BETWEEN)[0]


def standing(rows: Iterable[tuple[int, Mapping[str, Any]]], turn: str, record: str) -> Standing:
    """How it stood after the client's turn `turn`, up to `record`. `rows` are the JSON objects of
    the thread, each with its place in its file."""
    found = Standing()
    tally = Tally()
    for place, one in rows:
        payload = mapping(one.get("payload"))
        if not found.known:
            _take(found, one, payload)
        read = records.read(one, place, tally)
        match read.says if read is not None else None:
            case Ended(turn=ended) if ended == turn:
                found.known = True
            case Began() if found.known:
                break
            case _ if found.known and read is not None and one.get("type") == "response_item":
                found.added.append(_item(payload))
                if read.name == record:
                    break
            case _:
                pass
    return found


def items(found: Standing, turn: str) -> Sequence[Mapping[str, Any]]:
    """What a fork at `turn` has to be given after the client's own turn."""
    return found.added if BETWEEN in turn else ()


def _take(found: Standing, one: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
    match one.get("type"):
        case "session_meta":
            found.provider = word(payload.get("model_provider")) or found.provider
        case "turn_context":
            settings = mapping(mapping(payload.get("collaboration_mode")).get("settings"))
            found.model = word(payload.get("model")) or found.model
            found.effort = word(payload.get("effort")) or word(settings.get("reasoning_effort"))
            policy = mapping(payload.get("sandbox_policy"))
            found.wide_open = policy.get("type") == "danger-full-access"
        case "event_msg":
            settings = mapping(payload.get("thread_settings"))
            found.provider = word(settings.get("model_provider_id")) or found.provider
        case _:
            pass


def _item(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """An item without what the client notes on it for itself."""
    kept = {name: value for name, value in payload.items() if not name.startswith("internal_")}
    kept.pop("id", None)
    return kept
