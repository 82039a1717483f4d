"""Text that is handed over as a conversation: what it comes out as, and what is not made up."""

from __future__ import annotations

import pytest

from sidechat_mcp.core.content import plain
from sidechat_mcp.core.events import (
    AssistantMessage,
    ContextMessage,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.core.excerpt import LABEL, LONGEST, Excerpt, is_ref, named, read
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour


def told(found: Excerpt) -> list[str]:
    """What stands in an excerpt, one line an event; the label is left out."""
    lines: list[str] = []
    for draft in found.drafts:
        match draft.body:
            case TurnStart(number=number):
                lines.append(f"turn {number}")
            case TurnEnd(reason=reason):
                lines.append(reason)
            case UserMessage(content=content):
                lines.append(f"user: {plain(content)}")
            case AssistantMessage(content=content, model=None):
                lines.append(f"assistant: {plain(content)}")
            case ContextMessage(content=content, source=source) if plain(content) != LABEL:
                lines.append(f"{source['role']}: {plain(content)}")
            case _:
                pass
    return lines


@behaviour("excerpt:recorded")
def test_marked_messages_are_turns() -> None:
    found = read("User: What now?\nAssistant: This.\n\nAnd that.\nUser: And then?\nAI: Rest.", 5)
    assert told(found) == [
        *("turn 1", "user: What now?", "assistant: This.\n\nAnd that.", "completed"),
        *("turn 2", "user: And then?", "assistant: Rest.", "completed"),
    ]
    assert (found.open_turns, found.open_events) == (0, 0)
    check_turns([draft.body for draft in found.drafts])
    assert {draft.at for draft in found.drafts} == {5}


@behaviour("excerpt:recorded")
def test_it_begins_with_a_label_that_is_no_message_of_anybody() -> None:
    first = read("User: Q\nAssistant: A", 0).drafts[1].body
    assert isinstance(first, ContextMessage)
    assert plain(first.content) == LABEL
    assert first.source == {"kind": "plugin", "plugin": "sidechat", "role": "excerpt"}


@behaviour("excerpt:nothing-invented")
@pytest.mark.parametrize("given", ["We ship on Tuesday.\nKeep the keys.", "User: Only a question?"])
def test_text_without_an_answer_is_one_turn_of_context_and_gets_none(given: str) -> None:
    found = read(f"\n{given}\n", 0)
    assert told(found) == ["turn 1", f"excerpt: {given}", "completed"]
    assert not [draft for draft in found.drafts if isinstance(draft.body, AssistantMessage)]


@behaviour("excerpt:nothing-invented")
def test_a_question_at_the_end_without_an_answer_is_left_open() -> None:
    found = read("User: Q1\nAssistant: A1\nUser: Q2\nHuman: and Q3", 0)
    assert told(found) == ["turn 1", "user: Q1", "assistant: A1", "completed"]
    assert (found.open_turns, found.open_events) == (1, 3)


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        (
            "Notes first.\nUser: Q\nAssistant: A",
            ["excerpt: Notes first.", "user: Q", "assistant: A"],
        ),
        ("**User:** Q\n**Assistant**: A", ["user: Q", "assistant: A"]),
        ("Assistant: A\nAssistant: B", ["assistant: A", "assistant: B"]),
        ("User: a\nUser: b\nAssistant: C", ["user: a", "user: b", "assistant: C"]),
        (
            "User: user: root\n  User: no\nAssistant: A",
            ["user: user: root\n  User: no", "assistant: A"],
        ),
        ("User:\nAssistant: A", ["assistant: A"]),
    ],
)
def test_only_a_word_at_the_beginning_of_a_line_marks_a_message(
    given: str, lines: list[str]
) -> None:
    assert told(read(given, 0)) == ["turn 1", *lines, "completed"]


@behaviour("excerpt:same-text")
def test_the_same_text_has_the_same_name_and_ids_at_any_time() -> None:
    one, other = read("User: Q\nAssistant: A", 1), read("User: Q\nAssistant: A", 2)
    assert (one.ref, [d.id for d in one.drafts]) == (other.ref, [d.id for d in other.drafts])
    assert len({draft.id for draft in one.drafts}) == len(one.drafts)
    assert read("User: Q\nAssistant: B", 1).ref != one.ref
    assert named(one.ref) == f"excerpt:{one.ref[:8]}"
    assert is_ref(one.ref)
    assert is_ref(one.ref[:8])
    assert not is_ref("User: Q")


@pytest.mark.parametrize("given", ["", " \n ", "x" * (LONGEST + 1)])
def test_nothing_and_too_much_are_refused_with_a_next_step(given: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        read(given, 0)
    assert refusal.value.then
