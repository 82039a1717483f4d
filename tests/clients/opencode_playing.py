"""A program that serves HTTP as `opencode serve` does, as far as we use it, for tests:

    python -m tests.clients.opencode_playing RECORD serve --hostname HOST --port PORT

It makes the database that its environment names, notes how it was started and every request in
the file RECORD (a prompt with the rows it would be answered from), and answers `said N: WORDS`.
`WAIT` in a prompt makes it begin an answer and never end it, `DIE` ends it in mid-answer, `ERROR`
fails it, `CALL` makes it ask a question and tell what became of that."""

from __future__ import annotations

import base64
import itertools
import json
import os
import queue
import sqlite3
import sys
import threading
from collections.abc import Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.clients.cabin import SCHEMA

RECORD = Path(sys.argv[1])
DATABASE = os.environ.get("OPENCODE_DB", "")
LOCK = threading.Lock()
LISTENERS: list[queue.Queue[dict[str, Any]]] = []
NUMBERS = itertools.count(1)
REPLIES: queue.Queue[str] = queue.Queue()


def note(what: Mapping[str, Any]) -> None:
    with LOCK, RECORD.open("a") as kept:
        kept.write(json.dumps(what) + "\n")


def rows(statement: str) -> list[Any]:
    with closing(sqlite3.connect(DATABASE)) as database:
        return [list(row) for row in database.execute(statement)]


def emit(kind: str, session: str, **about: Any) -> None:
    for listener in list(LISTENERS):
        listener.put({"type": kind, "properties": {"sessionID": session, **about}})


def answer(session: str, prompt: Mapping[str, Any]) -> None:
    words = prompt["parts"][0]["text"].rpartition("\n")[2]
    n = next(NUMBERS)
    text, message = f"said {n}: {words} ", f"msg_{session}_{n}"
    emit("session.status", session, status={"type": "busy"})
    info: dict[str, Any] = {"id": message, "role": "assistant", "time": {"created": 1}}
    info |= {"providerID": "stub", "modelID": "played"}
    emit("message.updated", session, info=info)
    emit("message.part.updated", "ses_other", part={"id": "p", "type": "text", "text": "not ours"})
    if "CALL" in words:
        emit("question.asked", session, id="que_1")
        text = f"the question was {REPLIES.get(timeout=20)}"
    part = {"id": f"prt_{n}", "messageID": message, "type": "text", "text": ""}
    emit("message.part.updated", session, part={**part, "id": "r", "type": "reasoning"})
    emit("message.part.delta", session, messageID=message, partID="r", field="text", delta="Hm.")
    emit("message.part.updated", session, part=part)
    for piece in (text[:4], text[4:]):
        about = {"messageID": message, "partID": f"prt_{n}", "field": "text", "delta": piece}
        emit("message.part.delta", session, **about)
        if "WAIT" in words:
            threading.Event().wait(60)
        if "DIE" in words:
            os._exit(1)
    if "ERROR" in words:
        error = {"name": "APIError", "data": {"message": "529", "statusCode": 529}}
        emit("message.updated", session, info={**info, "error": error})
        return
    whole = {**part, "text": text.rstrip(), "time": {"start": 1, "end": 2}}
    emit("message.part.updated", session, part=whole)
    tokens = {"input": 2, "output": 3, "reasoning": 0, "cache": {"read": 40, "write": 0}}
    done = {**info, "finish": "stop", "tokens": tokens, "time": {"created": 1, "completed": 2}}
    emit("message.updated", session, info=done)
    emit("session.status", session, status={"type": "idle"})
    emit("session.idle", session)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]

    def handle_one(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        wanted = f"opencode:{os.environ['OPENCODE_SERVER_PASSWORD']}"
        token = base64.b64encode(wanted.encode()).decode()
        if self.headers.get("authorization") != f"Basic {token}":
            self.reply({}, 401)
            return
        noted: dict[str, Any] = {"request": f"{self.command} {self.path}", "body": body}
        if self.path.endswith("prompt_async"):
            noted["messages"] = [id for (id,) in rows("SELECT id FROM message ORDER BY id")]
            noted["parts"] = len(rows("SELECT id FROM part"))
            (noted["session"],) = rows("SELECT id, parent_id, project_id, revert FROM session")
        note(noted)
        if self.path == "/event":
            self.listen()
            return
        path = self.path.partition("?")[0].split("/")[1:]
        self.reply(*self.found(path, body))
        if path[-1] == "prompt_async":
            threading.Thread(target=answer, args=(path[1], body), daemon=True).start()

    do_GET = do_POST = do_PATCH = do_DELETE = handle_one

    def found(self, path: list[str], body: Any) -> tuple[Any, int]:
        match self.command, path:
            case "GET", ["agent"]:
                rule = {"permission": "edit", "pattern": "*", "action": "deny"}
                return [{"name": "build", "permission": [rule]}, {"name": "plan"}], 200
            case "GET", ["experimental", "tool", "ids"]:
                return ["bash", "edit", "deploy"], 200
            case "GET", ["session", id]:
                ((rules,),) = rows(f"SELECT permission FROM session WHERE id = '{id}'")
                lax = "PLAYED_LAX" in os.environ
                return {"id": id, "permission": [] if lax else json.loads(rules)}, 200
            case "POST", ["session", _, "prompt_async"]:
                return None, 204
            case "POST", ["session", _, "message"]:
                return {"info": {"id": "msg_note"}}, 200
            case "POST", ["question", _, "reject"]:
                REPLIES.put("rejected")
                return True, 200
            case _:
                return {"data": {"message": "no such place"}}, 404

    def reply(self, found: Any, status: int = 200) -> None:
        text = b"" if found is None else json.dumps(found).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def listen(self) -> None:
        mine: queue.Queue[dict[str, Any]] = queue.Queue()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        LISTENERS.append(mine)
        event: dict[str, Any] = {"type": "server.connected", "properties": {}}
        try:
            while True:
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
                event = mine.get()
        except OSError:
            LISTENERS.remove(mine)
            self.close_connection = True


def main() -> None:
    names = ("SIDECHAT_HOSTED", "OPENCODE_CONFIG_CONTENT", "OPENCODE_SERVER_USERNAME")
    names += ("XDG_DATA_HOME", "XDG_STATE_HOME", "OPENCODE_DB")
    environ = {name: os.environ.get(name) for name in names}
    note({"argv": sys.argv[2:], "pid": os.getpid(), "cwd": os.getcwd(), "environ": environ})
    if "PLAYED_BROKEN" in os.environ:
        sys.exit(1)
    if DATABASE:
        with closing(sqlite3.connect(DATABASE)) as database:
            database.executescript(SCHEMA + "CREATE TABLE project (id text, worktree text);")
            database.execute("INSERT INTO project VALUES ('global', '/')")
            database.commit()
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[-1])), Handler)
    server.daemon_threads = True
    print(f"opencode server listening on http://127.0.0.1:{sys.argv[-1]}", flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    main()
