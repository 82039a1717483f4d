"""What the forms of the other clients have of their own: compactions, rewinds, what was resumed,
subagents, context, older spellings, and notes of ours."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.cline.transcript import read as cline
from sidechat_mcp.clients.continue_dev.transcript import read as continue_dev
from sidechat_mcp.clients.copilot.transcript import read as copilot
from sidechat_mcp.clients.gemini.transcript import read as gemini
from sidechat_mcp.clients.qwen.transcript import read as qwen
from sidechat_mcp.clients.values import sequence
from sidechat_mcp.clients.vscode.transcript import read as vscode
from sidechat_mcp.clients.zed.transcript import read as zed
from sidechat_mcp.core.content import Block, Content, Text, ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    ContextCompacted,
    ContextMessage,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.errors import ParentNotFound, UnknownFormat
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour
from tests.clients.readers import client
from tests.clients.wholes import Cline, Continue, Goose, Zed, goose
from tests.clients.wholes import zed as filed
from tests.clients.writers import Chat, Copilot, Cursor, Gemini, Json, Qwen, Writer, talked

NOTE = '<sidechat-note id="note-1" session="sidechat://sessions/child">\nx\n</sidechat-note>'


def told(found: Transcript) -> list[str]:
    """What stands in a transcript, one line an event."""
    check_turns([draft.body for draft in found.drafts])
    lines: list[str] = []
    for draft in found.drafts:
        match draft.body:
            case TurnStart(of=of, number=number):
                lines.append(f"{of} {number}" if number is not None else of)
            case TurnEnd(reason=reason):
                lines.append(reason)
            case UserMessage(content=content):
                lines.append(f"user: {_words(content)}")
            case ContextMessage(content=content, source=source):
                lines.append(f"{source['what']}: {_words(content)}")
            case AssistantMessage(content=content):
                lines.append(f"assistant: {_words(content)}")
            case ToolResult(content=content, is_error=failed, synthetic=synthetic):
                kind = synthetic or ("error" if failed else "result")
                lines.append(f"{kind}: {_words(content)}" if synthetic is None else kind)
            case ContextCompacted(summary=summary, covers=covers):
                lines.append(f"compacted to {covers}: {_words(summary)}")
            case _:
                pass
    return lines


def _words(content: Content) -> str:
    return " | ".join(_word(block) for block in content)


def _word(block: Block) -> str:
    match block:
        case Text(text=words):
            return words
        case ToolUse(name=name):
            return name
        case _:
            return block.type


def lines(writer: Writer) -> io.BytesIO:
    return io.BytesIO(writer.text())


TALK = [
    *("turn 1", "user: First words", "assistant: An answer to that.", "completed"),
    *("turn 2", "user: And some more", "assistant: read_file", "result: The text of a.txt"),
    *("assistant: It says so.", "completed"),
    *("turn 3", "user: A last question", "assistant: A last answer.", "completed"),
]


@pytest.mark.parametrize("name", ["gemini", "qwen", "cline", "continue", "goose", "zed"])
async def test_the_same_conversation_comes_out_the_same_from_each(
    name: str, tmp_path: Path
) -> None:
    writers: dict[str, Writer] = {
        "gemini": Gemini(), "qwen": Qwen(), "cline": Cline(), "continue": Continue(),
        "goose": Goose(), "zed": Zed(),
    }  # fmt: skip
    path = tmp_path / "talk"
    path.write_bytes(talked(writers[name], "First words").text())
    seen = told(await client(name).read_file(path))
    assert [line.replace("<user_input>", "").replace("</user_input>", "") for line in seen] == TALK


@behaviour("others:resume")
def test_a_resumed_gemini_session_stays_what_it_was() -> None:
    talk = talked(Gemini(), "First words")
    assert isinstance(talk, Gemini)
    before = gemini(lines(talk), "f")
    anew: list[Json] = []
    for line in {one["id"]: one for one in talk.lines if "id" in one}.values():
        content = line["content"]
        spelled = [{"text": content}] if isinstance(content, str) and content else []
        calls = [
            {"functionCall": {k: c[k] for k in ("id", "name", "args")}}
            for c in line.get("toolCalls", [])
        ]
        listed = sequence(content) or [*spelled, *calls]
        anew.append(
            {
                "id": line["id"],
                "type": line["type"],
                "timestamp": "2026-12-02T00:00:00Z",
                "content": listed,
            }
        )
    talk.put(
        {
            "$set": {
                "messages": [
                    {"id": "s", "type": "user", "content": [{"text": "<session_context>x"}]}
                ]
            }
        }
    )
    talk.put({"$set": {"messages": anew}})
    talk.said("Go on")
    talk.answer("On it goes.")
    after = gemini(lines(talk), "f")
    assert list(after.drafts[: len(before.drafts)]) == list(before.drafts)
    assert told(after) == [
        *told(before),
        "turn 4",
        "user: Go on",
        "assistant: On it goes.",
        "completed",
    ]


@behaviour("others:rewind")
def test_what_was_rewound_in_gemini_and_qwen_is_nowhere() -> None:
    talk = talked(Gemini(), "First words")
    assert isinstance(talk, Gemini)
    last = next(one for one in talk.lines if one.get("content") == [{"text": "And some more"}])
    talk.put({"$rewindTo": last["id"]})
    talk.said("Something else")
    talk.answer("Else.")
    expected = [*TALK[:4], "turn 2", "user: Something else", "assistant: Else.", "completed"]
    assert told(gemini(lines(talk), "f")) == expected
    other = talked(Qwen(), "First words")
    assert isinstance(other, Qwen)
    above = next(n for n, one in enumerate(other.lines) if "And some more" in json.dumps(one))
    back = other.record("system", subtype="rewind", systemPayload={"truncatedCount": 4})
    back["parentUuid"] = other.lines[above - 1]["uuid"]
    other.said("Something else")
    other.answer("Else.")
    found = qwen(lines(other), "f")
    assert told(found) == expected
    assert found.skipped.ignored["on another branch"] == 6


@behaviour("others:compaction")
def test_context_begins_anew_where_qwen_copilot_and_continue_compact() -> None:
    first = Qwen()
    first.said("Q1")
    first.answer("A1")
    kept = [
        {"role": "user", "parts": [{"text": "A summary"}]},
        {
            "role": "model",
            "parts": [{"text": "Got it."}, {"functionCall": {"id": "k", "name": "ls"}}],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "k", "response": {"output": "a.txt"}}}],
        },
    ]
    first.record("system", subtype="chat_compression", systemPayload={"compressedHistory": kept})
    first.said("Q2")
    first.answer("A2")
    behind = ["turn 2", "user: Q2", "assistant: A2", "completed"]
    before = ["turn 1", "user: Q1", "assistant: A1", "completed"]
    assert told(qwen(lines(first), "f")) == [
        *before, "injection", "compacted to 1: A summary",
        "assistant: Got it. | ls", "result: a.txt", "injection", *behind,
    ]  # fmt: skip
    second = Copilot()
    second.said("Q1")
    second.answer("A1")
    second.event("session.compaction_complete", {"success": True, "summaryContent": "A summary"})
    second.event("session.compaction_complete", {"success": False})
    found = [line for line in told(copilot(lines(second), "f")) if "current_datetime" not in line]
    assert found == [*before, "injection", "compacted to 1: A summary", "injection"]
    third = Continue()
    third.said("Q1")
    third.answer("A1")
    third.items[-1]["conversationSummary"] = "A summary"
    third.said("Q2")
    third.answer("A2")
    assert told(continue_dev(third.text(), "f")) == [
        *before, "injection", "compacted to 1: A summary", "injection", *behind,
    ]  # fmt: skip


@behaviour("others:no-subagents")
async def test_what_subagents_do_is_in_no_conversation(tmp_path: Path) -> None:
    talk = Copilot()
    talk.said("Q1")
    talk.event("assistant.message", {"content": "mine", "parentToolCallId": "c"})
    talk.event("assistant.message", {"content": "mine"}, agentId="a")
    talk.answer("A1")
    found = copilot(lines(talk), "f")
    assert "assistant: mine" not in told(found)
    assert found.skipped.ignored["subagent"] == 2
    other = Qwen()
    other.said("Q1")
    other.answer("A1")
    other.record("assistant", isSidechain=True, message={"role": "model", "parts": [{"text": "m"}]})
    assert told(qwen(lines(other), "f"))[2:] == ["assistant: A1", "completed"]
    agents = Gemini()
    agents.lines[0]["kind"] = "subagent"
    talked(agents, "Do it")
    with pytest.raises(ParentNotFound, match="subagent"):
        gemini(lines(agents), "f")
    path = tmp_path / "sessions.db"
    path.write_bytes(goose(Goose("20261201_1"), Goose("20261201_2", parent="20261201_1")))
    assert (await client("goose").read_file(path)).ref == "20261201_1"
    with pytest.raises(ParentNotFound, match="of a person"):
        await client("goose").read_file(Path(f"{path}#20261201_2"))


@behaviour("others:shown-context")
def test_what_a_client_puts_around_a_persons_words_is_context() -> None:
    talk = Copilot()
    talk.said("Q1")
    talk.event("system.notification", {"content": "An agent is done."})
    talk.event("user.message", {"content": "And stop at ten", "delivery": "steering"})
    talk.event("user.message", {"content": "Read the skill", "source": "skill-pdf"})
    talk.answer("A1")
    assert told(copilot(lines(talk), "f")) == [
        "turn 1",
        "transformedContent: <current_datetime>2026-12-01T10:00:01.000Z</current_datetime>\n\n",
        *("user: Q1", "notification: An agent is done.", "user: And stop at ten"),
        *("skill-pdf: Read the skill", "assistant: A1", "completed"),
    ]
    chat = Chat()
    chat.said("Q1")
    chat.lines[-1]["v"][0]["message"]["text"] = "Q1"
    chat.answer("A1")
    about = chat.lines[-1]["v"]["metadata"]
    about["renderedUserMessage"] = [
        {"type": 1, "text": "<context>\nToday.\n</context>\n<userRequest>\nQ1\n</userRequest>\n"}
    ]
    about["renderedGlobalContext"] = [{"type": 1, "text": "The workspace."}]
    assert told(vscode(chat.text(), "f")) == [
        *("turn 1", "renderedGlobalContext: The workspace."),
        *("renderedUserMessage: <context>\nToday.\n</context>", "user: Q1"),
        *("assistant: A1", "completed"),
    ]
    note = Qwen()
    note.record(
        "user", provenance="system", subtype="notification", message={"parts": [{"text": "Done."}]}
    )
    note.answer("I see.")
    note.said("Q2")
    note.record(
        "user",
        provenance="real_user",
        subtype="mid_turn_user_message",
        message={"parts": [{"text": "Faster"}]},
    )
    note.answer("A2")
    assert told(qwen(lines(note), "f")) == [
        *("turn 1", "notification: Done.", "assistant: I see.", "completed"),
        *("turn 2", "user: Q2", "user: Faster", "assistant: A2", "completed"),
    ]


@behaviour("others:old-formats")
def test_clines_older_spellings_come_out_as_turns() -> None:
    talk = Cline(bare=True)
    talk.put("user", {"type": "text", "text": "<task>\nFix it\n</task>"})
    talk.put(
        "assistant", {"type": "text", "text": "I look.\n<read_file>\n<path>a</path>\n</read_file>"}
    )
    talk.put(
        "user",
        {"type": "text", "text": "[read_file for 'a'] Result:"},
    )
    talk.calls("done", "attempt_completion", {"result": "It is fixed."})
    talk.put("user", {"type": "tool_result", "tool_use_id": "done", "content": "Thanks, and now?"})
    talk.answer("Nothing.")
    assert told(cline(talk.text(), "f")) == [
        *("turn 1", "user: <task>\nFix it\n</task>"),
        "assistant: I look.\n<read_file>\n<path>a</path>\n</read_file>",
        *("tool result: [read_file for 'a'] Result:", "assistant: It is fixed.", "completed"),
        *("turn 2", "user: Thanks, and now?", "assistant: Nothing.", "completed"),
    ]


@behaviour("others:old-formats")
def test_continues_and_zeds_older_spellings_come_out_as_turns() -> None:
    talk = Continue()
    talk.said("Q")
    talk.calls("c1", "ls", {})
    talk.items[-1].pop("toolCallStates")
    talk.put({"role": "tool", "toolCallId": "c1", "content": "a.txt"})
    talk.put({"role": "assistant", "content": [{"type": "text", "text": "One file."}]})
    turn = [
        "turn 1",
        "user: Q",
        "assistant: ls",
        "result: a.txt",
        "assistant: One file.",
        "completed",
    ]
    assert told(continue_dev(talk.text(), "f")) == turn
    segments = [{"type": "text", "text": "Q"}], [{"type": "text", "text": "One file."}]
    use: Json = {"id": "c1", "name": "ls", "input": {}}
    older: Json = {
        "version": "0.2.0",
        "messages": [
            {"id": 0, "role": "user", "segments": segments[0]},
            {"id": 1, "role": "assistant", "segments": [], "tool_uses": [use],
             "tool_results": [{"tool_use_id": "c1", "is_error": False, "content": "a.txt"}]},
            {"id": 2, "role": "assistant", "segments": segments[1]},
        ],
    }  # fmt: skip
    assert told(zed(json.dumps(older).encode(), "r")) == turn


async def test_a_compressed_thread_of_zeds_is_read_or_refused_in_a_sentence(
    tmp_path: Path,
) -> None:
    path = tmp_path / "threads.db"
    path.write_bytes(filed(Zed(), data=b"(\xb5/\xfd", kind="zstd"))
    with pytest.raises(UnknownFormat) as refusal:
        await client("zed").read_file(path)
    assert refusal.value.then


@behaviour("others:delivered")
@pytest.mark.parametrize("name", ["gemini", "qwen", "cline", "continue", "copilot-cli", "cursor"])
async def test_a_note_of_ours_that_a_transcript_shows_is_reported(
    name: str, tmp_path: Path
) -> None:
    writers: dict[str, Any] = {
        "gemini": Gemini, "qwen": Qwen, "cline": Cline, "continue": Continue,
        "copilot-cli": Copilot, "cursor": Cursor,
    }  # fmt: skip
    writer: Writer = writers[name]()
    writer.said(f"Take note.\n{NOTE}")
    writer.answer("I do.")
    path = tmp_path / "talk"
    path.write_bytes(writer.text())
    found = await client(name).read_file(path)
    said = next(draft for draft in found.drafts if isinstance(draft.body, UserMessage))
    assert found.delivered == {"note-1": said.id.partition(":")[0]}
