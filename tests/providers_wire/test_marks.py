"""Where cache breakpoints stand."""

from __future__ import annotations

import pytest

from sidechat_mcp.providers.wire.marks import LOOKBACK, places
from sidechat_mcp.providers.wire.pieces import Piece
from tests.behaviours import behaviour


def pieces(plan: str) -> list[Piece]:
    """`u` a user's block, `a` an answer's, `t` reasoning of one; what stands before `|` is
    inherited."""
    inherited = plan.index("|") if "|" in plan else 0
    return [
        Piece(
            b"{}",
            "user" if letter == "u" else "assistant",
            place < inherited,
            markable=letter != "t",
        )
        for place, letter in enumerate(plan.replace("|", ""))
    ]


@pytest.mark.parametrize(
    ("plan", "budget", "marked"),
    [
        ("u", 3, (0,)),
        ("uau", 3, (0, 2)),
        ("uta|uu", 3, (0, 2, 4)),  # the parent's last request, the fork, the newest
        ("uta|uuau", 3, (2, 4, 6)),  # the fork, the request before, the newest
        ("utau|uu", 3, (0, 3, 5)),  # a note stands between the answer and the fork
        ("uta|uu", 2, (2, 4)),
        ("uta|uu", 1, (4,)),
        ("uta|uu", 0, ()),
        ("tt", 3, ()),
    ],
)
@behaviour("wire:marks")
def test_the_newest_the_fork_and_the_request_before_are_marked(
    plan: str, budget: int, marked: tuple[int, ...]
) -> None:
    assert places(pieces(plan), budget) == marked


@pytest.mark.parametrize("budget", [1, 2, 3])
@pytest.mark.parametrize("long", [1, 5, 18, 19, 20, 60])
@behaviour("wire:lookback")
def test_the_entry_of_the_request_before_is_always_within_reach(budget: int, long: int) -> None:
    for plan in ("uu" + "a" * long + "|uu", "uu|uu" + "a" * long + "u" * 2):
        found = pieces(plan)
        marked = places(found, budget)
        entry = plan.replace("|", "").index("a") - 1
        assert any(0 <= place - entry < LOOKBACK for place in marked)
        assert len(marked) <= budget
