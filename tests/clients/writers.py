"""Writes conversations as the other clients write them, step by step, for tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Protocol

Json = dict[str, Any]
BEGUN = 1_796_000_000


class Writer(Protocol):
    """A conversation's file while it comes into being; each step is written when it happens."""

    def said(self, words: str) -> None: ...
    def calls(self, id: str, name: str, arguments: Json) -> None: ...
    def result(self, id: str, words: str) -> None: ...
    def answer(self, words: str) -> None: ...
    def text(self) -> bytes: ...


def steps(writer: Writer, first: str) -> Iterator[None]:
    """A conversation of three turns, one of them with a call."""
    writer.said(first)
    yield
    writer.answer("An answer to that.")
    yield
    writer.said("And some more")
    yield
    writer.calls("c1", "read_file", {"path": "a.txt"})
    yield
    writer.result("c1", "The text of a.txt")
    yield
    writer.answer("It says so.")
    yield
    writer.said("A last question")
    yield
    writer.answer("A last answer.")
    yield


def talked(writer: Writer, first: str) -> Writer:
    for _ in steps(writer, first):
        pass
    return writer


def moments(writer: Writer) -> list[bytes]:
    """The file after each step."""
    return [writer.text() for _ in steps(writer, "First words")]


class Lines:
    """A file with an object a line."""

    def __init__(self, ref: str = "r1", cwd: str = "/srv/ferryline") -> None:
        self.ref, self.cwd = ref, cwd
        self.lines: list[Json] = []
        self.now = BEGUN * 1000

    def put(self, line: Json) -> Json:
        self.now += 1000
        self.lines.append(line)
        return line

    def time(self) -> str:
        return f"2026-12-01T10:{len(self.lines) // 60:02}:{len(self.lines) % 60:02}.000Z"

    def text(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


class Gemini(Lines):
    def __init__(self, ref: str = "r1", cwd: str = "/srv/ferryline") -> None:
        super().__init__(ref, cwd)
        self.put({"sessionId": ref, "projectHash": "h", "startTime": self.time(), "kind": "main"})

    def message(self, kind: str, content: Any, **more: Any) -> Json:
        id = f"{self.ref}-{len(self.lines)}"
        return self.put(
            {"id": id, "timestamp": self.time(), "type": kind, "content": content, **more}
        )

    def said(self, words: str) -> None:
        self.message("user", [{"text": words}])

    def answer(self, words: str) -> None:
        tokens = {"input": 9, "output": 3, "cached": 0, "thoughts": 0, "tool": 0, "total": 12}
        self.message("gemini", words, thoughts=[], tokens=tokens, model="gemini-2.5-pro")

    def calls(self, id: str, name: str, arguments: Json) -> None:
        self.asked = {"id": id, "name": name, "args": arguments}
        self.answer("")

    def result(self, id: str, words: str) -> None:
        """The answer is written once more, with its calls and what came of them."""
        response = {"functionResponse": {"id": id, "name": "n", "response": {"output": words}}}
        done = {**self.asked, "status": "success", "result": [response]}
        self.put({**self.lines[-1], "toolCalls": [done]})
        self.message("user", [response])


class Qwen(Lines):
    def record(self, kind: str, **more: Any) -> Json:
        above = self.lines[-1]["uuid"] if self.lines else None
        uuid = f"{self.ref}-{len(self.lines)}"
        return self.put(
            {"uuid": uuid, "parentUuid": above, "sessionId": self.ref, "timestamp": self.time()}
            | {"type": kind, "cwd": self.cwd, "version": "0.24.4", **more}
        )

    def said(self, words: str) -> None:
        message = {"role": "user", "parts": [{"text": words}]}
        self.record("user", provenance="real_user", message=message)
        self.record("system", subtype="attribution_snapshot", systemPayload={})

    def model(self, *parts: Json) -> None:
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5}
        message = {"role": "model", "parts": list(parts)}
        self.record("assistant", model="qwen3", message=message, usageMetadata=usage)

    def answer(self, words: str) -> None:
        self.model({"text": words})

    def calls(self, id: str, name: str, arguments: Json) -> None:
        self.model({"functionCall": {"id": id, "name": name, "args": arguments}})

    def result(self, id: str, words: str) -> None:
        part = {"functionResponse": {"id": id, "name": "n", "response": {"output": words}}}
        message = {"role": "user", "parts": [part]}
        self.record("tool_result", message=message, toolCallResult={"status": "success"})


class Copilot(Lines):
    """Copilot CLI; with `editor`, the events that VS Code writes for hooks."""

    def __init__(
        self, ref: str = "r1", cwd: str = "/srv/ferryline", editor: str | None = None
    ) -> None:
        super().__init__(ref, cwd)
        about: Json = {"sessionId": ref, "version": 1, "copilotVersion": "1.0.102"}
        about |= {"context": {"cwd": cwd}} if editor is None else {"vscodeVersion": editor}
        self.event("session.start", about)

    def event(self, kind: str, data: Json, **more: Any) -> Json:
        above = self.lines[-1]["id"] if self.lines else None
        id = f"{self.ref}-{len(self.lines)}"
        return self.put(
            {"type": kind, "data": data, "id": id, "timestamp": self.time(), "parentId": above}
            | more
        )

    def said(self, words: str) -> None:
        sent = f"<current_datetime>{self.time()}</current_datetime>\n\n{words}"
        self.event("user.message", {"content": words, "transformedContent": sent})

    def model(self, words: str, *asked: Json) -> None:
        self.event("assistant.turn_start", {"turnId": "0"})
        said = {"content": words, "toolRequests": list(asked), "model": "gpt-5-mini"}
        self.event("assistant.message", said)

    def answer(self, words: str) -> None:
        self.model(words)
        self.event("assistant.turn_end", {"turnId": "0"})

    def calls(self, id: str, name: str, arguments: Json) -> None:
        self.model("", {"toolCallId": id, "name": name, "arguments": arguments})
        self.event("tool.execution_start", {"toolCallId": id, "toolName": name})

    def result(self, id: str, words: str) -> None:
        done = {"toolCallId": id, "success": True, "result": {"content": words}}
        self.event("tool.execution_complete", done)
        self.event("assistant.turn_end", {"turnId": "0"})


class Cursor(Lines):
    def line(self, role: str, *blocks: Json) -> None:
        self.put({"role": role, "message": {"content": list(blocks)}})

    def said(self, words: str) -> None:
        self.line("user", {"type": "text", "text": f"<user_query>\n{words}\n</user_query>"})

    def answer(self, words: str) -> None:
        self.line("assistant", {"type": "text", "text": words})

    def calls(self, id: str, name: str, arguments: Json) -> None:
        self.line("assistant", {"type": "tool_use", "name": name, "input": arguments})

    def result(self, id: str, words: str) -> None:
        """It is not written."""


class Chat(Lines):
    """A chat session of VS Code: a log of changes."""

    def __init__(self, ref: str = "r1", cwd: str = "/srv/ferryline") -> None:
        super().__init__(ref, cwd)
        self.rounds: list[Json] = []
        self.results: Json = {}
        self.requests = 0
        self.put({"kind": 0, "v": {"version": 3, "sessionId": ref, "requests": []}})

    def said(self, words: str) -> None:
        self.rounds, self.results = [], {}
        id = f"request_{self.ref}_{self.requests}"
        request = {"requestId": id, "timestamp": self.now, "message": {"text": words}}
        self.put({"kind": 2, "k": ["requests"], "v": [{**request, "modelId": "copilot/gpt-5"}]})
        self.requests += 1

    def change(self, whole: bool) -> None:
        rendered = [{"type": 1, "text": "<context>Today.</context>\n<userRequest>\n"}]
        about = {"toolCallRounds": self.rounds, "toolCallResults": self.results}
        about |= {"renderedUserMessage": rendered}
        path = ["requests", self.requests - 1, "result"]
        if whole:
            self.put({"kind": 1, "k": path, "v": {"metadata": about}})

    def round(self, words: str, *asked: Json) -> None:
        id = f"round_{self.ref}_{self.requests}_{len(self.rounds)}"
        self.rounds = [*self.rounds, {"id": id, "response": words, "toolCalls": list(asked)}]

    def answer(self, words: str) -> None:
        self.round(words)
        self.change(whole=True)

    def calls(self, id: str, name: str, arguments: Json) -> None:
        self.round("", {"id": id, "name": name, "arguments": json.dumps(arguments)})
        self.change(whole=False)

    def result(self, id: str, words: str) -> None:
        node = {"type": 1, "children": [{"type": 2, "text": words, "lineBreakBefore": True}]}
        self.results = {**self.results, id: {"content": [{"value": {"node": node}}]}}
        self.change(whole=False)
