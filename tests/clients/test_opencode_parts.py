"""Parts of opencode's messages, and what else an answer tells, as our content."""

from __future__ import annotations

from typing import Any

from sidechat_mcp.core.content import Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.core.events import (
    AssistantMessage,
    RequestHeader,
    ToolResult,
    Usage,
    UserMessage,
)
from tests.behaviours import behaviour
from tests.clients.cabin import TOKENS, Talk, of, tool


@behaviour("opencode:shown-context")
def test_parts_are_kept_as_what_the_model_was_shown_of_them() -> None:
    talk = Talk("s")
    png = "data:image/png;base64,aGVsbG8="
    shown: list[dict[str, Any]] = [
        {"type": "text", "text": "hidden", "ignored": True},
        {"type": "file", "mime": "image/png", "filename": "a.png", "url": png},
        {"type": "file", "mime": "text/plain", "url": "file:///a.txt"},
        {"type": "file", "mime": "application/pdf", "url": "https://example.org/a.pdf"},
    ]
    talk.says("See?")
    talk.rows[-1][1].extend(shown)
    signed = {"anthropic": {"signature": "sig"}}
    talk.answers(
        {"type": "reasoning", "text": "Hm.", "metadata": signed},
        "I see.",
        {"type": "hologram", "frames": 2},
        {"type": "patch", "hash": "x"},
        tool("c1", input={"b": 1, "a": 2}, time={"start": 1, "compacted": 5}),
        tool("c1"),
    )
    talk.answers("Yes.")
    bodies = [draft.body for draft in of(talk).drafts]
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    said = next(one for one in bodies if isinstance(one, UserMessage))
    assert said.content == (
        Text("See?"),
        Media("image", "image/png", digest, 5, name="a.png"),
        Verbatim(
            "opencode",
            '{"type":"file","mime":"application/pdf","url":"https://example.org/a.pdf"}',
        ),
    )
    answer = next(one for one in bodies if isinstance(one, AssistantMessage))
    assert answer.content == (
        Thinking("Hm.", "anthropic", '{"type":"thinking","thinking":"Hm.","signature":"sig"}'),
        Text("I see."),
        Verbatim("opencode", '{"type":"hologram","frames":2}'),
        ToolUse("c1", "bash", '{"b":1,"a":2}'),
    )
    result = next(one for one in bodies if isinstance(one, ToolResult))
    assert result.content == (Text("[Old tool result content cleared]"),)
    skipped = of(talk).skipped
    assert skipped.unreadable == {"call without a name, or repeated": 1}
    assert skipped.ignored["unknown part 'hologram'"] == 1


def test_usage_counts_the_whole_prompt_and_never_invents_a_zero() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    talk.says("two")
    talk.answers("2", tokens={**TOKENS, "reasoning": 3, "cache": {"read": 0, "write": 7}})
    talk.says("three")
    talk.answers("3", tokens={"input": 5, "output": 1, "cache": {"read": 0, "write": 0}})
    usage = [one.body for one in of(talk).drafts if isinstance(one.body, Usage)]
    known = [(one.input, one.output, one.cache_read, one.cache_write) for one in usage]
    assert known == [(100, 9, 40, 0), (67, 12, 0, 7), (5, 1, None, None)]


def test_a_change_of_the_model_is_a_new_header() -> None:
    talk = Talk("s")
    talk.turn("one", "An answer")
    talk.says("two")
    talk.answers("Another", modelID="two")
    bodies = [draft.body for draft in of(talk).drafts]
    headers = [(n, one.model) for n, one in enumerate(bodies) if isinstance(one, RequestHeader)]
    assert headers == [(0, "stub/one"), (6, "stub/two")]
