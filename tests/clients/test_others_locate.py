"""Which conversation is calling: a client's own sign, and never another client's call."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.bootstrap import OTHERS, known_clients
from sidechat_mcp.clients import signs
from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.errors import ParentNotFound, UnknownFormat
from sidechat_mcp.ports.client import Call
from tests.behaviours import behaviour
from tests.clients.readers import client
from tests.clients.wholes import Cline, Continue, Goose, Zed, goose
from tests.clients.writers import Chat, Copilot, Cursor, Gemini, Qwen, Writer, talked

QWEN, COPILOT = "QWEN_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"


def put(path: Path, text: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return path


def asking(writer: Writer, name: str, arguments: dict[str, Any]) -> bytes:
    """A conversation that waits for a call."""
    talked(writer, "First words")
    writer.said("Fork it")
    writer.calls("c9", name, arguments)
    return writer.text()


@behaviour("others:waiting-call")
async def test_after_a_new_session_was_begun_the_one_that_waits_is_found(tmp_path: Path) -> None:
    chats = tmp_path / ".qwen" / "projects" / "-work" / "chats"
    put(chats / "old.jsonl", talked(Qwen("old", "/work"), "Old").text())
    put(chats / "new.jsonl", asking(Qwen("new", "/work"), "mcp__sidechat__fork", {"question": "Q"}))
    qwen = client("qwen", {"HOME": str(tmp_path)})
    call = Call({}, {QWEN: "old"}, (), "/work", "fork", {"question": "Q"})
    found = await qwen.locate(call)
    assert found is not None
    assert found.ref == "new"
    put(chats / "two.jsonl", asking(Qwen("two", "/work"), "mcp__sidechat__fork", {"question": "Q"}))
    assert await qwen.locate(call) is None, "two fit"
    prompt = await qwen.locate(Call({}, {QWEN: "old"}, (), "/work"))
    assert prompt is not None
    assert prompt.ref == "old", "what is no tool's call has the environment alone"


@behaviour("others:who-is-calling")
@pytest.mark.parametrize(
    ("environment", "meta"),
    [
        ({"CLAUDECODE": "1"}, {}),
        ({"GEMINI_CLI": "1"}, {}),
        ({COPILOT: "c"}, {}),
        ({}, {"vscode.conversationId": "v"}),
        ({}, {"threadId": "t"}),
        ({}, {"io.modelcontextprotocol/clientInfo": {"name": "claude-code"}}),
        ({}, {"io.modelcontextprotocol/clientInfo": {"name": "somebody-new"}}),
    ],
)
async def test_what_was_inherited_from_one_client_says_nothing_inside_another(
    environment: dict[str, str], meta: dict[str, Any], tmp_path: Path
) -> None:
    chats = tmp_path / ".qwen" / "projects" / "-work" / "chats"
    put(chats / "q.jsonl", talked(Qwen("q", "/work"), "First").text())
    qwen = client("qwen", {"HOME": str(tmp_path)})
    assert await qwen.locate(Call({}, {QWEN: "q"}, (), "/work")) is not None
    assert await qwen.locate(Call(meta, {QWEN: "q", **environment}, (), "/work")) is None


@behaviour("others:who-is-calling")
async def test_copilots_own_name_in_the_call_does_not_speak_against_it(tmp_path: Path) -> None:
    state = tmp_path / ".copilot" / "session-state"
    put(state / "c" / "events.jsonl", asking(Copilot("c"), "sidechat-fork", {"question": "Q"}))
    copilot = client("copilot-cli", {"HOME": str(tmp_path)})
    meta = {"io.modelcontextprotocol/clientInfo": {"name": "copilot-cli", "version": "1.0.102"}}
    call = Call(meta, {COPILOT: "c"}, (), "/work", "fork", {"question": "Q"})
    found = await copilot.locate(call)
    assert found is not None
    assert (found.client, found.ref) == ("copilot", "c")
    merge = Call(meta, {COPILOT: "c"}, (), "/work", "merge", {})
    assert await copilot.locate(merge) is None, "it waits for another tool"


@behaviour("others:who-is-calling", "others:no-subagents")
async def test_an_agents_agent_of_goose_calls_for_the_persons_session(tmp_path: Path) -> None:
    parent = talked(Goose("20261201_1", "/work"), "First")
    assert isinstance(parent, Goose)
    agents = Goose("20261201_2", "/work", parent="20261201_1")
    put(
        tmp_path / ".local" / "share" / "goose" / "sessions" / "sessions.db",
        goose(parent, agents),
    )
    found = await client("goose", {"HOME": str(tmp_path)}).locate(
        Call({"agent-session-id": "20261201_2"}, {}, (), "/elsewhere")
    )
    assert found is not None
    assert found.ref == "20261201_1"


@pytest.mark.parametrize(
    ("name", "input", "how"),
    [
        ("mcp__sidechat__fork", '{"question": "Q"}', "whole"),
        ("sidechat-fork", '{"question": "Q"}', "whole"),
        ("sidechat__fork", '{"question": "another"}', "name"),
        ("tool_call", '{"name": "mcp__sidechat__fork", "arguments": {}}', "name"),
        ("pitchfork", '{"question": "Q"}', None),
        ("read_file", '{"path": "forklift.txt"}', None),
        ("mcp__sidechat__fork_all", "{}", None),
    ],
)
def test_a_call_fits_by_its_tool_and_its_arguments(name: str, input: str, how: str | None) -> None:
    call = Call({}, {}, (), "/work", "fork", {"question": "Q"})
    assert signs.fit(ToolUse("c", name, input), call) == how


FORMS: dict[str, tuple[str, Callable[[], Writer]]] = {
    "gemini": ("gemini", Gemini),
    "qwen": ("qwen", Qwen),
    "copilot": ("copilot", Copilot),
    "vscode": ("vscode", Chat),
    "hooks": ("vscode", lambda: Copilot(editor="1.119.0")),
    "cursor": ("cursor", Cursor),
    "continue": ("continue", Continue),
    "cline": ("cline", Cline),
    "extension": ("cline", lambda: Cline(bare=True)),
    "goose": ("goose", Goose),
    "zed": ("zed", Zed),
}


@behaviour("others:whose-file")
@pytest.mark.parametrize("form", FORMS)
async def test_no_other_client_finds_a_turn_in_a_clients_file(form: str, tmp_path: Path) -> None:
    name, make = FORMS[form]
    path = put(tmp_path / "talk", talked(make(), "First words").text())
    found: list[str] = []
    for each in known_clients({"HOME": str(tmp_path)}).values():
        try:
            read = await each.read_file(path)
        except (UnknownFormat, ParentNotFound):
            continue
        if read.drafts:
            found.append(each.name)
    assert found == [name]


@behaviour("others:read-only")
async def test_a_live_database_is_read_with_its_log_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    talk = talked(Goose("20261201_1", "/work"), "First")
    put(file, talk.text())
    goose_ = client("goose", {"HOME": str(tmp_path)})
    with closing(sqlite3.connect(file, isolation_level=None)) as live:
        live.execute("PRAGMA journal_mode=WAL")
        for place, (role, text) in enumerate((("user", "New?"), ("assistant", "New."))):
            content = f'[{{"type": "text", "text": "{text}"}}]'
            live.execute(
                "INSERT INTO messages (message_id, session_id, role, content_json,"
                " created_timestamp) VALUES (?, '20261201_1', ?, ?, 1900000000)",
                (f"new-{place}", role, content),
            )
        before = _state(file.parent)
        found = await goose_.find("20261201_1", None)
        assert found is not None
        read = await goose_.read(found)
        assert sum(draft.body.kind == "turn/end" for draft in read.drafts) == 4
        after = _state(file.parent)
    assert {name: after[name] for name in ("sessions.db", "sessions.db-wal")} == {
        name: before[name] for name in ("sessions.db", "sessions.db-wal")
    }


@behaviour("others:later")
def test_the_other_clients_are_imported_when_they_are_first_asked() -> None:
    folders = {folder for folder, _ in OTHERS.values()}
    asked = (
        "import sys, os; from sidechat_mcp.bootstrap import known_clients; known_clients({});"
        "print(*(m.split('.')[2] for m in sys.modules if m.startswith('sidechat_mcp.clients.')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    ).stdout.split()
    assert folders.isdisjoint(loaded)
    assert {"kept", "files", "dialogue"}.isdisjoint(loaded)


@behaviour("others:later")
async def test_each_of_them_answers_to_the_name_it_is_known_by(tmp_path: Path) -> None:
    known = known_clients({"HOME": str(tmp_path)})
    for name in OTHERS:
        assert list(await known[name].newest(None, 5)) == []
        folder = "copilot-cli" if name == "copilot" else name
        assert (known[name].name, client(folder).name) == (name, name)


def _state(folder: Path) -> dict[str, str]:
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in folder.iterdir()}
