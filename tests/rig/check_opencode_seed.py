"""Drives opencode through `opencode_seed.sh`, keeping what we read of its conversation after every
prompt, and judges from the stub model's record: that is what opencode had sent."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
from check_opencode import requests
from rows import beside, tell

from sidechat_mcp.clients.opencode.client import Opencode
from sidechat_mcp.clients.opencode.server import ask, serve
from sidechat_mcp.core.assemble import Message, assemble
from sidechat_mcp.core.content import Text, ToolUse
from sidechat_mcp.core.events import Event
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.ports.client import Transcript

MODEL = {"providerID": "stub", "modelID": "stub-model"}
STEPS: list[tuple[str, str]] = [
    ("message", 'ONE CALLTOOL ^read$ {"filePath":"a.txt"}'),
    ("shell", "echo from a shell; exit 3"),
    ("message", "TWO after a command"),
    ("note", "A note."),
    ("message", "THREE after a note"),
    ("message", "LOST by an undo"),
    ("undo", ""),
    ("message", "FOUR after an undo"),
    ("summarize", ""),
    ("message", "FIVE after a compaction"),
]
WORDS = ("ONE", "TWO", "THREE", "FOUR", "FIVE")


async def drive(out: Path) -> int:
    served = await serve("opencode", os.getcwd(), os.environ, {})
    try:
        async with served.client() as client:
            session = (await ask(client, "POST", "/session", {"title": "A talk"}))["id"]
            place = f"/session/{session}"
            for kind, words in STEPS:
                if kind == "undo":
                    said = await ask(client, "GET", f"{place}/message")
                    last = [one["info"]["id"] for one in said if one["info"]["role"] == "user"][-1]
                    await ask(client, "POST", f"{place}/revert", {"messageID": last})
                elif kind == "summarize":
                    await ask(client, "POST", f"{place}/summarize", MODEL)
                elif kind == "shell":
                    await ask(
                        client, "POST", f"{place}/shell", {"agent": "build", "command": words}
                    )
                else:
                    part = {"type": "text", "text": words, "synthetic": kind == "note"}
                    body = {"agent": "build", "model": MODEL, "parts": [part]}
                    body |= {"noReply": True} if kind == "note" else {}
                    await ask(client, "POST", f"{place}/message", body)
                word = words.partition(" ")[0]
                if word in WORDS:
                    found = await _read(session)
                    (out / f"after-{word}.json").write_text(json.dumps(seen(found)))
    finally:
        await served.gone()
    return 0


async def _read(session: str) -> Transcript:
    client = Opencode(os.environ)
    found = await client.find(session, None)
    assert found is not None
    return await client.read(found)


def seen(found: Transcript) -> dict[str, Any]:
    drafts = enumerate(found.drafts)
    events = [Event(SessionId("s"), seq, one.id, one.at, one.body) for seq, one in drafts]
    return {
        "messages": [ours(message) for message in assemble(events).messages],
        "open": [found.open_turns, found.open_events, found.open_calls],
        "unreadable": dict(found.skipped.unreadable),
    }


def ours(message: Message) -> list[Any]:
    """`role, texts, calls, call`; a compaction's question and answer are one message of ours."""
    calls = [[block.id, block.name] for block in message.content if isinstance(block, ToolUse)]
    texts = [block.text for block in message.content if isinstance(block, Text)]
    role = "compaction" if message.source == {"kind": "compaction"} else message.role
    return ["user" if role == "context" else role, texts, calls, message.call]


def sent(body: dict[str, Any]) -> list[list[Any]]:
    found: list[list[Any]] = []
    for one in body["messages"]:
        content: Any = one.get("content") or []
        texts = [content] if isinstance(content, str) else [part["text"] for part in content]
        calls = [[c["id"], c["function"]["name"]] for c in one.get("tool_calls", [])]
        if one["role"] != "system":
            found.append([one["role"], texts, calls, one.get("tool_call_id")])
    return found


def spread(messages: list[list[Any]]) -> list[list[Any]]:
    """A compaction as opencode tells it: it asks, and its model has answered."""
    found: list[list[Any]] = []
    for one in messages:
        if one[0] == "compaction":
            found += [["user", one[1][:1], [], None], ["assistant", one[1][1:], [], None]]
        else:
            found.append(one)
    return found


def last_of(every: list[dict[str, Any]], word: str) -> dict[str, Any]:
    """The last request of the turn that `word` began."""

    def asks(one: dict[str, Any]) -> bool:
        said = [texts[0] for role, texts, _, _ in sent(one) if role == "user" and texts]
        return bool(said) and said[-1].partition(" ")[0] == word

    return [one for one in every if asks(one)][-1]


def judge(out: Path) -> int:
    every = requests(out)
    rows: dict[str, bool] = {}
    for word in WORDS:
        found = json.loads((out / f"after-{word}.json").read_text("utf-8"))
        read, told = spread(found["messages"])[:-1], sent(last_of(every, word))
        rows[f"{word}: {len(read)} messages read as they were sent"] = read == told
        rows[f"{word}: nothing unreadable, nothing open"] = not found["unreadable"] and found[
            "open"
        ] == [0, 0, 0]
        if read != told:
            sys.stdout.write(f"read {json.dumps(read)}\nsent {json.dumps(told)}\n")
    return tell("opencode", "what is read is what is sent", beside(rows))


if __name__ == "__main__":
    where = Path(sys.argv[2])
    raise SystemExit(anyio.run(drive, where) if sys.argv[1] == "drive" else judge(where))
