"""The quoting agent's quality, on talks that are graded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sidechat_mcp.providers.quoting.provider import Quoting
from tests.behaviours import behaviour
from tests.providers.grading import TALKS, Marks, grade, grade_note, load

NAMES = sorted(path.stem for path in TALKS.glob("*.json"))


def handed() -> Path:
    """The graded talk that developers have beside the project."""
    top = Path(os.environ.get("SHARED") or Path(__file__).resolve().parents[2].parent / "shared")
    return top / "spikes" / "model" / "talk1.json"


@behaviour("quoting:never-invents", "quoting:answers-are-right")
@pytest.mark.parametrize("name", NAMES)
async def test_what_it_calls_an_answer_is_one(name: str) -> None:
    marks = await grade(Quoting(), load(TALKS / f"{name}.json"))
    assert (marks.wrong, marks.invented) == ([], [])


@behaviour("quoting:coverage")
async def test_it_answers_most_and_shows_the_right_turn_for_nearly_all() -> None:
    marks = [await grade(Quoting(), load(TALKS / f"{name}.json")) for name in NAMES]
    asked = sum(m.asked for m in marks)
    assert sum(m.answered for m in marks) >= 0.78 * asked
    assert sum(m.shown for m in marks) >= 0.95 * asked


@behaviour("quoting:note-holds-the-facts")
@pytest.mark.parametrize(("questions", "share"), [(0, 0.72), (1, 0.7), (4, 0.62)])
async def test_a_note_holds_most_facts_and_nothing_that_was_taken_back(
    questions: int, share: float
) -> None:
    marks = [await grade_note(Quoting(), load(TALKS / f"{name}.json"), questions) for name in NAMES]
    assert [m.stale for m in marks] == [[] for _ in NAMES]
    assert max(m.words for m in marks) <= 120
    assert sum(m.facts for m in marks) >= share * sum(m.of for m in marks)


@pytest.mark.skipif(not handed().exists(), reason="the handed talk is not beside the project")
@behaviour("quoting:handed-talk")
async def test_the_handed_talk_is_passed() -> None:
    graded = load(handed())
    marks = await grade(Quoting(), graded)
    assert marks == Marks(20, marks.answered, [], marks.shown, [])
    assert marks.answered >= 14
    assert marks.shown >= 18
    for questions in (0, 1, 4, 20):
        note = await grade_note(Quoting(), graded, questions)
        assert note.facts >= 7
        assert note.stale == []
        assert note.words <= 120
