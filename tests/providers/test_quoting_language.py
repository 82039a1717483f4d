"""Words, sentences and questions, as the quoting agent takes them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.providers.quoting.kinds import Want
from sidechat_mcp.providers.quoting.language.cues import agrees, corrects, leaves_open, requests
from sidechat_mcp.providers.quoting.language.sentences import passages, split
from sidechat_mcp.providers.quoting.language.words import searchable, stem, stems, words
from sidechat_mcp.providers.quoting.questions import read
from tests.behaviours import behaviour

anything = st.text(alphabet=st.characters(), max_size=400)


@behaviour("quoting:takes-any-text")
@given(anything)
def test_any_text_has_words_that_the_index_can_take(text: str) -> None:
    searchable(text).encode("utf-8")
    assert "\0" not in searchable(text)
    for word in words(text):
        assert word.isalnum()
        stem(word)


@given(anything)
def test_sentences_hold_all_of_a_text_but_the_space_between_them(text: str) -> None:
    spans = split(text)
    assert all(a.stop <= b.start for a, b in pairwise(spans))
    assert "".join("".join(text[s.start : s.stop].split()) for s in spans) == "".join(text.split())


@given(st.text(alphabet="ab .\n", max_size=3000), st.integers(50, 900))
def test_passages_keep_their_size_and_hold_all_of_a_text(text: str, size: int) -> None:
    spans = passages(text, max(size, 420))
    assert all(s.stop - s.start <= max(size, 420) for s in spans)
    assert "".join("".join(text[s.start : s.stop].split()) for s in spans) == "".join(text.split())


def test_sentences_end_where_a_reader_would_say() -> None:
    text = "See e.g. Dr. Roe, version 1.2. Then ask? No!\n3. Third item\n「はい。」次。"
    assert [text[s.start : s.stop] for s in split(text)] == [
        "See e.g. Dr. Roe, version 1.2.",
        "Then ask?",
        "No!",
        "3. Third item",
        "「はい。」",
        "次。",
    ]


def test_names_are_found_by_their_parts_and_endings_do_not_matter() -> None:
    assert stems("charge_keys in GatewayClient.post") == [
        *map(stem, ("charge", "keys", "in", "GatewayClient", "post")),
        *map(stem, ("Gateway", "Client")),
    ]
    assert len({stem(w) for w in ("retry", "retries", "Retrying", "retried")}) == 1
    assert words("東京タワー") == ["東京", "京タ", "タワ", "ワー"]


@pytest.mark.parametrize(
    ("question", "want", "focus"),
    [
        ("How many tall ships came?", "count", {"tall"}),
        ("How long does the rebuild take?", "duration", set[str]()),
        ("What does the coach cost?", "money", {"coach"}),
        ("Who approved the budget?", "person", {"approv"}),
        ("When do we go live?", "time", set[str]()),
        ("What is the migration called?", "code", {"migrat"}),
        ("What is Ingrid's phone number?", "code", {"phone"}),
        ("Which vendor makes it?", "name", {"vendor"}),
        ("Why did it fail?", "why", set[str]()),
        ("Is anything left to do?", "open", set[str]()),
        ("The person who left, what did she want?", "any", set[str]()),
    ],
)
def test_a_question_says_what_kind_of_answer_would_do(
    question: str, want: Want, focus: set[str]
) -> None:
    taken = read(question)
    assert (taken.want, set(taken.focus)) == (want, focus)


def test_names_and_numbers_of_a_question_are_known_by_their_form() -> None:
    assert read("Does EU region 4 run Redis?").names == {stem("EU"), "4", stem("Redis")}


def test_of_a_long_message_only_what_asks_is_searched() -> None:
    log = "ERROR worker crashed in pool seven\n" * 200
    assert list(read(f"{log}Which valve leaks?\n{log}").words.values()) == ["valve", "leaks"]


def test_turns_of_phrase_are_recognised() -> None:
    for said in ("No, that is wrong.", "Make it 13 months.", "The share is retired. Use another."):
        assert corrects(said), said
    for said in ("Good. And the tests?", "How long does it take?", "Passing now, all green."):
        assert not corrects(said), said
    assert agrees("OK, do that.")
    assert leaves_open("That is open.")
    assert requests("Tell me the price. And why?")
    assert not requests("The price is 4 euros. And the size?")
