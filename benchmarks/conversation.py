"""The conversation that is forked, stepped and loaded: the same words for us and for our peers.

A turn is 200 bytes of a person and 1 KiB of an answer; every second one also has a call with a
result of 2 KiB. Only the standard library is used: peers import this in environments of theirs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_RANDOM = random.Random(7)
_WORDS = [
    "".join(_RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=_RANDOM.randint(2, 9)))
    for _ in range(2000)
]
_SAMPLES = 97


def _text(size: int) -> str:
    said = ""
    while len(said) < size:
        said += f"{_RANDOM.choice(_WORDS)} "
    return said[:size]


_ASKED = [_text(200) for _ in range(_SAMPLES)]
_ANSWERED = [_text(1024) for _ in range(_SAMPLES)]
_FOUND = [_text(2048) for _ in range(_SAMPLES)]


@dataclass(frozen=True, slots=True)
class Message:
    """`text` of a call is the JSON of its arguments; a call and its result share their `id`."""

    role: Literal["user", "call", "result", "assistant"]
    text: str
    id: str


def turn(number: int) -> Iterator[Message]:
    yield Message("user", _ASKED[number % _SAMPLES], f"u{number}")
    if number % 2:
        asked = json.dumps({"path": f"src/part_{number}.py", "query": "where is it"})
        yield Message("call", asked, f"call_{number}")
        yield Message("result", _FOUND[number % _SAMPLES], f"call_{number}")
    yield Message("assistant", _ANSWERED[number % _SAMPLES], f"a{number}")


def conversation(turns: int) -> list[Message]:
    return [message for number in range(1, turns + 1) for message in turn(number)]
