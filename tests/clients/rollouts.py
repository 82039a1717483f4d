"""Writes rollouts as Codex does, and a made-up home of a person who works with it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.codex.client import Codex
from sidechat_mcp.ports.client import Call

SUMMARY = "Another language model started this. Its summary: "


@dataclass
class Rollout:
    """Records of one thread. `ordinals` begin where a fork was forked; None writes a file of the
    time before they were written. `turn` is the open turn's id."""

    thread: str
    cwd: str = "/srv/ferryline"
    ordinal: int | None = 0
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    made: int = 0
    turn: str | None = None

    def put(self, kind: str, payload: Mapping[str, Any], **more: Any) -> None:
        seconds = len(self.records) + (self.ordinal or 0)
        stamp = f"2026-12-01T12:{seconds // 60 % 60:02}:{seconds % 60:02}.{seconds % 1000:03}Z"
        record: dict[str, Any] = {"timestamp": stamp}
        if self.ordinal is not None:
            record["ordinal"] = self.ordinal
            self.ordinal += 1
        self.records.append({**record, "type": kind, "payload": dict(payload), **more})

    def event(self, kind: str, **payload: Any) -> None:
        self.put("event_msg", {"type": kind, **payload})

    def id(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}_{self.thread}-{self.made}"

    def opens(self, **meta: Any) -> None:
        """The first record: who this thread is."""
        about = {"id": self.thread, "cwd": self.cwd, "cli_version": "0.171.0", "source": "exec"}
        self.put("session_meta", {**about, "thread_source": "user", **meta})

    def began(self, model: str = "gpt-x", turn: str | None = None, **context: Any) -> None:
        self.turn = turn or self.id("turn")
        self.event("task_started", turn_id=self.turn)
        about = {"turn_id": self.turn, "cwd": self.cwd, "model": model, **context}
        self.put("turn_context", about)

    def item(self, item: Mapping[str, Any], prefix: str = "msg", **metadata: Any) -> None:
        named = {"id": self.id(prefix), **item} if self.ordinal is not None else dict(item)
        self.put("response_item", named, **({"metadata": metadata} if metadata else {}))

    def message(self, role: str, text: str, kind: str | None = None, **metadata: Any) -> None:
        part = "output_text" if role == "assistant" else "input_text"
        item: dict[str, Any] = {"type": "message", "role": role}
        item["content"] = [{"type": part, "text": text}]
        if kind is not None:
            noted = {"turn_id": self.turn, "content_item_kinds": [kind]}
            item["internal_chat_message_metadata_passthrough"] = noted
        self.item(item, **metadata)

    def shown(self, text: str, role: str = "developer", kind: str = "harness.note") -> None:
        self.message(role, text, kind if self.ordinal is not None else None)

    def asked(self, text: str) -> None:
        self.message("user", text, "user.text" if self.ordinal is not None else None)
        content = [{"type": "text", "text": text}]
        self.event("item_completed", item={"type": "UserMessage", "content": content})

    def says(self, text: str, *, counted: bool = True) -> None:
        self.message("assistant", text)
        if counted:
            self.counted()

    def calls(self, *made: tuple[str, Mapping[str, Any]], counted: bool = True) -> list[str]:
        """Parallel calls of one answer; their ids."""
        ids: list[str] = []
        for name, arguments in made:
            space, _, short = name.rpartition("::")
            call: dict[str, Any] = {"type": "function_call", "name": short}
            ids.append(self.id("call"))
            call |= {"call_id": ids[-1], "arguments": json.dumps(arguments)}
            self.item(call | ({"namespace": space} if space else {}), "fc")
        if counted:
            self.counted()
        return ids

    def result(self, call: str, text: str) -> None:
        self.item({"type": "function_call_output", "call_id": call, "output": text}, "fco")

    def counted(self, input: int = 100, output: int = 9) -> None:
        usage = {"input_tokens": input, "cached_input_tokens": 40, "output_tokens": output}
        if self.ordinal is not None:
            response = self.id("resp")
            self.put("token_usage_record", {"response_id": response, "usage": usage})
        total = {"input_tokens": len(self.records) * 1000}
        self.event("token_count", info={"total_token_usage": total, "last_token_usage": usage})

    def over(self, **more: Any) -> None:
        self.event("task_complete", turn_id=self.turn, **more)
        self.turn = None

    def aborted(self) -> None:
        self.shown("<turn_aborted>\nOn purpose.\n</turn_aborted>", "user", "generic.turn_aborted")
        self.event("turn_aborted", turn_id=self.turn, reason="interrupted")
        self.turn = None

    def compacted(self, summary: str, kept: Sequence[str] = (), **payload: Any) -> None:
        """Context begins anew: with what a person typed word for word and a summary."""
        history = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
            for text in (*kept, SUMMARY + summary)
        ]
        whole = {"message": SUMMARY + summary, "replacement_history": history}
        self.put("compacted", {**whole, **payload})

    def text(self) -> bytes:
        return b"".join(line(record) for record in self.records)


def line(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def turn(rollout: Rollout, asked: str, answer: str) -> None:
    """A whole plain turn."""
    rollout.began()
    rollout.asked(asked)
    rollout.says(answer)
    rollout.over()


def talk(thread: str, cwd: str, *words: str) -> Rollout:
    """A conversation of one turn for each of `words`."""
    rollout = Rollout(thread, cwd)
    rollout.opens()
    for said in words or ("Hello there, general question.",):
        turn(rollout, said, f"An answer to: {said}")
    return rollout


def long_talk(thread: str = "t-long", cwd: str = "/srv/ferryline") -> Rollout:
    """Everything that happens in a life without a step back."""
    rollout = Rollout(thread, cwd)
    rollout.opens()
    rollout.began()
    rollout.shown("<permissions instructions>ask first</permissions instructions>")
    rollout.shown(f"<environment_context>{cwd}</environment_context>", "user", "env.context")
    rollout.asked("Which harbours do we serve?")
    rollout.item({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}, "rs")
    rollout.says("I look it up.", counted=False)
    first, second = rollout.calls(("exec_command", {"cmd": "ls"}), ("mcp__maps::find", {"q": "x"}))
    rollout.result(second, "Aarhus")
    rollout.result(first, "harbours.txt")
    rollout.says("Aarhus and Odense.")
    rollout.over()
    rollout.shown("A note put in from outside.", "developer", "unknown")
    rollout.began()
    rollout.asked("Take the night boat too.")
    rollout.calls(("exec_command", {"cmd": "sail"}))
    rollout.aborted()
    turn(rollout, "Is Odense on?", "Yes, from March.")
    rollout.began()
    rollout.message("assistant", "the compactor's words", compaction_output=True)
    rollout.compacted("harbours were listed", ["Which harbours do we serve?", "Is Odense on?"])
    rollout.over()
    rollout.began("gpt-y")
    rollout.asked("And the fare?")
    rollout.asked("In euros, please.")
    rollout.says("Nineteen euros.")
    rollout.over()
    return rollout


@dataclass
class Home:
    """`config` is the client's folder; `written` the seconds at which the next file was."""

    root: Path
    written: float = 1_796_000_000.0

    @property
    def config(self) -> Path:
        return self.root / "home" / ".codex"

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.root / "home")}

    def client(self, patience: float = 0.2, **environ: str) -> Codex:
        return Codex({**self.environ, **environ}, patience)

    def folder(self, name: str) -> str:
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    def put(self, ref: str, text: bytes, day: str = "2026/12/01", place: str = "sessions") -> Path:
        """A thread's file; each is written a minute after the one before."""
        folder = self.config / place / day if place == "sessions" else self.config / place
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-{day.replace('/', '-')}T12-00-00-{ref}.jsonl"
        path.write_bytes(text)
        self.written += 60
        os.utime(path, (self.written, self.written))
        return path


def call(cwd: str, thread: str | None, **environ: str) -> Call:
    meta = {"threadId": thread, "callId": "call_1", "progressToken": 0} if thread else {}
    return Call(meta, environ, (), cwd)
