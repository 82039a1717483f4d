"""Drives pi through `pi_seed.sh`, keeping its session file after every prompt, and judges from the
stub model's record: what a file reads as is what pi sent when it was written."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from check_pi import requests
from rows import beside, tell

from sidechat_mcp.clients.pi.transcript import read
from sidechat_mcp.core.assemble import Message, assemble
from sidechat_mcp.core.content import ToolUse, plain
from sidechat_mcp.core.events import Event
from sidechat_mcp.core.ids import SessionId

STEPS: list[dict[str, Any]] = [
    {"type": "prompt", "message": 'ONE CALLTOOL ^read$ {"path":"a.txt"}'},
    {"type": "bash", "command": "echo from a shell; exit 3"},
    {"type": "prompt", "message": "TWO after a shell run"},
    {"type": "prompt", "message": "/memo"},
    {"type": "prompt", "message": "THREE after a memo"},
    {"type": "prompt", "message": "/back"},
    {"type": "prompt", "message": "FOUR after coming back"},
    {"type": "compact"},
    {"type": "prompt", "message": "FIVE after a compaction"},
]
WORDS = ("ONE", "TWO", "THREE", "FOUR", "FIVE")


def drive(out: Path, argv: list[str]) -> int:
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pi:
        assert pi.stdin is not None
        assert pi.stdout is not None
        for step in STEPS:
            pi.stdin.write(json.dumps({"id": "s", **step}).encode() + b"\n")
            pi.stdin.flush()
            for line in pi.stdout:
                said = json.loads(line)
                if said["type"] == "response" and not said["success"]:
                    raise SystemExit(f"FAILED: {step}: {said}")
                started = said.get("data", {}).get("disposition") == "started"
                if said["type"] == "agent_settled" or (said["type"] == "response" and not started):
                    break
            word = str(step.get("message", "")).partition(" ")[0]
            if word in WORDS:
                (file,) = (out / "home/.pi/agent/sessions").glob("*/*.jsonl")
                shutil.copy(file, out / f"after-{word}.jsonl")
        pi.stdin.close()
    return pi.returncode


def sent(body: dict[str, Any]) -> list[Any]:
    """A request's messages as `role, text, calls, call`."""
    found: list[Any] = []
    for one in body["messages"]:
        content = one.get("content") or ""
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        calls = [(c["id"], c["function"]["name"]) for c in one.get("tool_calls", [])]
        if one["role"] != "system":
            found.append((one["role"], text, calls, one.get("tool_call_id")))
    return found


def ours(message: Message) -> Any:
    calls = [(block.id, block.name) for block in message.content if isinstance(block, ToolUse)]
    role = "user" if message.role == "context" else message.role
    return (role, plain(message.content), calls, message.call)


def last_of(every: list[dict[str, Any]], word: str) -> dict[str, Any]:
    """The last request of the turn that `word` began; a summariser's is none."""
    later = WORDS[WORDS.index(word) + 1 :]
    asked = [
        one
        for one in every
        if (texts := [text.partition(" ")[0] for _, text, _, _ in sent(one)])
        and word in texts
        and not set(later) & set(texts)
    ]
    return asked[-1]


def judged(out: Path, word: str, request: dict[str, Any]) -> dict[str, bool]:
    with (out / f"after-{word}.jsonl").open("rb") as file:
        found = read(file, "file")
    context = assemble(
        [
            Event(SessionId("s"), seq, draft.id, draft.at, draft.body)
            for seq, draft in enumerate(found.drafts)
        ]
    )
    shown = [ours(one) for one in context.messages]
    system = next(one["content"] for one in request["messages"] if one["role"] == "system")
    tools = json.loads(context.header.tools.text or "[]")
    return {
        f"{word}: {len(shown) - 1} messages read as they were sent": shown[:-1] == sent(request),
        f"{word}: system prompt and {len(tools)} tools, too": context.header.system.text == system
        and [(one["name"], one["input_schema"]) for one in tools]
        == [(one["function"]["name"], one["function"]["parameters"]) for one in request["tools"]],
        f"{word}: nothing unreadable, nothing open": not found.skipped.unreadable
        and found.open_turns == 0,
    }


def judge(out: Path) -> int:
    every = requests(out)
    rows: dict[str, bool] = {}
    for word in WORDS:
        rows |= judged(out, word, last_of(every, word))
    return tell("pi", "what is read is what is sent", beside(rows))


if __name__ == "__main__":
    where = Path(sys.argv[2])
    raise SystemExit(drive(where, sys.argv[3:]) if sys.argv[1] == "drive" else judge(where))
