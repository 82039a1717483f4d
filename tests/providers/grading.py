"""Grades an agent on a talk: keys and facts are regular expressions, see the talks' own notes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidechat_mcp.ports.provider import Provider
from tests.providers.contexts import Talk, ask, condense

TALKS = Path(__file__).parents[1] / "fixtures" / "talks"


@dataclass(frozen=True, slots=True)
class Marks:
    """Of the answerable questions: how many were answered, which of those wrongly, and for how
    many the right turn was shown; the unanswerable ones that were answered all the same."""

    asked: int
    answered: int
    wrong: Sequence[str]
    shown: int
    invented: Sequence[str]


@dataclass(frozen=True, slots=True)
class NoteMarks:
    facts: int
    of: int
    stale: Sequence[str]
    words: int


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def child(graded: dict[str, Any]) -> Talk:
    made = Talk()
    for said in graded["turns"]:
        if said["role"] == "user":
            made.user(said["text"])
        else:
            made.assistant(said["text"])
    return made.fork()


def found(expression: str, text: str) -> bool:
    return re.search(expression, text, re.I) is not None


async def grade(provider: Provider, graded: dict[str, Any]) -> Marks:
    """Every question is asked in a child of its own."""
    answered = shown = 0
    wrong: list[str] = []
    for item in graded["answerable"]:
        answer = await ask(provider, child(graded), item["question"])
        right = all(found(key, answer.text) for key in item["every_one_of"])
        answered += answer.verdict == "answered"
        shown += right and answer.verdict != "not found"
        if answer.verdict == "answered" and not right:
            wrong.append(item["question"])
    invented = [
        question
        for question in graded["unanswerable"]
        if (await ask(provider, child(graded), question)).verdict == "answered"
    ]
    return Marks(len(graded["answerable"]), answered, wrong, shown, invented)


async def grade_note(provider: Provider, graded: dict[str, Any], questions: int) -> NoteMarks:
    """The note after the first so many questions."""
    made = child(graded)
    for item in graded["answerable"][:questions]:
        await ask(provider, made, item["question"])
    note = await condense(provider, made)
    facts = [name for name, key in graded["facts"].items() if found(key, note)]
    stale = re.findall(graded["stale"], note, re.I)
    return NoteMarks(len(facts), len(graded["facts"]), stale, len(note.split()))
