"""Writes conversations as clients do that keep each in one document, or in rows of a database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.clients.writers import BEGUN, Json


class Continue:
    def __init__(self, ref: str = "r1", cwd: str = "/srv/ferryline") -> None:
        self.ref, self.cwd = ref, cwd
        self.items: list[Json] = []

    def put(self, message: Json, **more: Any) -> None:
        self.items.append({"message": message, "contextItems": [], **more})

    def said(self, words: str) -> None:
        self.put({"role": "user", "content": words})

    def answer(self, words: str) -> None:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "model": "stub-model"}
        self.put({"role": "assistant", "content": words, "usage": usage})

    def calls(self, id: str, name: str, arguments: Json) -> None:
        function = {"name": name, "arguments": json.dumps(arguments)}
        call: Json = {"id": id, "type": "function", "function": function}
        state = {"toolCallId": id, "toolCall": call, "status": "calling"}
        message = {"role": "assistant", "content": "", "toolCalls": [call]}
        self.put(message, toolCallStates=[state])

    def result(self, id: str, words: str) -> None:
        output = [{"content": words, "name": "Tool Result"}]
        self.items[-1]["toolCallStates"][0] |= {"status": "done", "output": output}

    def text(self) -> bytes:
        whole = {"sessionId": self.ref, "title": "Untitled Session"}
        return json.dumps(
            {**whole, "workspaceDirectory": self.cwd, "history": self.items}, indent=2
        ).encode()


class Cline:
    """The command line's form; `bare` is the extension's."""

    def __init__(self, ref: str = "r1", cwd: str = "/srv/ferryline", bare: bool = False) -> None:
        self.ref, self.cwd, self.bare = ref, cwd, bare
        self.messages: list[Json] = []

    def put(self, role: str, *blocks: Json, **more: Any) -> None:
        message: Json = {"role": role, "content": list(blocks), "ts": self.now, **more}
        named = {} if self.bare else {"id": f"msg_{len(self.messages)}"}
        self.messages.append({**named, **message})

    @property
    def now(self) -> int:
        return (BEGUN + len(self.messages)) * 1000

    def said(self, words: str) -> None:
        where = f"\n# Current Working Directory ({self.cwd}) Files\n" if self.bare else ""
        self.put("user", {"type": "text", "text": f"<user_input>{words}</user_input>{where}"})

    def answer(self, words: str) -> None:
        model = {"id": "stub-model", "provider": "openai"}
        metrics = {"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 0}
        text = {"type": "text", "text": words}
        self.put("assistant", text, modelInfo=model, metrics=metrics)

    def calls(self, id: str, name: str, arguments: Json) -> None:
        self.put("assistant", {"type": "tool_use", "id": id, "name": name, "input": arguments})

    def result(self, id: str, words: str) -> None:
        self.put("user", {"type": "tool_result", "tool_use_id": id, "content": words})

    def text(self) -> bytes:
        if self.bare:
            return json.dumps(self.messages).encode()
        whole = {"version": 1, "agent": "lead", "sessionId": self.ref}
        origin = {"source": "cli", "version": "3.0.65"}
        return json.dumps({**whole, "origin": origin, "messages": self.messages}, indent=2).encode()


GOOSE = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
INSERT INTO schema_version VALUES (17);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '',
  session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, updated_at TIMESTAMP,
  parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT,
  session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, metadata_json TEXT);
CREATE TABLE provider_secrets (id TEXT, value TEXT);
INSERT INTO provider_secrets VALUES ('key', 'sk-secret-of-the-person');
"""


class Goose:
    def __init__(
        self, ref: str = "20261201_1", cwd: str = "/srv/ferryline", parent: str | None = None
    ) -> None:
        self.ref, self.cwd, self.parent = ref, cwd, parent
        self.rows: list[tuple[str, str, Json]] = []

    def put(self, role: str, *items: Json, agent: bool = True, user: bool = True) -> None:
        sight = {"userVisible": user, "agentVisible": agent}
        self.rows.append((role, json.dumps(list(items)), sight))

    def said(self, words: str) -> None:
        self.put("user", {"type": "text", "text": words})

    def answer(self, words: str) -> None:
        self.put("assistant", {"type": "text", "text": words})

    def calls(self, id: str, name: str, arguments: Json) -> None:
        value = {"name": name, "arguments": arguments}
        call = {"status": "success", "value": value}
        self.put("assistant", {"type": "toolRequest", "id": id, "toolCall": call})

    def result(self, id: str, words: str) -> None:
        value = {"content": [{"type": "text", "text": words}], "isError": False}
        done = {"status": "success", "value": value}
        self.put("user", {"type": "toolResponse", "id": id, "toolResult": done})

    def text(self) -> bytes:
        return goose(self)


def goose(*talks: Goose) -> bytes:
    """The file of these sessions, the last one newest."""

    def write(database: sqlite3.Connection) -> None:
        database.executescript(GOOSE)
        for n, one in enumerate(talks):
            kind = "user" if one.parent is None else "subagent"
            row = (one.ref, "", kind, one.cwd, f"2026-12-01 10:{n:02}:00", one.parent)
            database.execute("INSERT INTO sessions VALUES (?,?,?,?,?,?)", row)
            for place, (role, content, sight) in enumerate(one.rows):
                named = (f"msg_{one.ref}_{place}", one.ref, role, content)
                values = (*named, BEGUN + place // 2, json.dumps(sight))
                columns = "message_id, session_id, role, content_json, created_timestamp"
                database.execute(
                    f"INSERT INTO messages ({columns}, metadata_json) VALUES (?,?,?,?,?,?)", values
                )

    return _filed(write)


class Zed:
    def __init__(
        self, ref: str = "r1", cwd: str = "/srv/ferryline", parent: str | None = None
    ) -> None:
        self.ref, self.cwd, self.parent = ref, cwd, parent
        self.messages: list[Any] = []
        self.title = ""

    def said(self, words: str) -> None:
        id = f"user-{len(self.messages)}"
        self.messages.append({"User": {"id": id, "content": [{"Text": words}]}})

    def model(self, *content: Json) -> None:
        self.messages.append({"Agent": {"content": list(content), "tool_results": {}}})

    def answer(self, words: str) -> None:
        self.model({"Text": words})

    def calls(self, id: str, name: str, arguments: Json) -> None:
        use = {"id": id, "name": name, "raw_input": json.dumps(arguments), "input": arguments}
        self.model({"ToolUse": {**use, "is_input_complete": True}})

    def result(self, id: str, words: str) -> None:
        done = {
            "tool_use_id": id,
            "tool_name": "n",
            "is_error": False,
            "content": [{"Text": words}],
        }
        self.messages[-1]["Agent"]["tool_results"][id] = {**done, "output": None}

    def document(self) -> bytes:
        about = {"title": self.title, "updated_at": "2026-12-01T10:00:00Z", "version": "0.3.0"}
        return json.dumps({**about, "messages": self.messages}).encode()

    def text(self) -> bytes:
        return zed(self)


def zed(*talks: Zed, data: bytes | None = None, kind: str = "json") -> bytes:
    """The file of these threads, the last one newest; `data` stands in for a document."""

    def write(database: sqlite3.Connection) -> None:
        database.execute(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL,"
            " updated_at TEXT NOT NULL, data_type TEXT NOT NULL, data BLOB NOT NULL,"
            " parent_id TEXT, folder_paths TEXT)"
        )
        for n, one in enumerate(talks):
            about = (one.ref, one.title, f"2026-12-01T10:{n:02}:00+00:00", kind)
            values = (*about, data or one.document(), one.parent, one.cwd)
            database.execute("INSERT INTO threads VALUES (?,?,?,?,?,?,?)", values)

    return _filed(write)


def _filed(write: Any) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        with closing(sqlite3.connect(path)) as database, database:
            write(database)
        return path.read_bytes()
