"""One JSON object of a rollout → what it says. Pure; unknown kinds are counted, not guessed.

The format is internal to its owner and grows with every release, so only what is needed is
looked at. A rollout keeps the same thing several times: what the model was given and gave stands
in `response_item`, and what `event_msg` repeats of it for display is left alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.clients.codex import items
from sidechat_mcp.clients.codex.items import Outcome
from sidechat_mcp.clients.jsonl import Shape, Source, Tally, objects
from sidechat_mcp.clients.values import amount, compact, instant, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Text, Verbatim, plain
from sidechat_mcp.core.events import Reason


@dataclass(frozen=True, slots=True)
class Said:
    """Words before the model. `typed` are a person's, steered and queued ones too; `what` names
    the others in the client's word, and `role` is the one the model saw them in."""

    content: Content
    typed: bool
    role: str
    what: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A part of an answer. `sums_up` marks what a compactor wrote, which no turn is told."""

    content: Content
    sums_up: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """As reported for one response; None = not reported. `input` is the whole prompt."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


@dataclass(frozen=True, slots=True)
class Spent:
    """`total` tells repeated reports apart where no response is named."""

    tokens: Tokens
    response: str | None = None
    total: str | None = None


@dataclass(frozen=True, slots=True)
class Began:
    turn: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    turn: str | None
    reason: Reason
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Chose:
    """The model of what follows."""

    model: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """Context begins anew with `summary`. `kept` came over word for word; None in old files,
    where it is what a person had typed."""

    summary: Content
    kept: Sequence[Said | Answer | Outcome] | None


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The person took back that many turns."""

    turns: int


Saying = Said | Answer | Outcome | Spent | Began | Ended | Chose | Compacted | RolledBack


@dataclass(frozen=True, slots=True)
class Record:
    """`name` is the client's own id of it, else its ordinal (`o…`) or its place in the file
    (`l…`); `at` is when it was written, in milliseconds since 1970."""

    name: str
    at: int
    says: Saying


@dataclass(frozen=True, slots=True)
class Meta:
    """What a thread says of itself. `base` is the segment of a thread that this file goes on from,
    and up to which ordinal; `under` the thread that this one works for, if it is a subagent's."""

    id: str
    cwd: str | None = None
    version: str | None = None
    base: tuple[str, int] | None = None
    subagent: bool = False
    under: str | None = None


_SHAPE = Shape(re.compile(r'\{"(?:timestamp|ordinal)":'), {"payload"})
_WORD = re.compile(r"[A-Za-z0-9_-]{1,80}")
_WRAPPED = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
    "<hook_prompt",
)
"""How what the client says in a person's name begins, where its own marks do not tell."""

BEGAN = frozenset({"task_started", "turn_started"})
ENDED = frozenset({"task_complete", "turn_complete", "turn.completed"})
_QUIET = frozenset({"world_state", "session_meta", "session_state"})
_BETWEEN_AGENTS = "inter_agent_communication"


def each(source: Source, tally: Tally, before: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a rollout, or of what follows those `before`, each with its place among
    all (from 1)."""
    return enumerate(objects(source, _SHAPE, tally), before + 1)


def meta(one: Mapping[str, Any]) -> Meta | None:
    """What `one` says of its thread, if it is such a record."""
    payload = mapping(one.get("payload"))
    if one.get("type") != "session_meta":
        if "payload" in one or "type" in one or "instructions" not in one:
            return None
        payload = one  # So the very first versions began a file.
    id = word(payload.get("id"))
    if id is None:
        return None
    source = mapping(payload.get("source"))
    spawned = mapping(mapping(source.get("subagent")).get("thread_spawn"))
    return Meta(
        id,
        word(payload.get("cwd")),
        word(payload.get("cli_version")),
        _base(payload),
        bool(source.get("subagent")) or payload.get("thread_source") == "subagent",
        word(spawned.get("parent_thread_id")) or word(payload.get("session_id")),
    )


def read(one: Mapping[str, Any], place: int, tally: Tally) -> Record | None:
    """What `one`, the object at that place in its file, says of the conversation; None for what
    says nothing of it."""
    kind, payload = one.get("type"), mapping(one.get("payload"))
    if "payload" not in one:
        kind, payload = _bare(one)
    says: Saying | None = None
    own: str | None = None
    match kind:
        case "response_item":
            own = word(payload.get("id"))
            says = _item(payload, mapping(one.get("metadata")), tally)
        case "event_msg":
            own = word(payload.get("turn_id"))
            says = _event(payload)
        case "turn_context":
            own, model = word(payload.get("turn_id")), word(payload.get("model"))
            says = Chose(model) if model is not None else None
        case "token_usage_record":
            own = word(payload.get("response_id"))
            says = Spent(_tokens(mapping(payload.get("usage"))), own)
        case "compacted":
            own = word(payload.get("window_id"))
            says = _compacted(payload, tally)
        case str() if kind in _QUIET:
            pass
        case str() if kind == _BETWEEN_AGENTS:
            tally.ignored["message between agents"] += 1
        case _:
            tally.unknown[kind if isinstance(kind, str) else "without a type"] += 1
            return None
    tally.understood += 1
    if says is None:
        return None
    return Record(_name(own, one.get("ordinal"), place), instant(one.get("timestamp"), 0), says)


def _bare(one: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Kind and payload of a record of the very first versions, which had no envelope."""
    if meta(one) is not None or one.get("record_type") == "state":
        return "session_meta", one
    if "timestamp" not in one and items.is_item(one):
        return "response_item", one
    return one.get("type"), {}


def _item(item: Mapping[str, Any], noted: Mapping[str, Any], tally: Tally) -> Saying | None:
    if not items.shown(item):
        return None
    if not items.is_item(item):
        tally.ignored[f"item {str(item.get('type'))[:40]!r}"] += 1
        return None
    if item.get("type") in items.OUTPUTS:
        return items.outcome(item)
    if item.get("type") == "agent_message":
        return Said(items.content(item.get("content")), False, "user", "agent_message")
    if item.get("type") != items.MESSAGE or item.get("role") == "assistant":
        return Answer(items.answer(item), noted.get("compaction_output") is True)
    return _said(item)


def _said(item: Mapping[str, Any]) -> Said:
    content, role = items.content(item.get("content")), str(item.get("role"))
    noted = mapping(item.get("internal_chat_message_metadata_passthrough"))
    kinds = [kind for kind in sequence(noted.get("content_item_kinds")) if isinstance(kind, str)]
    what = next((kind for kind in kinds if kind != "unknown"), None)
    if role != "user":
        return Said(content, False, role, what or role)
    if what is not None:
        typed = any(kind.startswith("user.") for kind in kinds)
    else:
        typed = not any(_wrapped(block) for block in content)
    return Said(content, typed, role, what or "user")


def _wrapped(block: Block) -> bool:
    return isinstance(block, Text) and block.text.lstrip().startswith(_WRAPPED)


def _event(event: Mapping[str, Any]) -> Saying | None:
    kind, turn = event.get("type"), word(event.get("turn_id"))
    match kind:
        case str() if kind in BEGAN:
            return Began(turn)
        case str() if kind in ENDED:
            failed = mapping(event.get("error"))
            if failed:
                return Ended(turn, "error", (word(failed.get("message")) or "")[:200] or None)
            return Ended(turn, "completed")
        case "turn_aborted":
            return Ended(turn, "aborted", word(event.get("reason")))
        case "thread_rolled_back":
            turns = amount(event.get("num_turns"))
            return RolledBack(turns) if turns is not None else None
        case "token_count":
            info = mapping(event.get("info"))
            last, total = info.get("last_token_usage"), info.get("total_token_usage")
            if not isinstance(last, dict):
                return None
            return Spent(_tokens(mapping(last)), None, compact(total))
        case _:
            return None


def _compacted(payload: Mapping[str, Any], tally: Tally) -> Compacted:
    said = payload.get("message")
    message = said if isinstance(said, str) else ""
    history = payload.get("replacement_history")
    if not isinstance(history, list):
        return Compacted((Text(message),) if message else (), None)
    found = list(_kept(sequence(history), tally))
    for place, one in enumerate(found):
        if _sums_up(one, message):
            return Compacted(_content(one), [*found[:place], *found[place + 1 :]])
    return Compacted((Text(message),) if message else (), found)


def _kept(history: Sequence[Any], tally: Tally) -> Iterator[Said | Answer | Outcome]:
    for one in history:
        says = _item(mapping(one), {}, tally)
        if isinstance(says, Said | Answer | Outcome):
            yield says


def _sums_up(one: Said | Answer | Outcome, message: str) -> bool:
    """Whether this item of a replacement is what stands for the rest."""
    match one:
        case Said(what="compaction.summary"):
            return True
        case Said(content=content):
            return bool(message) and plain(content) == message
        case Answer(content=(Verbatim(json=json),)):
            return '"type":"compaction"' in json or '"type":"context_compaction"' in json
        case _:
            return False


def _content(one: Said | Answer | Outcome) -> Content:
    return one.content


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    return Tokens(
        amount(usage.get("input_tokens")),
        amount(usage.get("output_tokens")),
        amount(usage.get("cached_input_tokens")),
        amount(usage.get("cache_write_input_tokens")),
    )


def _base(payload: Mapping[str, Any]) -> tuple[str, int] | None:
    """Where a fork that holds only its own part goes on from."""
    base = mapping(payload.get("history_base"))
    thread, end = word(base.get("thread_id")), amount(base.get("end_ordinal_exclusive"))
    return (thread, end) if thread is not None and end is not None else None


def _name(own: str | None, ordinal: Any, place: int) -> str:
    if own is not None and _WORD.fullmatch(own):
        return own
    if own is not None:
        return "x" + hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    numbered = amount(ordinal)
    return f"l{place}" if numbered is None else f"o{numbered}"
