"""The whole journey on every real Claude Code conversation that was handed to the project."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.bootstrap import assemble_parts, open_store
from sidechat_mcp.clients.claude_code.client import ClaudeCode
from sidechat_mcp.config import Config
from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.core.digest import canonical
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.sidechat.reports import Caller
from tests.behaviours import behaviour
from tests.feature.workshop import Speaker

ME = Caller()
TOP = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("SHARED") or TOP.parent / "shared") / "transcripts" / "claude"
ORACLE: dict[str, Any] = json.loads((TOP / "tests/clients/oracle_claude.json").read_text())
FILES = sorted(name for name, told in ORACLE.items() if isinstance(told, dict))


def state(path: Path) -> tuple[str, int, int]:
    return (
        hashlib.sha256(path.read_bytes()).hexdigest(),
        path.stat().st_mtime_ns,
        path.stat().st_size,
    )


def lines(context: Context) -> bytes:
    """The messages of a request, without its head line: an advisor's model has its own."""
    return canonical(context).split(b"\n", 1)[1]


def dangling(context: Context) -> list[str]:
    asked = {b.id for m in context.messages for b in m.content if isinstance(b, ToolUse)}
    return sorted(asked - {m.call for m in context.messages if m.role == "tool"})


@behaviour("journey:transcripts")
@pytest.mark.skipif(not SHARED.exists(), reason="the real transcripts are not beside the project")
@pytest.mark.parametrize("name", FILES)
async def test_a_real_conversation_is_forked_talked_with_and_given_its_note(
    name: str, tmp_path: Path
) -> None:
    path, told = SHARED / name, ORACLE[name]
    before = state(path)
    speaker = Speaker(["One.", "Two.", "The note."])
    config = Config(tmp_path, str(tmp_path / "log.db"), "speaker")
    store = await open_store(config)
    try:
        sidechat = assemble_parts(
            config,
            store,
            {},
            provider=lambda _: speaker,
            clients={"claude-code": ClaudeCode({"HOME": str(tmp_path)})},
        )
        if told["refused"]:
            with pytest.raises(SidechatError):
                await sidechat.fork(ME, file=path)
            return
        report = await sidechat.fork(ME, file=path, question="What was done?")
        assert report.first is not None
        assert report.turns == len(told["turns"])
        assert (report.cut_turns, report.repaired) == (told["open_turns"], told["repaired"])
        second = await sidechat.converse(ME, "And why?", session=report.session)
        assert (report.first.reason, second.reason) == ("completed", "completed")
        first = speaker.seen[0]
        row = await store.row(report.parent)
        parent = await sidechat.parts.sessions.context(row)
        assert lines(first).startswith(lines(parent))
        assert dangling(first) == []
        note = await sidechat.merge(ME, session=report.session)
        assert (note.text, note.revision) == ("The note.", 1)
        head = (await store.row(report.parent)).head
        await sidechat.fork(ME, file=path)
        assert (await store.row(report.parent)).head == head
        assert {one.verdict for one in await sidechat.replay(ME)} == {"verified"}
        assert state(path) == before
    finally:
        await store.close()
