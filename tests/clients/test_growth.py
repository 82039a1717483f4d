"""A file that grows changes nothing that was read before."""

from __future__ import annotations

import json

import pytest

from sidechat_mcp.core.events import ToolResult, TurnEnd
from tests.behaviours import behaviour
from tests.clients.houses import FIXTURES
from tests.clients.scribe import Scribe
from tests.clients.telling import of, reasons, short


def grows(scribe: Scribe) -> None:
    """Fails if a part of the file, cut between records, says otherwise than the whole."""
    records, whole = scribe.records, of(scribe).drafts
    for stop in range(1, len(records)):
        scribe.records = records[:stop]
        drafts = of(scribe).drafts
        assert list(whole[: len(drafts)]) == list(drafts), f"after record {stop}"
    scribe.records = records


@behaviour("clients:repaired-calls")
def test_a_result_that_comes_after_its_turn_was_closed_changes_nothing() -> None:
    scribe = Scribe()
    scribe.prompt("Run both.")
    first, second = scribe.calls(("Bash", {"command": "a"}), ("Bash", {"command": "b"}))
    scribe.result(first, "a is done")
    scribe.prompt("Forget it.")
    scribe.says("Forgotten.")
    before = of(scribe)
    tip = scribe.tip
    scribe.result(second, "b is done, late")
    scribe.tip = tip
    scribe.prompt("Anything else?")
    scribe.says("No.")
    after = of(scribe)
    assert list(after.drafts[: len(before.drafts)]) == list(before.drafts)
    assert before.repaired == after.repaired == 1
    assert after.skipped.ignored == {"late or repeated result": 1}


@behaviour("clients:prefix-stable")
def test_a_late_result_in_the_next_turn_changes_no_turn() -> None:
    scribe = Scribe()
    scribe.prompt("Run both.")
    first, second = scribe.calls(("Bash", {"command": "a"}), ("Bash", {"command": "b"}))
    answered = scribe.result(first, "a is done")
    scribe.prompt("Forget it.")
    tip = scribe.tip
    scribe.result(second, "b is done, late")
    scribe.tip = tip
    scribe.says("Forgotten.")
    grows(scribe)
    found = of(scribe)
    assert reasons(found) == ["interrupted", "completed"]
    assert sum(isinstance(one.body, ToolResult) for one in found.drafts) == 2
    ends = [one for one in found.drafts if isinstance(one.body, TurnEnd)]
    assert ends[0].id.startswith(answered), "a turn ends with the last record it holds"


@behaviour("clients:prefix-stable")
def test_context_after_an_answer_that_may_be_over_waits_for_what_follows() -> None:
    scribe = Scribe(version="1.0.98")
    scribe.prompt("one")
    scribe.says("An answer to: one", stop=None)
    scribe.shows("date", "Midnight has passed.")
    scribe.prompt("two")
    scribe.says("I will look.", stop=None)
    scribe.shows("hook_additional_context", "Look well.")
    scribe.says("I have looked.", stop=None)
    assert short(of(scribe))[5:] == [
        "completed)",
        "(turn 2",
        "context: date",
        "user: two",
        "answer: I will look.",
        "usage",
        "context: hook_additional_context",
        "answer: I have looked.",
        "usage",
        "completed)",
    ]
    scribe.records = scribe.records[:4]
    grows(scribe)


@behaviour("clients:prefix-stable")
def test_the_clients_word_that_a_turn_is_over_counts_wherever_it_hangs() -> None:
    scribe = Scribe()
    scribe.prompt("one")
    answer = scribe.answers({"type": "text", "text": "Half"}, stop=None, isAbortedMidStream=True)
    scribe.over()
    scribe.tip = answer[-1]
    scribe.interrupted()
    scribe.prompt("two")
    scribe.says("An answer to: two")
    grows(scribe)
    assert reasons(of(scribe)) == ["aborted", "completed"]


@behaviour("clients:prefix-stable")
@pytest.mark.parametrize("name", ["talk", "compacted", "interrupted"])
def test_the_fixtures_grow_without_a_change(name: str) -> None:
    lines = (FIXTURES / f"{name}.jsonl").read_bytes().splitlines()
    grows(Scribe(records=[json.loads(one) for one in lines]))
