"""A conversation that somebody hands over as text → closed turns as drafts. Nothing is invented:
what no marker gives to a person or a model is context, and a question without an answer is open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sidechat_mcp.core import codec, digest
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextMessage,
    Draft,
    Source,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, TurnId
from sidechat_mcp.errors import InvalidRequest

CLIENT = "excerpt"
"""What stands for a client in an excerpt's name, `excerpt:` and the first digits of its digest."""
LONGEST = 200_000
"""Code points of the longest excerpt."""
SHORT = 8
LABEL = (
    "[Excerpt] What follows was handed over as an excerpt of a conversation. It may be incomplete,"
    " shortened or in other words than the conversation itself."
)
SOURCE: Source = {"kind": "plugin", "plugin": "sidechat", "role": "excerpt"}

Role = Literal["user", "assistant", "context"]

_MARKER = re.compile(r"^(?:\*\*)?(User|Human|Assistant|AI)(?::\*\*|\*\*:|:)[ \t]*", re.M)
_ROLES: dict[str, Role] = {
    "User": "user",
    "Human": "user",
    "Assistant": "assistant",
    "AI": "assistant",
}
_REF = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`ref` is the text's digest. `open_turns` and `open_events` count a question at the end that
    has no answer."""

    ref: str
    drafts: Sequence[Draft]
    open_turns: int
    open_events: int


def is_ref(given: str) -> bool:
    """Whether `given` may be the name of an excerpt, not the text of one."""
    return _REF.fullmatch(given) is not None


def named(ref: str) -> str:
    """How people name an excerpt."""
    return f"{CLIENT}:{ref[:SHORT]}"


def read(given: str, at: int) -> Excerpt:
    """The turns in a text, handed over at `at`. A turn goes from a person's messages to the
    answers behind them. A text without an answer is one turn that holds it as context.

    Raises: InvalidRequest (it is empty, or too long)."""
    if not given.strip():
        raise InvalidRequest(
            "The excerpt is empty.",
            then="Give its text behind `excerpt:`, messages marked `User:` and `Assistant:`.",
        )
    if len(given) > LONGEST:
        raise InvalidRequest(
            f"The excerpt has {len(given)} characters; at most {LONGEST} are taken.",
            then="Give a shorter one.",
        )
    ref = digest.of_text(given)
    turns = _turns(_messages(given))
    if not any(role == "assistant" for turn in turns for role, _ in turn):
        turns = _whole(given.strip())
    left = [] if any(role != "user" for role, _ in turns[-1]) else turns.pop()
    bodies = (body for number, turn in enumerate(turns, 1) for body in _bodies(number, turn))
    drafts = [_draft(ref, place, at, body) for place, body in enumerate(bodies)]
    return Excerpt(ref, drafts, int(bool(left)), len(left) + 1 if left else 0)


def _messages(given: str) -> Iterator[tuple[Role, str]]:
    """Who said what; what stands before the first marker is nobody's."""
    role: Role = "context"
    begun = 0
    for mark in _MARKER.finditer(given):
        if words := given[begun : mark.start()].strip():
            yield role, words
        role, begun = _ROLES[mark[1]], mark.end()
    if words := given[begun:].strip():
        yield role, words


def _turns(messages: Iterator[tuple[Role, str]]) -> list[list[tuple[Role, str]]]:
    turns: list[list[tuple[Role, str]]] = []
    for role, words in messages:
        answered = turns and any(said == "assistant" for said, _ in turns[-1])
        if not turns or (role == "user" and answered):
            turns.append([])
        turns[-1].append((role, words))
    return turns


def _whole(given: str) -> list[list[tuple[Role, str]]]:
    return [[("context", given)]]


def _bodies(number: int, turn: Sequence[tuple[Role, str]]) -> Iterator[Body]:
    id = TurnId(f"excerpt-{number}")
    yield TurnStart(id, number=number)
    if number == 1:
        yield ContextMessage(id, text(LABEL), SOURCE)
    for role, words in turn:
        match role:
            case "user":
                yield UserMessage(id, text(words))
            case "assistant":
                yield AssistantMessage(id, text(words))
            case "context":
                yield ContextMessage(id, text(words), SOURCE)
    yield TurnEnd(id, "completed")


def _draft(ref: str, place: int, at: int, body: Body) -> Draft:
    said = digest.of_text(codec.dump(body).decode())[:SHORT]
    return Draft(EventId(f"{ref[:SHORT]}-{place}:{said}"), at, body)
