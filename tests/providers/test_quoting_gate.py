"""When the quoting agent calls a quote an answer, and when only a weak match."""

from __future__ import annotations

import pytest

from sidechat_mcp.providers.quoting.language.forms import near
from sidechat_mcp.providers.quoting.language.words import stem
from sidechat_mcp.providers.quoting.overtaken import measures, overtaken
from sidechat_mcp.providers.quoting.provider import Quoting
from sidechat_mcp.providers.quoting.reply import quotes_of
from tests.behaviours import behaviour
from tests.providers.contexts import ask, condense, talk

BARN = (
    "We convert the old barn near Uppsala into a workshop. Sven Alm drew the plans.",
    "The barn has room for twelve benches. The roof needs new tiles, 64 square metres of them.",
    "Which tiles?",
    "Clay tiles from Vittinge, 19 euros a square metre, because slate would be too heavy.",
    "Clay then. My niece sands the floor. How do we roll back if the permit is refused?",
    "Rollback is simple: the lease ends on 30 June. The colour of the doors isn't decided.",
    "We keep the cart in the yard. The stove comes on 4 May.",
    "Fine. The stove needs a flue, I'd allow 3 weeks of drying time.",
    "Make it 5 weeks of drying time, the walls are thick",
    "Then five weeks of drying time, until 8 June.",
)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("How much do the clay tiles cost?", "19 euros"),
        ("Who sands the floor?", "niece"),
        ("how do we roll back?", "30 June"),
        ("Why did we reject slate tiles?", "too heavy"),
        ("How much do the Vitinge tiles cost?", "19 euros"),
        ("How long is the drying time?", "five weeks"),
    ],
)
@behaviour("quoting:plain-questions")
async def test_a_question_as_people_type_them_is_answered(question: str, shown: str) -> None:
    answer = await ask(Quoting(), talk(*BARN).fork(), question)
    assert answer.verdict == "answered", answer.text
    assert shown in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How old is Sven Alm?",
        "What colour will the doors be?",
        "How much does Sven Alm charge?",
        "Which company delivers the stove?",
        "What is the name of my niece?",
        "How many doors has the barn?",
    ],
)
@behaviour("quoting:near-misses")
async def test_words_of_the_conversation_alone_are_no_answer(question: str) -> None:
    answer = await ask(Quoting(), talk(*BARN).fork(), question)
    assert answer.verdict != "answered", answer.text


async def test_a_short_order_after_the_best_turn_is_shown_with_it() -> None:
    said = ("How large are the batches?", "Batches of fifty crates.", "twenty, the cart is small")
    answer = await ask(Quoting(), talk(*said).fork(), "How large are the batches?")
    assert [q.text for q in quotes_of(answer.text)][-1] == "twenty, the cart is small"


@behaviour("quoting:note-overtaken")
async def test_a_note_does_not_give_a_figure_that_was_changed_later() -> None:
    note = await condense(Quoting(), talk(*BARN).fork())
    assert "3 weeks" not in note
    assert "weeks of drying time" in note


@pytest.mark.parametrize(
    ("earlier", "later", "replaced"),
    [
        ("A cap of 3 percent.", "They accept the cap but at 4 percent.", True),
        ("Batches of 50.", "Batches of 20, oldest first.", True),
        ("Minimum interval: 10 min.", "The minimum interval is one hour.", True),
        ("A cap of 3 percent.", "The threshold is 5 percent.", False),
        ("A cap of 3 percent.", "The cap is 3 percent, as I said.", False),
        ("The coach takes seven hours.", "The coach has 50 seats.", False),
    ],
)
def test_a_later_figure_of_the_same_thing_replaces_an_earlier_one(
    earlier: str, later: str, replaced: bool
) -> None:
    def tells(word: str) -> bool:
        return len(word) > 2 and stem(word) not in ("the", "but", "hour", "percent")

    given = [
        m for n, text in enumerate((earlier, later)) for m in measures(text, n, n, True, tells)
    ]
    assert (0 in overtaken(given)) is replaced


@pytest.mark.parametrize(
    ("one", "other", "slip"),
    [
        ("receive", "recieve", True),
        ("colour", "color", True),
        ("vendor", "sender", False),
        ("stoove", "stove", True),
        ("same", "same", False),
    ],
)
def test_one_slip_of_the_hand_makes_no_other_word(one: str, other: str, slip: bool) -> None:
    assert near(one, other) is slip
