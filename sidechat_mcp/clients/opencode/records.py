"""One stored message of opencode and its parts → what they say. Pure; unknown kinds are counted.

What the model was given is decided as the client decides it (facts: clients A3): a person's text,
files that are no plain text, answers with their calls; steps, snapshots and patches are its own."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.opencode.parts import Call, block, call
from sidechat_mcp.clients.values import amount, compact, mapping, word
from sidechat_mcp.core.content import Block, Content, Text, Verbatim

WIRE = "opencode"
ASKED = "What did we do so far?"
"""What the client tells its model where a compaction was asked for."""
RAN = "The following tool was executed by the user"

_OWN = frozenset({"step-finish", "snapshot", "patch", "agent", "retry"})
_ABORTED = "MessageAbortedError"
_GOES_ON = ("tool-calls", "unknown")
_KINDS = 20


@dataclass(frozen=True, slots=True)
class Row:
    """A message as it is stored: when it was created (milliseconds since 1970), its own JSON text
    and that of each part in order, by id. None stands for a text that is too long to be read."""

    id: str
    at: int
    text: bytes | None
    parts: Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody asked for a compaction; `tail` is the first message that is kept word for word.
    After one that came by itself the client goes on with what it was doing."""

    tail: str | None
    by_itself: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A user's message; `typed` when a person wrote any of it, else the client or a tool did."""

    content: Content
    typed: bool
    compaction: Asked | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model to one request."""

    content: Content
    calls: Sequence[Call]


@dataclass(frozen=True, slots=True)
class Tokens:
    """As reported; None = not reported. `input` is the whole prompt."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an answer broke off. What an interrupted one says is still shown to the model; what one
    with an error says is not."""

    interrupted: bool
    blocked: bool
    why: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """An assistant's message. `parent` is the user's message that it answers; `whole` says that
    the client wrote when it was completed; `summary` marks a compaction's. `of_model` is False for
    a command that the person ran: no model wrote that message."""

    steps: Sequence[Step]
    parent: str | None
    finish: str | None
    failure: Failure | None
    whole: bool
    summary: bool
    model: str | None
    tokens: Tokens | None
    of_model: bool

    @property
    def calls(self) -> bool:
        return any(step.calls for step in self.steps)

    @property
    def over(self) -> bool:
        """Whether the client asks its model no more after this. Old versions wrote no `finish`,
        and every step into one message."""
        if not self.whole or self.failure is not None:
            return False
        return self.finish is None or (self.finish not in _GOES_ON and not self.calls)


@dataclass(frozen=True, slots=True)
class Record:
    id: str
    at: int
    says: Said | Answer
    cwd: str | None = None


def read(row: Row, tally: Tally) -> Record | None:
    """What a message says, or None when it cannot be told (then counted)."""
    tally.lines += 1
    try:
        return _read(row, tally)
    except RecursionError:
        tally.unreadable["message nested too deeply"] += 1
        return None


def _read(row: Row, tally: Tally) -> Record | None:
    found = parsed(row.text, "message", tally)
    if found is None:
        return None
    parts = [
        (id, part) for id, text in row.parts if (part := parsed(text, "part", tally)) is not None
    ]
    match found.get("role"):
        case "user":
            says: Said | Answer = _said(parts, tally)
        case "assistant":
            says = _answer(found, parts, tally)
        case role:
            _count_unknown(f"message of {role!r}"[:60], tally)
            return None
    tally.understood += 1
    return Record(row.id, row.at, says, word(mapping(found.get("path")).get("cwd")))


def parsed(text: bytes | None, what: str, tally: Tally) -> dict[str, Any] | None:
    """The JSON object in `text`, or None (then counted)."""
    if text is None:
        tally.unreadable[f"{what} too long"] += 1
        return None
    try:
        found = json.loads(
            text.decode("utf-8", "replace"), parse_float=_finite, parse_constant=_nothing
        )
    except RecursionError:
        tally.unreadable[f"{what} nested too deeply"] += 1
        return None
    except ValueError:
        tally.unreadable[f"{what} not JSON"] += 1
        return None
    if not isinstance(found, dict):
        tally.unreadable[f"{what} not an object"] += 1
        return None
    return mapping(found)


def _said(parts: Sequence[tuple[str, dict[str, Any]]], tally: Tally) -> Said:
    content: list[Block] = []
    typed = False
    compaction: Asked | None = None
    for _, part in parts:
        match part.get("type"):
            case "text" if part.get("ignored") is True:
                tally.ignored["text that the model is not shown"] += 1
            case "text":
                if (words := word(part.get("text"))) is not None:
                    content.append(Text(words))
                    typed = typed or part.get("synthetic") is not True
            case "file":
                shown = block(part)
                if shown is not None:
                    content.append(shown)
                    typed = typed or part.get("synthetic") is not True
            case "compaction":
                content.append(Text(ASKED))
                compaction = Asked(word(part.get("tail_start_id")), part.get("auto") is True)
            case "subtask":
                content.append(Text(RAN))
            case kind:
                _count_part(kind, tally)
    return Said(tuple(content), typed and compaction is None, compaction)


def _answer(
    found: dict[str, Any], parts: Sequence[tuple[str, dict[str, Any]]], tally: Tally
) -> Answer:
    steps, words = _steps(parts, tally)
    spent = tokens(mapping(found.get("tokens")))
    finish = word(found.get("finish"))
    return Answer(
        steps,
        word(found.get("parentID")),
        finish,
        _failure(mapping(found.get("error"))),
        mapping(found.get("time")).get("completed") is not None,
        found.get("summary") is True,
        _model(found),
        spent,
        words or finish is not None or spent is not None or not steps,
    )


def _steps(
    parts: Sequence[tuple[str, dict[str, Any]]], tally: Tally
) -> tuple[Sequence[Step], bool]:
    """The answers in a message, and whether there is anything in it but calls."""
    steps: list[Step] = []
    content: list[Block] = []
    calls: dict[str, Call] = {}
    words = False

    def cut() -> None:
        nonlocal content, calls
        if content:
            steps.append(Step(tuple(content), tuple(calls.values())))
        content, calls = [], {}

    for id, part in parts:
        match part.get("type"):
            case "step-start":
                cut()
                words = True
            case "tool":
                made = call(id, part)
                if made is None or made.id in calls:
                    tally.unreadable["call without a name, or repeated"] += 1
                else:
                    calls[made.id] = made
                    content.append(made.use)
            case "text" | "reasoning" | "file":
                shown = block(part)
                if shown is not None:
                    content.append(shown)
                    words = True
            case str() as kind if kind not in _OWN:
                _count_part(kind, tally)
                content.append(Verbatim(WIRE, compact(part)))
            case kind:
                _count_part(kind, tally)
    cut()
    return steps, words


def _failure(error: dict[str, Any]) -> Failure | None:
    name = word(error.get("name"))
    if name is None:
        return None
    said = word(mapping(error.get("data")).get("message"))
    why = f"{name}: {said}"[:200] if said is not None else name[:200]
    return Failure(name == _ABORTED, name == "ContentFilterError", why)


def _model(found: dict[str, Any]) -> str | None:
    provider, model = word(found.get("providerID")), word(found.get("modelID"))
    return f"{provider}/{model}" if provider is not None and model is not None else model


def tokens(found: dict[str, Any]) -> Tokens | None:
    """opencode writes 0 for what was not reported, so a lone 0 says nothing."""
    cache = mapping(found.get("cache"))
    fresh, output = amount(found.get("input")), amount(found.get("output"))
    reasoning = amount(found.get("reasoning")) or 0
    read, write = amount(cache.get("read")) or 0, amount(cache.get("write")) or 0
    if not any((fresh, output, reasoning, read, write)):
        return None
    counted = read or write
    return Tokens(
        fresh + read + write if fresh is not None else None,
        output + reasoning if output is not None else None,
        read if counted else None,
        write if counted else None,
    )


def _count_part(kind: Any, tally: Tally) -> None:
    if isinstance(kind, str) and kind in _OWN:
        tally.ignored["the client's own bookkeeping"] += 1
    else:
        _count_unknown(f"part {kind!r}"[:60], tally)


def _count_unknown(name: str, tally: Tally) -> None:
    if name not in tally.unknown and len(tally.unknown) >= _KINDS:
        name = "others"
    tally.unknown[name] += 1


def _finite(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number


def _nothing(_: str) -> None:
    return None
