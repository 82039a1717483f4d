"""How far a session went on since a place in it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from sidechat_mcp.core.advance import MOST_FILES, Advance, advance
from sidechat_mcp.core.content import Text, ToolUse, text
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextMessage,
    Event,
    TurnEnd,
    TurnKind,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, SessionId, TurnId


def log(*turns: Sequence[Body]) -> list[Event]:
    bodies = [body for turn in turns for body in turn]
    return [Event(SessionId("s"), n, EventId(f"{n}"), 0, body) for n, body in enumerate(bodies)]


def turn(name: str, *calls: tuple[str, object], of: TurnKind = "turn") -> list[Body]:
    """Four events; the third is the answer with its calls."""
    id = TurnId(name)
    uses = [ToolUse(f"{name}{n}", tool, json.dumps(given)) for n, (tool, given) in enumerate(calls)]
    said = UserMessage(id, text("Go.")) if of == "turn" else ContextMessage(id, text("Go."), {})
    answered = AssistantMessage(id, (Text("Yes."), *uses))
    return [TurnStart(id, of, number=1), said, answered, TurnEnd(id, "completed")]


def test_only_what_follows_the_place_counts() -> None:
    events = log(turn("a", ("Edit", {"file_path": "old.py"})), turn("b"), turn("c"))
    assert advance(events, 0) == Advance(3, ("old.py",))
    assert advance(events, 4) == Advance(2, ())
    assert advance(events, 1) == Advance(2, ()), "a turn that began before is not told of"
    assert advance(events, 12) == Advance(0, ())


@pytest.mark.parametrize(
    ("tools", "turns"),
    [
        (["mcp__sidechat__converse"], 0),
        (["sidechat_fork", "mcp__sidechat__merge"], 0),
        (["mcp__sidechat__converse", "Read"], 1),
        (["converse"], 1),
        ([], 1),
    ],
)
def test_a_turn_that_only_calls_us_is_no_progress(tools: list[str], turns: int) -> None:
    nothing: dict[str, object] = {}
    assert advance(log(turn("a", *((tool, nothing) for tool in tools))), 0).turns == turns


@pytest.mark.parametrize("of", ["injection", "condense"])
def test_turns_without_a_number_are_no_progress(of: TurnKind) -> None:
    assert advance(log(turn("a", ("Edit", {"path": "x"}), of=of)), 0) == Advance(0, ())


def test_files_are_those_that_changing_tools_were_called_with_each_once_in_order() -> None:
    calls = [
        ("Read", {"file_path": "read.py"}),
        ("Write", {"file_path": "b.py"}),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}),
        ("apply_patch", {"path": "a.py"}),
        ("str_replace", {"filename": "b.py"}),
        ("Write", {"file_path": 7}),
        ("Write", ["x.py"]),
    ]
    events = log(turn("a", *calls), turn("b", ("Edit", {"file_path": "a.py"})))
    assert advance(events, 0) == Advance(2, ("b.py", "n.ipynb", "a.py"))
    broken = AssistantMessage(TurnId("a"), (ToolUse("c", "Write", "{"),))
    assert advance(log([TurnStart(TurnId("a"), number=1), broken]), 0) == Advance(1, ())


def test_only_the_first_files_are_named() -> None:
    calls = [("Edit", {"file_path": f"{n:03}.py"}) for n in range(MOST_FILES + 5)]
    assert advance(log(turn("a", *calls)), 0).files == tuple(
        f"{n:03}.py" for n in range(MOST_FILES)
    )
