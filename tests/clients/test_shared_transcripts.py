"""The real files against what was written down by hand before there was a reader."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.claude_code.client import ClaudeCode
from sidechat_mcp.clients.claude_code.transcript import read
from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    ContextCompacted,
    ContextMessage,
    Draft,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour

ORACLE: dict[str, Any] = json.loads(
    (Path(__file__).parent / "oracle_claude.json").read_text("utf-8")
)
NAMES = [name for name in ORACLE if name != "about"]


def shared() -> Path:
    """The folder of real files: beside the project, or where SIDECHAT_SHARED says."""
    named = os.environ.get("SIDECHAT_SHARED")
    top = Path(named) if named else Path(__file__).resolve().parents[2].parent / "shared"
    found = top / "transcripts" / "claude"
    if not found.is_dir():
        pytest.skip("the real transcripts are not beside the project (or set SIDECHAT_SHARED)")
    return found


@behaviour("clients:oracle", "clients:never-written")
@pytest.mark.parametrize("name", NAMES)
async def test_a_real_file_holds_what_was_written_down(name: str) -> None:
    path, expected = shared() / name, ORACLE[name]
    before = _state(path)
    client = ClaudeCode({})
    if "turns" not in expected:
        with pytest.raises(InvalidRequest) as refused:
            await client.read_file(path)
        assert [type(refused.value).__name__, str(refused.value)] == expected["refused"]
    else:
        found = await client.read_file(path)
        assert _seen(found) == {key: expected[key] for key in _seen(found)}
        check_turns([draft.body for draft in found.drafts])
        assert _lines(path, found, expected) == {
            "turns": [[first, last] for first, last, _ in expected["turns"]],
            "context": expected["context"] if found.drafts else [],
            "cut": expected["cut_line"],
            "compactions": [one[:2] for one in expected["compactions"]],
        }
        assert await client.read_file(path) == found
    assert _state(path) == before


@behaviour("clients:prefix-stable")
@pytest.mark.parametrize("name", ["v2.1.332_full_tui.jsonl", "v2.1.37_compact_progress.jsonl"])
def test_a_real_file_that_grows_only_adds_drafts(name: str) -> None:
    lines = (shared() / name).read_bytes().splitlines(keepends=True)
    whole = _read(lines).drafts
    for stop in range(1, len(lines)):
        drafts = _read(lines[:stop]).drafts
        assert list(whole[: len(drafts)]) == list(drafts), stop


def _read(lines: list[bytes]) -> Transcript:
    return read(io.BytesIO(b"".join(lines)), "file")


def _seen(found: Transcript) -> dict[str, Any]:
    bodies = [draft.body for draft in found.drafts]
    answers = [one for one in bodies if isinstance(one, AssistantMessage)]
    calls = [one for answer in answers for one in answer.content if isinstance(one, ToolUse)]
    begun = [n for n, one in enumerate(bodies) if isinstance(one, ContextCompacted)]
    starts = [one for one in bodies[begun[-1] if begun else 0 :] if isinstance(one, TurnStart)]
    carried = _carried(found)
    return {
        "version": found.version,
        "context_turns": sum(one.number is not None for one in starts),
        "calls": len(calls),
        "results": sum(isinstance(one, ToolResult) for one in bodies),
        "messages": len(answers) - len(carried),
        "open_turns": found.open_turns,
        "open_calls": found.open_calls,
        "open_events": found.open_events,
        "repaired": found.repaired,
        "missing_parents": found.skipped.unreadable.get("parent record missing", 0),
    }


def _carried(found: Transcript) -> list[Draft]:
    """Answers that a compaction carried over word for word."""
    starts = {one.body.turn: one.body for one in found.drafts if isinstance(one.body, TurnStart)}
    return [
        one
        for one in found.drafts
        if isinstance(one.body, AssistantMessage) and starts[one.body.turn].of == "injection"
    ]


def _lines(path: Path, found: Transcript, expected: dict[str, Any]) -> dict[str, Any]:
    """On which lines of the file the drafts stand."""
    places: dict[str, int] = {}
    for number, text in enumerate(path.read_bytes().split(b"\n"), 1):
        if text.startswith(b"{"):
            record: dict[str, str] = json.loads(text)
            places.setdefault(record.get("uuid", ""), number)

    def line(draft: Draft) -> int:
        return places[draft.id.partition(":")[0]]

    numbered = {
        one.body.turn
        for one in found.drafts
        if isinstance(one.body, TurnStart) and one.body.of == "turn"
    }
    starts = [one for one in found.drafts if isinstance(one.body, TurnStart)]
    ends = [one for one in found.drafts if isinstance(one.body, TurnEnd)]
    last = max(map(line, found.drafts), default=None)
    first = [line(one) for one in starts if getattr(one.body, "turn", None) in numbered]
    stop = [line(one) for one in ends if getattr(one.body, "turn", None) in numbered]
    shown = [line(one) for one in found.drafts if isinstance(one.body, ContextMessage)]
    begun = [line(one) for one in found.drafts if isinstance(one.body, ContextCompacted)]
    turns = [[one, other] for one, other in zip(first, stop, strict=True)]
    opened = [line(one) for one in starts if getattr(one.body, "turn", None) not in numbered]
    return {
        "turns": turns,
        "context": sorted(shown),
        "cut": last,
        "compactions": [[one, other] for one, other in zip(opened, begun, strict=True)],
    }


def _state(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
