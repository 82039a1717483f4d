"""The other clients' real files against what was written down by hand before there was a reader."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.drafts import named
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
from sidechat_mcp.errors import UnknownFormat
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour
from tests.clients.readers import client

ORACLE: dict[str, Any] = json.loads(
    (Path(__file__).parent / "oracle_others.json").read_text("utf-8")
)
FILES = [name for name in ORACLE if name != "about" and "refused" not in ORACLE[name]]
REFUSED = [name for name in ORACLE if name != "about" and "refused" in ORACLE[name]]


def shared(name: str) -> Path:
    """A real file: beside the project, or where SIDECHAT_SHARED says."""
    given = os.environ.get("SIDECHAT_SHARED")
    top = Path(given) if given else Path(__file__).resolve().parents[2].parent / "shared"
    found = top / "transcripts" / name
    if not found.exists():
        pytest.skip("the real transcripts are not beside the project (or set SIDECHAT_SHARED)")
    return found


@behaviour("others:oracle", "clients:never-written")
@pytest.mark.parametrize("name", FILES)
async def test_a_real_file_holds_what_was_written_down(name: str) -> None:
    path, expected = shared(name), dict(ORACLE[name])
    before = _state(path)
    found = await client(name.partition("/")[0]).read_file(path)
    assert _seen(found) == {key: expected[key] for key in expected if key != "why"}
    check_turns([draft.body for draft in found.drafts])
    assert found.skipped.unreadable == {}
    assert _state(path) == before


@behaviour("others:unknown-format")
@pytest.mark.parametrize("name", REFUSED)
async def test_a_real_file_of_a_kind_that_is_not_read_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(UnknownFormat, match=ORACLE[name]["refused"]) as refusal:
        await client(name.partition("/")[0]).read_file(shared(name))
    assert refusal.value.then


def _seen(found: Transcript) -> dict[str, Any]:
    bodies = [draft.body for draft in found.drafts]
    answers = [one for one in bodies if isinstance(one, AssistantMessage)]
    results = [one for one in bodies if isinstance(one, ToolResult)]
    calls = [one for answer in answers for one in answer.content if isinstance(one, ToolUse)]
    heads = [one for one in bodies if isinstance(one, RequestHeader)]
    return {
        "ref": found.ref,
        "folder": Path(found.cwd).name if found.cwd else None,
        "version": found.version,
        "turns": _turns(found, "turn"),
        "between": _turns(found, "injection"),
        "user": sum(isinstance(one, UserMessage) for one in bodies),
        "answers": len(answers),
        "calls": len(calls),
        "results": len(results),
        "errors": sum(one.is_error for one in results),
        "synthetic": sum(one.synthetic is not None for one in results),
        "context": sum(isinstance(one, ContextMessage) for one in bodies),
        "usage": sum(isinstance(one, Usage) for one in bodies),
        "compactions": [
            [_record(one), one.body.covers]
            for one in found.drafts
            if isinstance(one.body, ContextCompacted)
        ],
        "models": [head.model for head in heads],
        "open_turns": found.open_turns,
        "open_events": found.open_events,
        "open_calls": found.open_calls,
    }


def _turns(found: Transcript, of: str) -> list[list[str]]:
    """The records that turns begin and end with, and how."""
    kinds = {one.body.turn: one.body.of for one in found.drafts if isinstance(one.body, TurnStart)}
    starts = {one.body.turn: one for one in found.drafts if isinstance(one.body, TurnStart)}
    return [
        [_record(starts[one.body.turn]), _record(one), one.body.reason]
        for one in found.drafts
        if isinstance(one.body, TurnEnd) and kinds[one.body.turn] == of
    ]


def _record(draft: Draft) -> str:
    """The client's own id of the record a draft comes from."""
    id = draft.id.partition(":")[0]
    return TRIMMED if id == named(TRIMMED) else id


TRIMMED = "[trimmed for fixture]"


def _state(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
