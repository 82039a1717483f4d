"""A program that serves HTTP as `opencode serve` does, as far as we use it, for tests:

    python -m tests.clients.opencode_playing RECORD serve --hostname HOST --port PORT

It notes how it was started and every request in the file RECORD, keeps its sessions in a file
beside it, and answers `said N: WORDS`. `WAIT` in a prompt makes it begin an answer and never end
it, `DIE` ends it in mid-answer, `ERROR` fails it, `CALL` makes it ask a question and tell what
became of that, `LAX` in a session's title makes it take no rules."""

from __future__ import annotations

import base64
import itertools
import json
import os
import queue
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RECORD = Path(sys.argv[1])
STORE = RECORD.with_name("store.json")
LOCK = threading.Lock()
LISTENERS: list[queue.Queue[dict[str, Any]]] = []
SESSIONS: dict[str, dict[str, Any]] = {}
SAID: dict[str, int] = {}
STOPPED: dict[str, threading.Event] = {}
REPLIES: queue.Queue[str] = queue.Queue()
NUMBERS = itertools.count()


def note(what: Mapping[str, Any]) -> None:
    with LOCK, RECORD.open("a") as kept:
        kept.write(json.dumps(what) + "\n")


def keep() -> None:
    with LOCK:
        STORE.write_text(json.dumps(SESSIONS))


def emit(kind: str, session: str, **about: Any) -> None:
    for listener in list(LISTENERS):
        listener.put({"type": kind, "properties": {"sessionID": session, **about}})


def answer(session: str, prompt: Mapping[str, Any]) -> None:
    words = prompt["parts"][0]["text"].rpartition("\n")[2]
    SAID[session] = n = SAID.get(session, 0) + 1
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
            STOPPED.setdefault(session, threading.Event()).wait(60)
            return
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
        note({"request": f"{self.command} {self.path}", "body": body})
        if self.path == "/event":
            self.listen()
            return
        SESSIONS.clear()  # Others serve over the same store.
        SESSIONS.update(json.loads(STORE.read_text()) if STORE.exists() else {})
        path = self.path.partition("?")[0].split("/")[1:]
        self.reply(*self.found(path, body))
        if path[-1] == "prompt_async":
            threading.Thread(target=answer, args=(path[1], body), daemon=True).start()

    do_GET = do_POST = do_PATCH = do_DELETE = handle_one

    def found(self, path: list[str], body: Any) -> tuple[Any, int]:
        match self.command, path:
            case "GET", ["session"]:
                return list(SESSIONS.values()), 200
            case "GET", ["agent"]:
                rule = {"permission": "edit", "pattern": "*", "action": "deny"}
                return [{"name": "build", "permission": [rule]}, {"name": "plan"}], 200
            case "GET", ["experimental", "tool", "ids"]:
                return ["bash", "edit", "deploy"], 200
            case "GET", ["session", id] if id in SESSIONS:
                return SESSIONS[id], 200
            case "GET", ["session", id] if id.startswith("ses_"):
                title = os.environ.get("PLAYED_TITLE", "Ferries")
                rule = {"permission": "question", "pattern": "*", "action": "deny"}
                return {"id": id, "title": title, "permission": [rule]}, 200
            case "POST", ["session", id, "fork"]:
                made = f"ses_fork_{os.getpid()}_{next(NUMBERS)}"
                SESSIONS[made] = {"id": made, "metadata": {"kept": 1}, "parent": id}
                keep()
                return SESSIONS[made], 200
            case "PATCH", ["session", id]:
                lax = "LAX" in body["title"]
                SESSIONS[id] |= {k: v for k, v in body.items() if not (lax and k == "permission")}
                keep()
                return SESSIONS[id], 200
            case "DELETE", ["session", id]:
                keep() if SESSIONS.pop(id, None) else None
                return True, 200
            case "POST", ["session", _, "prompt_async"]:
                return None, 204
            case "POST", ["session", id, "abort"]:
                STOPPED.setdefault(id, threading.Event()).set()
                return True, 200
            case "POST", ["session", id, "message"]:
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
    environ = {name: os.environ.get(name) for name in names}
    note({"argv": sys.argv[2:], "pid": os.getpid(), "cwd": os.getcwd(), "environ": environ})
    if "PLAYED_BROKEN" in os.environ:
        sys.exit(1)
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[-1])), Handler)
    server.daemon_threads = True
    print(f"opencode server listening on http://127.0.0.1:{sys.argv[-1]}", flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    main()
