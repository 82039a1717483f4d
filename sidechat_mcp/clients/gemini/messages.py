"""The lines of a Gemini CLI session → its messages as they stand at the end. Pure.

A message may be written again under its id (the last one counts), a checkpoint replaces the whole
list, a rewind cuts it. A resumed session spells every message anew, with less in it: what a
message had before and has no more there, it keeps. One document is the form of old versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sidechat_mcp.clients import parts
from sidechat_mcp.clients.blocks import Outcome
from sidechat_mcp.clients.dialogue import Tokens
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.values import amount, compact, instant, mapping, sequence, word
from sidechat_mcp.core.content import Block, Content, Thinking, ToolUse

WIRE = "gemini"

_TYPES = {"user": "user", "gemini": "gemini", "model": "gemini"}
_ASIDE = ("info", "error", "warning")
_FAILED = ("error", "cancelled")


@dataclass(frozen=True, slots=True)
class Message:
    """`kind` is `user`, `gemini` or what the client told the person alone. `outcomes` are results
    of calls: of the answer's own, or those in a message to the model."""

    kind: str
    at: int
    content: Content
    outcomes: Sequence[Outcome] = ()
    model: str | None = None
    tokens: Tokens | None = None


@dataclass(slots=True)
class Session:
    """What reading the lines gathers: `messages` as they stand now, `known` as ever seen."""

    tally: Tally
    ref: str | None = None
    kind: str | None = None
    summary: str | None = None
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    known: dict[str, Message] = field(default_factory=dict[str, Message])
    at: int = 0

    def take(self, line: dict[str, Any]) -> None:
        """One object of the file, in its order."""
        update = mapping(line.get("$set"))
        if isinstance(line.get("$rewindTo"), str):
            self._rewind(line["$rewindTo"])
        elif word(line.get("id")) is not None and "type" in line:
            self._message(line, self.messages)
        elif update:
            self._about(update)
        elif word(line.get("sessionId")) is not None and "projectHash" in line:
            self._about(line)
        else:
            self.tally.unknown["line of another form"] += 1

    def replace(self, listed: Iterable[Any]) -> None:
        """A checkpoint: these are all messages from here on."""
        anew: dict[str, Message] = {}
        for one in listed:
            self._message(mapping(one), anew)
        self.messages = anew

    def _about(self, found: dict[str, Any]) -> None:
        self.tally.understood += 1
        self.ref = self.ref or word(found.get("sessionId"))
        self.kind = word(found.get("kind")) or self.kind
        self.summary = word(found.get("summary")) or self.summary
        if isinstance(found.get("messages"), list):
            self.replace(sequence(found["messages"]))

    def _rewind(self, to: str) -> None:
        self.tally.understood += 1
        ids = list(self.messages)
        kept = ids[: ids.index(to)] if to in self.messages else []
        self.messages = {id: self.messages[id] for id in kept}

    def _message(self, found: dict[str, Any], into: dict[str, Message]) -> None:
        id, kind = word(found.get("id")), str(found.get("type"))[:40]
        if id is None or (kind not in _TYPES and kind not in _ASIDE):
            self.tally.unknown[kind] += 1
            return
        self.tally.understood += 1
        self.at = instant(found.get("timestamp"), self.at)
        made = message(found, _TYPES.get(kind, kind), self.at)
        before = self.known.get(id)
        into[id] = self.known[id] = _merged(before, made) if before is not None else made


def message(found: dict[str, Any], kind: str, at: int) -> Message:
    """What a stored message says."""
    given = found.get("content") or found.get("parts") or ""
    calls: list[ToolUse] = []
    outcomes = parts.outcomes(given, WIRE)
    for one in map(mapping, sequence(found.get("toolCalls"))):
        call, name = word(one.get("id")), word(one.get("name"))
        if call is None or name is None:
            continue
        calls.append(ToolUse(call, name, compact(one.get("args", {}))))
        told = parts.outcomes(one.get("result"), WIRE)
        failed = one.get("status") in _FAILED
        outcomes += (replace(each, is_error=each.is_error or failed) for each in told)
    content = (*_thoughts(found), *parts.content(given, WIRE, calls))
    tokens = _tokens(mapping(found.get("tokens")))
    return Message(kind, at, content, outcomes, word(found.get("model")), tokens)


def _merged(before: Message, made: Message) -> Message:
    """A message that was written again: when it was first written, and what it has no more."""
    thought = [block for block in before.content if isinstance(block, Thinking)]
    thinks = any(isinstance(block, Thinking) for block in made.content)
    return replace(
        made,
        at=before.at,
        content=made.content if thinks else (*thought, *made.content),
        outcomes=made.outcomes or before.outcomes,
        model=made.model or before.model,
        tokens=made.tokens or before.tokens,
    )


def _thoughts(found: dict[str, Any]) -> Sequence[Block]:
    thoughts: list[Block] = []
    for one in map(mapping, sequence(found.get("thoughts"))):
        told = [word(one.get(name)) for name in ("subject", "description")]
        words = "\n".join(filter(None, told))
        if words:
            thoughts.append(Thinking(words, WIRE, compact(one)))
    return thoughts


def _tokens(found: dict[str, Any]) -> Tokens | None:
    """The client writes 0 for what was not reported."""
    given, answered = amount(found.get("input")), amount(found.get("output"))
    if not given and not answered:
        return None
    thought = amount(found.get("thoughts")) or 0
    cached = amount(found.get("cached")) or None
    return Tokens(given, answered + thought if answered is not None else None, cached)
