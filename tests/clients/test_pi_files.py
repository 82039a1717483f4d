"""pi's real files against what was written down by hand before there was a reader."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.pi.client import Pi
from sidechat_mcp.clients.pi.transcript import read
from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    ContextCompacted,
    ContextMessage,
    Draft,
    RequestHeader,
    ToolResult,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour

ORACLE: dict[str, Any] = json.loads((Path(__file__).parent / "oracle_pi.json").read_text("utf-8"))
NAMES = [name for name in ORACLE if name != "about"]
LOST = "aborted or failed answer, which pi shows no more"


def shared() -> Path:
    """The folder of real files: beside the project, or where SIDECHAT_SHARED says."""
    named = os.environ.get("SIDECHAT_SHARED")
    top = Path(named) if named else Path(__file__).resolve().parents[2].parent / "shared"
    found = top / "transcripts" / "pi"
    if not found.is_dir():
        pytest.skip("the real transcripts are not beside the project (or set SIDECHAT_SHARED)")
    return found


@behaviour("pi:oracle", "pi:never-written", "clients:never-written")
@pytest.mark.parametrize("name", NAMES)
async def test_a_real_file_holds_what_was_written_down(name: str) -> None:
    path, expected = shared() / name, ORACLE[name]
    before = _state(path)
    found = await Pi({}).read_file(path)
    assert _seen(found) == {key: expected[key] for key in _seen(found)}
    check_turns([draft.body for draft in found.drafts])
    assert _lines(path, found, expected) == {
        "turns": expected["turns"],
        "context": expected["context"],
        "headers": expected["headers"],
        "cut_line": expected["cut_line"],
    }
    assert found.skipped.unreadable == {}
    assert _state(path) == before


@behaviour("pi:prefix-stable")
@pytest.mark.parametrize(("name", "step"), [("v1.6.0_fork.jsonl", 1), ("large-session.jsonl", 83)])
def test_a_real_file_that_grows_only_adds_drafts(name: str, step: int) -> None:
    lines = (shared() / name).read_bytes().splitlines(keepends=True)
    whole = _read(lines).drafts
    for stop in range(1, len(lines), step):
        drafts = _read(lines[:stop]).drafts
        assert list(whole[: len(drafts)]) == list(drafts), stop


def _read(lines: list[bytes]) -> Transcript:
    return read(io.BytesIO(b"".join(lines)), "file")


def _seen(found: Transcript) -> dict[str, Any]:
    bodies = [draft.body for draft in found.drafts]
    answers = [one for one in bodies if isinstance(one, AssistantMessage)]
    calls = [one for answer in answers for one in answer.content if isinstance(one, ToolUse)]
    return {
        "ref": found.ref,
        "folder": (found.cwd or "").rpartition("/")[2],
        "version": found.version,
        "model": answers[-1].model,
        "context_turns": sum(isinstance(one, TurnStart) for one in bodies),
        "user": sum(isinstance(one, UserMessage) for one in bodies),
        "calls": len(calls),
        "results": sum(isinstance(one, ToolResult) for one in bodies),
        "messages": len(answers),
        "dropped": found.skipped.ignored.get(LOST, 0),
        "usage": sum(isinstance(one, Usage) for one in bodies),
        "compactions": [one for one in bodies if isinstance(one, ContextCompacted)],
        "open_turns": found.open_turns,
        "open_events": found.open_events,
        "open_calls": found.open_calls,
        "repaired": found.repaired,
    }


def _lines(path: Path, found: Transcript, expected: dict[str, Any]) -> dict[str, Any]:
    """On which lines of the file the drafts stand."""
    places: dict[str, int] = {}
    for number, text in enumerate(path.read_bytes().split(b"\n"), 1):
        if text:
            places[json.loads(text).get("id", f"line-{number}")] = number

    def line(draft: Draft) -> int:
        return places[draft.id.partition(":")[0]]

    turns: list[list[Any]] = []
    for draft in found.drafts:
        if isinstance(draft.body, TurnStart):
            turns.append([line(draft)])
        elif isinstance(draft.body, TurnEnd):
            turns[-1] += [line(draft), draft.body.reason]
    return {
        "turns": turns,
        "context": [line(one) for one in found.drafts if isinstance(one.body, ContextMessage)],
        "headers": [
            [line(one), *_head(header, wanted)]
            for (one, header), wanted in zip(
                ((one, one.body) for one in found.drafts if isinstance(one.body, RequestHeader)),
                expected["headers"],
                strict=True,
            )
        ],
        "cut_line": max(map(line, found.drafts)),
    }


def _head(header: RequestHeader, wanted: list[Any]) -> list[Any]:
    """The sections of a system prompt that stand in it in order, and the names of the tools."""
    if header.system.text is None or header.tools.text is None:
        return [None, None]
    sections: list[str] = wanted[1]
    tags = [header.system.text.find(f"<{name}>") for name in sections if name != "preamble"]
    assert tags == sorted(tags)
    assert -1 not in tags
    return [sections, [tool["name"] for tool in json.loads(header.tools.text)]]


def _state(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
