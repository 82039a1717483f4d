"""Context → what may be quoted, and what was asked. Pure.

Never quoted: framings, condense orders and their notes, this agent's own replies, the question
itself. `Entry.place` is the message's index in the context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import Media, Text, ToolUse, plain
from sidechat_mcp.providers.quoting.language import cues
from sidechat_mcp.providers.quoting.reply import is_reply

_OURS = re.compile(
    r"sidechat.*(fork|converse|merge|sessions|read_session|forget|pending_notes)$"
).search
"""Calls of our own tools: what they said stands in the side sessions themselves."""
BACKSTAGE = frozenset(
    {
        "environment",
        "model",
        "instructions",
        "session_context",
        "date",
        "skill_listing",
        "agent_listing_delta",
        "mcp_instructions_delta",
        "deferred_tools_delta",
        "prompt_snapshot",
        "command_permissions",
        "invoked_skills",
    }
)
"""What a client tells its model of itself: no part of any conversation."""
Speaker = Literal["user", "assistant", "note", "summary", "context", "call", "tool result"]

_MARKUP = re.compile(r"\s*<([a-z][\w-]*)>.*</[a-z][\w-]*>\s*", re.S)
"""What a client wrote in a person's name."""
COUNTS: dict[Speaker, float] = {
    "note": 0.9,
    "summary": 0.9,
    "context": 0.7,
    "call": 0.7,
    "tool result": 0.75,
}
"""How much a match counts by who said it, where that is not 1: tools echo much that nobody chose
to say."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One quotable message. `turn` is its own turn's number; for a message of an unnumbered
    turn, `after` is the number of the last turn before it."""

    place: int
    turn: int | None
    after: int
    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Order:
    """A request to write a note of at most `cap` characters. `again` counts earlier attempts in
    the same turn, `last` is the length of the latest of them."""

    cap: int
    again: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One of the side session's own questions, and the reply it got ("" while there is none)."""

    turn: int | None
    question: str
    reply: str


def role_of(message: Message) -> str | None:
    """The role our own plugin gave a context message, or None."""
    source = message.source
    if message.role != "context" or source is None or source.get("plugin") != "sidechat":
        return None
    role = source.get("role")
    return role if isinstance(role, str) else None


def entries(messages: Sequence[Message], start: int, stop: int, inherited: int) -> list[Entry]:
    """What may be quoted of `messages[start:stop]`. Whether a person's question was answered is
    looked up beyond `stop`, so cut only right before a user message."""
    found: list[Entry] = []
    ours = {use.id for message in messages[:stop] for use in _uses(message) if _OURS(use.name)}
    after = next((m.turn for m in reversed(messages[:start]) if m.turn is not None), 0)
    for place in range(start, stop):
        message = messages[place]
        if message.turn is not None:
            after = message.turn
        own = 0 < inherited <= place
        if message.call is not None and message.call in ours:
            continue
        for speaker, text in _said(message, own):
            if not text or text.isspace():
                continue
            alone = speaker == "user" and (own or not _met(messages, place))
            if alone and cues.requests(text):
                continue
            found.append(Entry(place, message.turn, after, speaker, text))
    return found


def _met(messages: Sequence[Message], place: int) -> bool:
    """Whether somebody else than this agent answered the message. A question that nobody answered
    says nothing that could be quoted as an answer."""
    for message in messages[place + 1 :]:
        if message.role == "user":
            return False
        if message.role == "assistant":
            return message.turn is not None and not is_reply(_readable(message))
    return False


def _said(message: Message, own: bool) -> list[tuple[Speaker, str]]:
    match message.role:
        case "user":
            said = _readable(message)
            return [("context" if _MARKUP.fullmatch(said) else "user", said)]
        case "tool":
            return [("tool result", _readable(message))]
        case "context":
            role = role_of(message)
            if role in ("framing", "condense"):
                return []
            if role == "handback":
                return [("note", _readable(message))]
            if message.source is not None and message.source.get("what") in BACKSTAGE:
                return []
            compacted = message.source is not None and message.source.get("kind") == "compaction"
            return [("summary" if compacted else "context", _readable(message))]
        case "assistant":
            # Without a number it is a condense turn's note; an own one is our own reply.
            if message.turn is None or own:
                return []
            said = _readable(message)
            calls: list[tuple[Speaker, str]] = [
                ("call", f"{block.name} {block.input}")
                for block in _uses(message)
                if not _OURS(block.name)
            ]
            return calls if is_reply(said) else [("assistant", said), *calls]


def _uses(message: Message) -> list[ToolUse]:
    return [block for block in message.content if isinstance(block, ToolUse)]


def _readable(message: Message) -> str:
    names = [b.name for b in message.content if isinstance(b, Media) and b.name]
    if not names:
        only = message.content[0] if len(message.content) == 1 else None
        return only.text if isinstance(only, Text) else plain(message.content)
    return "\n\n".join([plain(message.content), *names]).strip()


def order(context: Context) -> Order | None:
    """The condense order that the context ends with, or None when it ends with a question."""
    orders = 0
    last = 0
    cap: int | None = None
    for message in reversed(context.messages):
        if role_of(message) == "condense":
            orders += 1
            if cap is None:
                given = message.source.get("cap") if message.source else None
                cap = given if isinstance(given, int) and given > 0 else 2000
        elif message.role == "assistant" and message.turn is None and orders:
            last = last or len(plain(message.content))
        elif message.role == "user" or (message.role == "assistant" and not orders):
            break
    return None if cap is None else Order(cap, orders - 1, last)


def question(context: Context) -> tuple[int, str]:
    """The place of the question and its words: what the person said in the turn that is to be
    answered. The place is where the searchable history ends; without a question it is the whole
    length."""
    place = len(context.messages)
    said: list[str] = []
    for at in range(place - 1, context.inherited - 1, -1):
        message = context.messages[at]
        if message.role != "user":
            if message.role in ("assistant", "tool"):
                break
        elif said and message.turn != context.messages[place].turn:
            break
        else:
            place = at
            said.append(_readable(message))
    return place, "\n".join(reversed(said)).strip()


def exchanges(context: Context) -> list[Exchange]:
    """The side session's own questions and replies, oldest first. Without a fork, those that this
    agent replied to."""
    found: list[Exchange] = []
    for message in context.messages[context.inherited :]:
        if message.turn is None:
            continue
        if message.role == "user":
            found.append(Exchange(message.turn, _readable(message), ""))
        elif message.role == "assistant" and found:
            last = found[-1]
            reply = f"{last.reply}\n{plain(message.content)}".strip()
            found[-1] = Exchange(last.turn, last.question, reply)
    return [e for e in found if context.inherited or is_reply(e.reply)]
