"""Transcripts in a few words, as tests compare them."""

from __future__ import annotations

import io
from collections.abc import Sequence

from sidechat_mcp.clients.claude_code.transcript import read
from sidechat_mcp.core.content import ToolUse, plain
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextCompacted,
    ContextMessage,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.ports.client import Transcript
from tests.clients.houses import FIXTURES
from tests.clients.scribe import Scribe


def fixture(name: str) -> Transcript:
    with (FIXTURES / f"{name}.jsonl").open("rb") as file:
        return read(file, name)


def of(scribe: Scribe) -> Transcript:
    return read(io.BytesIO(scribe.text()), "file")


def short(read: Transcript) -> list[str]:
    return [_short(draft.body) for draft in read.drafts]


def _short(body: Body) -> str:
    match body:
        case TurnStart(of=of, number=number):
            return f"({of} {number}" if number else f"({of}"
        case TurnEnd(reason=reason):
            return f"{reason})"
        case UserMessage(content=content):
            return f"user: {plain(content)[:30]}"
        case ContextMessage(source=source):
            return f"context: {source['what']}"
        case AssistantMessage(content=content):
            calls = [block.name for block in content if isinstance(block, ToolUse)]
            return f"answer: {plain(content)[:30]}" + "".join(f" +{name}" for name in calls)
        case ToolResult(synthetic=synthetic, is_error=is_error):
            return f"result{'!' if is_error else ''}{f' {synthetic}' if synthetic else ''}"
        case ContextCompacted(covers=covers):
            return f"compacted {covers}"
        case _:
            return body.kind


def reasons(read: Transcript) -> Sequence[str]:
    return [one.body.reason for one in read.drafts if isinstance(one.body, TurnEnd)]


def counts(read: Transcript) -> tuple[int, int, int, int]:
    return read.open_turns, read.open_events, read.open_calls, read.repaired
