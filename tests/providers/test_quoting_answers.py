"""What the quoting agent answers with, and what it never quotes."""

from __future__ import annotations

import re

import pytest

from sidechat_mcp.core.content import Text, ToolUse
from sidechat_mcp.core.events import Source
from sidechat_mcp.providers.quoting.provider import ABOUT, Quoting
from sidechat_mcp.providers.quoting.reply import quotes_of
from tests.behaviours import behaviour
from tests.providers.contexts import Answer, ask, talk

PAINT = (
    "The north wall gets damp every winter. What paint do we use?",
    "Silicate paint from Brenner, two coats, 38 euros a bucket.",
    "How many buckets?",
    "Four buckets for the north wall, one spare.",
    "No, the spare is too expensive. Only four.",
    "Then four buckets, 152 euros in all.",
)


async def test_an_answer_says_where_each_quote_stands() -> None:
    answer = await ask(Quoting(), talk(*PAINT).fork(), "How many buckets do we need?")
    assert answer == Answer(
        "From turns 1, 2 and 3:\n"
        "Turn 1, assistant: “Silicate paint from Brenner, two coats, 38 euros a bucket.”\n"
        "Turn 2, user: “How many buckets?”\n"
        "Turn 2, assistant: “Four buckets for the north wall, one spare.”\n"
        "Turn 3, assistant (latest): “Then four buckets, 152 euros in all.”",
        "answered",
    )


@behaviour("quoting:three-verdicts")
async def test_every_reply_is_answered_weak_or_not_found_and_says_so() -> None:
    provider, made = Quoting(), talk(*PAINT).fork()
    replies = [
        await ask(provider, made, question)
        for question in (
            "What does a bucket of silicate paint cost?",
            "Which shop sells the paint?",
            "Who owns the kangaroo?",
            "So?",
            "",
        )
    ]
    assert [(r.verdict, r.text.split(":")[0].split(" ")[0]) for r in replies] == [
        ("answered", "From"),
        ("weak", "Weak"),
        ("not found", "Not"),
        ("not found", "Not"),
        ("not found", "Not"),
    ]
    assert "Not in it: shop, sells." in replies[1].text
    assert "kangaroo" in replies[2].text


async def test_without_a_history_there_is_nothing_to_quote() -> None:
    answer = await ask(Quoting(), talk(), "What was decided?")
    assert answer == Answer(
        "Not found: there is no earlier conversation to quote from.", "not found"
    )


@behaviour("quoting:latest-marked")
async def test_a_turn_that_takes_the_best_one_back_is_shown_with_it_as_the_latest() -> None:
    said = (
        "Where do we meet for the walk?",
        "At the walk's usual place, the mill, because the walk starts there.",
        "But it floods. We need another spot.",
        "Then the chapel car park.",
    )
    answer = await ask(Quoting(), talk(*said).fork(), "Where does the walk start?")
    assert [(q.turn, q.latest) for q in quotes_of(answer.text)] == [
        (1, False),
        (1, False),
        (2, True),
        (2, True),
    ]


@behaviour("quoting:never-quotes-itself")
async def test_the_question_the_framing_and_its_own_replies_are_never_quoted() -> None:
    provider, made = Quoting(), talk(*PAINT).fork()
    first = await ask(provider, made, "Which shop sells the damp advisor?")
    again = await ask(provider, made, "Which shop sells the damp advisor?")
    assert first == again
    assert first.verdict == "weak"
    for quote in quotes_of(again.text):
        assert quote.turn is not None
        assert quote.turn <= 3


async def test_replies_that_a_fork_of_a_fork_inherits_are_not_quoted_either() -> None:
    provider, made = Quoting(), talk(*PAINT).fork()
    await ask(provider, made, "How many buckets do we need?")
    await ask(provider, made, "Which shop sells kangaroo food?")
    grandchild = made.fork()
    answer = await ask(provider, grandchild, "How many buckets, and which shop for the kangaroo?")
    assert {quote.turn for quote in quotes_of(answer.text)} <= {1, 2, 3}


async def test_what_the_person_says_on_the_side_can_be_quoted() -> None:
    provider, made = Quoting(), talk(*PAINT).fork()
    await ask(provider, made, "My sister Berta has lent us the long ladder.")
    answer = await ask(provider, made, "Who lent us the ladder?")
    assert answer == Answer(
        "From turn 4:\nTurn 4, user: “My sister Berta has lent us the long ladder.”", "answered"
    )


@behaviour("quoting:follow-up")
async def test_a_follow_up_is_looked_for_with_the_question_before_it() -> None:
    provider, made = Quoting(), talk(*PAINT).fork()
    await ask(provider, made, "What is the matter with the north wall?")
    answer = await ask(provider, made, "And why?")
    assert answer.verdict == "weak"
    assert 1 in {quote.turn for quote in quotes_of(answer.text)}
    alone = await ask(Quoting(), talk(*PAINT).fork(), "And why?")
    assert alone.verdict == "not found"


@behaviour("quoting:verbatim")
async def test_every_quote_is_a_slice_of_what_was_said_and_bounded() -> None:
    said = " ".join(f"Sentence {n} tells of item {n * 7} and its colour." for n in range(400))
    long = f"{said} The crown jewel is a ruby. {said}"
    answer = await ask(Quoting(), talk("Tell me all.", long).fork(), "What is the crown jewel?")
    (quote,) = (q for q in quotes_of(answer.text) if "ruby" in q.text)
    assert quote.text in long
    assert len(quote.text) <= 600
    assert (quote.cut_before, quote.cut_after) == (True, True)
    assert re.fullmatch(r"(Sentence|The) .*\.", quote.text, re.S)
    assert answer.verdict == "answered"


async def test_at_most_three_turns_are_quoted_in_their_order() -> None:
    said = [f"Note {n}: the pump makes noise number {n}." for n in range(1, 21)]
    answer = await ask(Quoting(), talk(*said).fork(), "What about the pump noise?")
    turns = [q.turn for q in quotes_of(answer.text) if q.turn is not None]
    assert turns == sorted(turns)
    assert len(set(turns)) <= 3


@behaviour("quoting:tools-count-less")
async def test_what_only_a_tool_said_is_shown_but_called_weak() -> None:
    made = talk("Look at the boiler.")
    made.assistant((Text("I look."), ToolUse("c1", "probe", '{"target": "boiler valve"}')))
    made.add("tool", "The boiler pressure is 1.4 bar.", call="c1")
    made.assistant("It needs water.").fork()
    answer = await ask(Quoting(), made, "What is the pressure of the boiler?")
    assert answer.verdict == "weak"
    assert "Turn 1, tool result: “The boiler pressure is 1.4 bar.”" in answer.text
    said = talk("Look.", "The boiler pressure is 1.4 bar.").fork()
    assert (await ask(Quoting(), said, "What is the pressure of the boiler?")).verdict == "answered"


@pytest.mark.parametrize(
    ("source", "speaker"),
    [
        ({"kind": "plugin", "plugin": "sidechat", "role": "handback"}, "After turn 1, note"),
        ({"kind": "compaction"}, "After turn 1, summary"),
        ({"kind": "client"}, "After turn 1, context"),
    ],
)
async def test_notes_and_summaries_are_quoted_with_their_place(
    source: Source, speaker: str
) -> None:
    made = talk("Hello there.", "Good morning.")
    made.add("context", "The lighthouse keeper is called Marten.", turn=None, source=source).fork()
    answer = await ask(Quoting(), made, "What is the lighthouse keeper called?")
    assert f"{speaker}: “The lighthouse keeper is called Marten.”" in answer.text


@behaviour("quoting:other-scripts")
@pytest.mark.parametrize(
    ("said", "asked", "shown"),
    [
        ("会議は金曜日の午後三時に始まります。", "会議はいつ始まりますか？", "金曜日"),
        ("การประชุมเริ่มวันศุกร์", "ประชุมวันไหน", "วันศุกร์"),
        ("Der Termin ist am Freitag um drei Uhr.", "Wann ist der Termin?", "Freitag"),
        ("Совещание начинается в пятницу.", "Когда начинается совещание?", "пятницу"),
        ("Le café coûte deux euros.", "Combien coûte le cafe\u0301 ?", "deux euros"),
    ],
)
async def test_other_languages_and_scripts_find_what_was_said(
    said: str, asked: str, shown: str
) -> None:
    answer = await ask(Quoting(), talk("…", said, "。", "x").fork(), asked)
    assert answer.verdict != "not found"
    assert shown in answer.text


async def test_the_fork_report_is_told_that_answers_are_quotes_and_how_to_get_a_model() -> None:
    about = Quoting().about
    assert about == ABOUT
    assert (about.name, about.model, about.head) == ("quoting", None, "substituted")
    assert "quotes" in about.notice
    assert "SIDECHAT_AGENT" in about.notice
    assert "\n" not in about.notice


async def test_whatever_this_agent_left_in_its_own_turns_is_no_source() -> None:
    made = talk(*PAINT).fork()
    made.user("Which kangaroo?").assistant("Half a reply of the kangaroo")
    answer = await ask(Quoting(), made, "Where is the kangaroo?")
    assert answer.verdict == "not found"


async def test_what_a_client_tells_its_model_of_itself_is_no_source() -> None:
    made = talk(*PAINT)
    source = {"kind": "client", "client": "claude-code", "what": "skill_listing", "role": "system"}
    made.add("context", "keybindings-help: rebind the kangaroo chord.", source=source)
    answer = await ask(Quoting(), made.fork(), "Where is the kangaroo chord?")
    assert answer.verdict == "not found"


async def test_calls_of_our_own_tools_and_their_results_are_no_source() -> None:
    made = talk(*PAINT)
    call = ToolUse("c1", "mcp__sidechat__fork", '{"question":"Where is the kangaroo?"}')
    made.user("Ask on the side.").assistant((call,))
    made.add("tool", "From turn 1: the kangaroo is in the garden.", call="c1")
    answer = await ask(Quoting(), made.fork(), "Where is the kangaroo?")
    assert answer.verdict == "not found"
