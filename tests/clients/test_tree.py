"""Which records the conversation stands on."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from datetime import timedelta

import pytest

from sidechat_mcp.clients.claude_code.transcript import read
from sidechat_mcp.core.content import Text, ToolUse, plain
from sidechat_mcp.core.events import AssistantMessage, ToolResult, TurnStart, Usage, UserMessage
from sidechat_mcp.errors import ParentNotFound
from sidechat_mcp.ports.client import Transcript
from tests.behaviours import behaviour
from tests.clients.houses import FIXTURES, talk
from tests.clients.scribe import Scribe, line, think


def transcript(*parts: bytes) -> Transcript:
    return read(io.BytesIO(b"".join(parts)), "file")


def said(read: Transcript) -> list[str]:
    """What people said and what was answered, in order."""
    bodies = (draft.body for draft in read.drafts)
    return [plain(one.content) for one in bodies if isinstance(one, UserMessage | AssistantMessage)]


def swapped(scribe: Scribe, seed: int) -> bytes:
    """The file with a few neighbouring lines exchanged, as several writers may leave them."""
    records, dice = list(scribe.records), random.Random(seed)
    for _ in range(4):
        n = dice.randrange(len(records) - 1)
        records[n], records[n + 1] = records[n + 1], records[n]
    return b"".join(line(record) for record in records)


@behaviour("clients:rewind")
def test_what_was_rewound_away_appears_nowhere() -> None:
    scribe = talk("s", "/w", "one", "two", "three", "four", "five")
    ends = [one["uuid"] for one in scribe.records if one.get("subtype") == "turn_duration"]
    scribe.tip = ends[2]
    for words in ("4'", "4''"):
        scribe.prompt(words)
        scribe.says(f"An answer to: {words}")
        scribe.over()
    found = transcript(scribe.text())
    assert said(found)[::2] == ["one", "two", "three", "4'", "4''"]
    assert "four" not in str(found)
    assert "five" not in str(found)
    assert found.skipped.ignored["on another branch"] == 8


@behaviour("clients:missing-parent")
def test_a_link_that_leads_nowhere_ends_the_line_and_is_reported() -> None:
    scribe = talk("s", "/w", *(f"turn {n}" for n in range(10)))
    lost = next(one for one in scribe.records if str(one.get("message", "")).count("turn 6"))
    text = b"".join(line(one) for one in scribe.records if one is not lost)
    found = transcript(text)
    assert said(found)[0] == "An answer to: turn 6"
    assert said(found)[1::2] == ["turn 7", "turn 8", "turn 9"]
    assert found.skipped.unreadable == {"parent record missing": 1}


@behaviour("clients:missing-parent")
def test_islands_are_not_stitched_together() -> None:
    islands = [talk(f"s{n}", "/w", f"island {n}") for n in range(3)]
    found = transcript(*(one.text() for one in islands))
    assert said(found) == ["island 2", "An answer to: island 2"]
    assert found.skipped.ignored["on another branch"] == 8


@behaviour("clients:no-subagents")
def test_what_subagents_say_is_not_in_the_line() -> None:
    found = read((FIXTURES / "old.jsonl").open("rb"), "old")
    assert said(found) == [
        "Why do the displays get 429?",
        "I will ask a helper.",
        "All displays share one address and its 120 requests a minute.",
        "Thanks.",
        "You are welcome.",
    ]
    assert [one.body.content for one in found.drafts if isinstance(one.body, ToolResult)] == [
        (Text("It allows 120 a minute."),)
    ]
    assert found.skipped.ignored["subagent"] == 2


@behaviour("clients:no-subagents")
def test_a_subagents_own_file_is_refused_with_the_way_to_its_parent() -> None:
    scribe = Scribe("f00d-session")
    scribe.user("Read the limiter", isSidechain=True, agentId="a21e2f5")
    scribe.says("Done.", isSidechain=True, agentId="a21e2f5")
    with pytest.raises(ParentNotFound) as refused:
        transcript(scribe.text())
    assert str(refused.value) == (
        "This file is the transcript of a subagent (agent-a21e2f5), which is no conversation of"
        " its own. Fork the conversation that started it: claude-code:f00d-session."
    )


@behaviour("clients:parallel-results")
def test_parallel_calls_and_their_results_all_stay() -> None:
    scribe = Scribe()
    scribe.prompt("Look at three things.")
    calls = scribe.calls(*(("Read", {"file_path": f"/{n}"}) for n in range(3)))
    for n in (2, 0, 1):
        scribe.result(calls[n], f"content {n}")
    scribe.says("Seen all three.")
    found = transcript(scribe.text())
    messages = [one.body for one in found.drafts if isinstance(one.body, AssistantMessage)]
    asked = [block.id for block in messages[0].content if isinstance(block, ToolUse)]
    results = {
        one.body.call: one.body.content for one in found.drafts if isinstance(one.body, ToolResult)
    }
    assert asked == calls
    assert results == {id: (Text(f"content {n}"),) for n, id in enumerate(calls)}
    assert found.repaired == 0


@behaviour("clients:one-message")
def test_records_of_one_message_are_one_answer_and_count_once() -> None:
    scribe = Scribe()
    scribe.prompt("Do it.")
    blocks = [think("How?"), {"type": "text", "text": "First."}]
    tools = [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "Bash", "input": {"command": str(n)}}
        for n in range(3)
    ]
    scribe.answers(*blocks, *tools, {"type": "text", "text": "Last."}, stop="tool_use", output=7)
    scribe.results(*((f"toolu_{n}", "ok") for n in range(3)))
    scribe.says("Done.", output=9)
    copy = scribe.text()
    found = transcript(copy, copy)
    bodies = [one.body for one in found.drafts]
    messages = [one for one in bodies if isinstance(one, AssistantMessage)]
    assert [block.type for block in messages[0].content] == [
        "thinking",
        "text",
        "tool_use",
        "tool_use",
        "tool_use",
        "text",
    ]
    assert [one.output for one in bodies if isinstance(one, Usage)] == [7, 9]
    assert sum(isinstance(one, TurnStart) for one in bodies) == 1
    assert len(messages) == 2


@behaviour("clients:time-orders-nothing")
@pytest.mark.parametrize(
    "stamp",
    [
        "2026-11-03T09:12:04",
        "2026-11-03T18:12:04+09:00",
        "2099-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        1_796_000_000_123,
        1_796_000_000,
        1e300,
        "nonsense",
        "9" * 100,
        None,
        True,
    ],
)
def test_times_of_any_form_change_no_order(stamp: object) -> None:
    scribe = talk("s", "/w", "one", "two", "three")
    scribe.now -= timedelta(days=400)
    scribe.prompt("four, on a host whose clock went back")
    scribe.says("An answer to: four")
    expected = said(transcript(scribe.text()))
    for record in scribe.records[4:9]:
        record["timestamp"] = stamp
    found = transcript(scribe.text())
    assert said(found) == expected
    assert all(isinstance(one.at, int) and one.at >= 0 for one in found.drafts)


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_that_were_written_in_the_wrong_order_are_all_kept(seed: int) -> None:
    scribe = talk("s", "/w", "one", "two", "three", "four")
    assert said(transcript(swapped(scribe, seed))) == said(transcript(scribe.text()))


@pytest.mark.parametrize("links", [(0, 5), (0, 0), (5, 9), (3, 11)])
def test_links_that_go_in_a_circle_end(links: Sequence[int]) -> None:
    scribe = talk("s", "/w", "one", "two", "three")
    below, above = links
    scribe.records[below]["parentUuid"] = scribe.records[above]["uuid"]
    assert transcript(scribe.text()).drafts
