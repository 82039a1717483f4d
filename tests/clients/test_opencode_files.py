"""opencode's real files against what was written down by hand before there was a reader."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.opencode.client import Opencode
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
)
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour

ORACLE: dict[str, Any] = json.loads(
    (Path(__file__).parent / "oracle_opencode.json").read_text("utf-8")
)
NAMES = [name for name in ORACLE if name != "about"]


def shared() -> Path:
    """The folder of real files: beside the project, or where SIDECHAT_SHARED says."""
    named = os.environ.get("SIDECHAT_SHARED")
    top = Path(named) if named else Path(__file__).resolve().parents[2].parent / "shared"
    found = top / "transcripts" / "opencode"
    if not found.is_dir():
        pytest.skip("the real transcripts are not beside the project (or set SIDECHAT_SHARED)")
    return found


@behaviour("opencode:oracle", "opencode:never-written")
@pytest.mark.parametrize("name", NAMES)
async def test_a_real_file_holds_what_was_written_down(name: str) -> None:
    path, expected = shared() / name, ORACLE[name]
    before = _state(shared())
    client = Opencode({})
    if "refused" in expected:
        with pytest.raises(InvalidRequest) as refused:
            await client.read_file(path)
        assert [type(refused.value).__name__, str(refused.value)] == expected["refused"]
    else:
        found = await client.read_file(path)
        assert _seen(path, found) == {key: expected[key] for key in expected if key != "why"}
        check_turns([draft.body for draft in found.drafts])
        assert await client.read_file(path) == found
    assert _state(shared()) == before


def _seen(path: Path, found: Transcript) -> dict[str, Any]:
    bodies = [draft.body for draft in found.drafts]
    answers = [one for one in bodies if isinstance(one, AssistantMessage)]
    results = [one for one in bodies if isinstance(one, ToolResult)]
    order = _order(path, found.ref)
    places = {id: n for n, id in enumerate(order, 1)}

    def place(draft: Draft) -> int:
        return places[draft.id.partition(":")[0]]

    starts = [one for one in found.drafts if isinstance(one.body, TurnStart)]
    ends = [one for one in found.drafts if isinstance(one.body, TurnEnd)]
    return {
        "version": found.version,
        "folder": Path(found.cwd).name if found.cwd else None,
        "model": next(one.model for one in bodies if isinstance(one, RequestHeader)),
        "turns": [
            [place(start), place(end), end.body.reason]
            for start, end in zip(starts, ends, strict=True)
            if isinstance(end.body, TurnEnd)
        ],
        "context": [place(one) for one in found.drafts if isinstance(one.body, ContextMessage)],
        "answers": len(answers),
        "calls": sum(isinstance(one, ToolUse) for answer in answers for one in answer.content),
        "results": len(results),
        "failed": sum(one.is_error for one in results),
        "usage": sum(isinstance(one, Usage) for one in bodies),
        "cut": max(map(place, found.drafts)),
        "open_turns": found.open_turns,
        "open_events": found.open_events,
        "open_calls": found.open_calls,
        "repaired": found.repaired,
        "compactions": [
            place(one) for one in found.drafts if isinstance(one.body, ContextCompacted)
        ],
    }


def _order(path: Path, ref: str) -> Sequence[str]:
    """The ids of a conversation's messages, looked up without the reader."""
    if path.is_dir():
        files = (path / "message" / ref).glob("*.json")
        dated = ((json.loads(file.read_bytes())["time"]["created"], file.stem) for file in files)
        return [id for _, id in sorted(dated)]
    file = path.with_name(path.name.partition("#")[0])
    query = "SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        return [id for (id,) in database.execute(query, (ref,))]


def _state(folder: Path) -> dict[str, tuple[str, int]]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {
        str(file): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in files
    }
