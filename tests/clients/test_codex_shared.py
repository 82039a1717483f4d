"""Codex's real files against what was written down by hand before there was a reader."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.codex.client import Codex
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
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour

ORACLE: dict[str, Any] = json.loads(
    (Path(__file__).parent / "oracle_codex.json").read_text("utf-8")
)
NAMES = [name for name in ORACLE if name != "about"]


def shared() -> Path:
    """The folder of real files: beside the project, or where SIDECHAT_SHARED says."""
    named = os.environ.get("SIDECHAT_SHARED")
    top = Path(named) if named else Path(__file__).resolve().parents[2].parent / "shared"
    found = top / "transcripts" / "codex"
    if not found.is_dir():
        pytest.skip("the real transcripts are not beside the project (or set SIDECHAT_SHARED)")
    return found


async def refusal(path: Path) -> list[str]:
    with pytest.raises(SidechatError) as refused:
        await Codex({"HOME": "/nowhere"}).read_file(path)
    return [type(refused.value).__name__, str(refused.value)]


@behaviour("codex:oracle", "codex:never-written", "codex:fork-delta", "codex:unknown-format")
@pytest.mark.parametrize("name", NAMES)
async def test_a_real_file_holds_what_was_written_down(name: str) -> None:
    path, expected = shared() / name, ORACLE[name]
    before = _state(path)
    client = Codex({"HOME": "/nowhere"})
    if "turns" not in expected:
        assert await refusal(path) == expected["refused"]
    else:
        found = await client.read_file(path)
        assert _seen(found) == {key: expected[key] for key in _seen(found)}
        check_turns([draft.body for draft in found.drafts])
        assert _lines(path, found) == {
            key: expected[key]
            for key in ("turns", "user", "context", "injections", "compactions", "cut_line")
        }
        assert await client.read_file(path) == found
    assert _state(path) == before


@behaviour("codex:fork-delta")
async def test_a_real_fork_without_its_parent_is_refused(tmp_path: Path) -> None:
    name = "v0.171.0_fork_delta.jsonl"
    alone = tmp_path / name
    shutil.copyfile(shared() / name, alone)
    assert await refusal(alone) == ORACLE[name]["alone"]


@behaviour("codex:turns")
@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("v0.171")])
async def test_a_real_file_that_grows_only_adds_drafts(name: str, tmp_path: Path) -> None:
    for file in shared().glob("*.jsonl"):
        shutil.copyfile(file, tmp_path / file.name)
    client, path = Codex({"HOME": "/nowhere"}), tmp_path / name
    whole = (await client.read_file(path)).drafts
    lines = path.read_bytes().splitlines(keepends=True)
    for stop in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:stop]))
        drafts = (await client.read_file(path)).drafts
        assert list(whole[: len(drafts)]) == list(drafts), stop


def _seen(found: Transcript) -> dict[str, Any]:
    bodies = [draft.body for draft in found.drafts]
    answers = [one for one in bodies if isinstance(one, AssistantMessage)]
    models = {one.model for one in bodies if isinstance(one, RequestHeader)}
    begun = [n for n, one in enumerate(bodies) if isinstance(one, ContextCompacted)]
    starts = [one for one in bodies[begun[-1] if begun else 0 :] if isinstance(one, TurnStart)]
    return {
        "ref": found.ref,
        "version": found.version,
        "model": models.pop() if len(models) == 1 else None,
        "context_turns": sum(one.number is not None for one in starts),
        "calls": sum(isinstance(one, ToolUse) for answer in answers for one in answer.content),
        "results": sum(isinstance(one, ToolResult) for one in bodies),
        "messages": len(answers),
        "usage": sum(isinstance(one, Usage) for one in bodies),
        "open_turns": found.open_turns,
        "open_calls": found.open_calls,
        "open_events": found.open_events,
        "repaired": found.repaired,
    }


def _places(path: Path) -> dict[str, list[str]]:
    """On which lines the client's ids stand; those of the parent first, for it is read first."""
    places: dict[str, list[str]] = {}
    files = [path]
    if "fork_delta" in path.name:
        files.insert(0, path.with_name("v0.171.0_parent.jsonl"))
    for file in files:
        for number, text in enumerate(file.read_bytes().splitlines(), 1):
            payload = json.loads(text).get("payload", {})
            for key in ("id", "turn_id", "window_id", "response_id"):
                if isinstance(payload.get(key), str):
                    where = str(number) if file == path else f"{file.name}:{number}"
                    places.setdefault(payload[key], []).append(where)
    return places


def _lines(path: Path, found: Transcript) -> dict[str, Any]:
    places = _places(path)

    def first(draft: Draft) -> str:
        return places[draft.id.partition(":")[0]][0]

    def last(draft: Draft) -> str:
        return places[draft.id.partition(":")[0]][-1]

    kinds = {one.body.turn: one.body.of for one in found.drafts if isinstance(one.body, TurnStart)}
    turns = {turn for turn, kind in kinds.items() if kind == "turn"}
    numbered = [one for one in found.drafts if getattr(one.body, "turn", None) in turns]
    others = [one for one in found.drafts if one not in numbered]
    ends = [one for one in numbered if isinstance(one.body, TurnEnd)]
    starts = [one for one in numbered if isinstance(one.body, TurnStart)]
    compacted = _compacted(others)
    lone = [one for one in others if getattr(one.body, "turn", None) not in compacted]
    shown = [first(one) for one in numbered if isinstance(one.body, ContextMessage)]
    injected = [first(one) for one in lone if isinstance(one.body, ContextMessage)]
    return {
        "turns": [
            [first(one), last(other), other.body.reason]
            for one, other in zip(starts, ends, strict=True)
            if isinstance(other.body, TurnEnd)
        ],
        "user": [first(one) for one in numbered if isinstance(one.body, UserMessage)],
        "context": sorted([*shown, *injected], key=lambda one: int(one.rpartition(":")[2])),
        "injections": injected,
        "compactions": _compactions(others, places),
        "cut_line": last(found.drafts[-1]) if found.drafts else None,
    }


def _compacted(others: list[Draft]) -> set[str]:
    """The turns in which context begins anew."""
    found: set[str] = set()
    turn = ""
    for draft in others:
        match draft.body:
            case TurnStart():
                turn = draft.body.turn
            case ContextCompacted():
                found.add(turn)
            case _:
                pass
    return found


def _compactions(others: list[Draft], places: dict[str, list[str]]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    opened = ""
    for draft in others:
        name = draft.id.partition(":")[0]
        match draft.body:
            case TurnStart():
                opened = places[name][0]
            case ContextCompacted(covers=covers):
                kinds = Counter(type(one.body) for one in others if one.id.startswith(f"{name}:"))
                kept = [kinds[UserMessage], kinds[ContextMessage]]
                rows.append([opened, places[name][0], covers, *kept])
            case _:
                pass
    return rows


def _state(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
