"""The note of a condense turn by the quoting agent."""

from __future__ import annotations

import re

import pytest

from sidechat_mcp.providers.quoting.provider import Quoting
from tests.behaviours import behaviour
from tests.providers.contexts import Talk, ask, condense, talk

GARDEN = (
    "The pond leaks. What liner do we take?",
    "I would take PVC, 0.5 mm.",
    "No PVC, please. The frogs.",
    "Then rubber: EPDM 1.0 mm from Heissner, 8 by 6 metres, 310 euros.",
    "Good, order the rubber. Who digs?",
    "Not decided. Pavel has the excavator until 14 June.",
)


def garden() -> Talk:
    return talk(*GARDEN).fork()


@behaviour("quoting:note-shape")
async def test_a_note_groups_what_was_decided_found_and_left_open_by_turn() -> None:
    note = await condense(Quoting(), garden())
    assert note == (
        "Quotes by [turn]:\n"
        "Decisions:\n"
        "[2] No PVC, please.\n"
        "[2] Then rubber: EPDM 1.0 mm from Heissner, 8 by 6 metres, 310 euros.\n"
        "Facts:\n"
        "[1] The pond leaks.\n"
        "[3] Pavel has the excavator until 14 June.\n"
        "Open:\n"
        "[3] Not decided."
    )


@behaviour("quoting:note-side-first")
async def test_what_was_asked_on_the_side_comes_first_with_what_was_shown() -> None:
    provider, made = Quoting(), garden()
    await ask(provider, made, "What does the rubber cost?")
    await ask(provider, made, "Who sells frogs?")
    await ask(provider, made, "Where is the kangaroo?")
    note = await condense(provider, made)
    lines = note.splitlines()
    assert lines[:2] == ["Quotes by [turn]:", "Asked on the side:"]
    assert lines[2].startswith("What does the rubber cost? – [2] ")
    assert "310 euros" in lines[2]
    assert lines[3:5] == [
        "Who sells frogs? – weak match, see [2]",
        "Where is the kangaroo? – not found",
    ]
    assert "[1] The pond leaks." in note


async def test_many_questions_are_counted_and_the_latest_named() -> None:
    provider, made = Quoting(), garden()
    for n in range(30):
        await ask(provider, made, f"What does the rubber liner number {n} cost us in all?")
    note = await condense(provider, made)
    assert re.search(r"^\[4–\d+\] \d+ questions, \d+ answered$", note, re.M)
    assert "number 29 cost" in note
    assert len(note.split()) <= 120


@behaviour("quoting:note-cap")
@pytest.mark.parametrize("cap", [1, 10, 40, 90, 200, 500, 10_000])
async def test_a_note_keeps_the_cap_whatever_it_is(cap: int) -> None:
    provider, made = Quoting(), garden()
    await ask(provider, made, "What does the rubber cost?")
    note = await condense(provider, made, cap)
    assert 0 < len(note) <= cap
    assert len(note.split()) <= 120


@behaviour("quoting:note-shorter")
async def test_an_order_to_shorten_gets_a_shorter_note_each_time() -> None:
    provider, made = Quoting(), garden()
    await ask(provider, made, "What does the rubber cost?")
    notes = [await condense(provider, made, 300) for _ in range(3)]
    assert len(notes[0]) > len(notes[1]) > len(notes[2]) > 0


@behaviour("quoting:note-honest")
async def test_without_anything_to_quote_a_note_still_says_what_was_asked() -> None:
    provider, made = Quoting(), Talk().fork()
    await ask(provider, made, "Where is the kangaroo?")
    note = await condense(provider, made)
    assert "Where is the kangaroo? – not found" in note
    assert await condense(provider, Talk().fork()) == (
        "Nothing was asked on the side, and nothing found to quote."
    )


async def test_every_piece_of_a_note_was_said_in_the_turn_it_names() -> None:
    made = garden()
    note = await condense(Quoting(), made)
    for turn, piece in re.findall(r"^\[(\d+)\] (.*)$", note, re.M):
        said = [GARDEN[2 * int(turn) - 2], GARDEN[2 * int(turn) - 1]]
        assert any(piece in words for words in said), piece


async def test_an_earlier_note_is_not_noted_again() -> None:
    source = {"kind": "plugin", "plugin": "sidechat", "role": "handback"}
    made = talk(*GARDEN)
    made.add("context", "We decided that the zebra crossing is moved.", turn=None, source=source)
    assert "zebra" not in await condense(Quoting(), made.fork())
