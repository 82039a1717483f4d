"""Judges a run of `codex.sh` from what the stub model and the disk recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
from rows import beside, tell

from sidechat_mcp.clients.codex.client import Codex
from sidechat_mcp.core.assemble import assemble
from sidechat_mcp.core.content import ToolUse, plain
from sidechat_mcp.core.events import Event
from sidechat_mcp.core.ids import SessionId

CLOSED = "</sidechat-note>"
USAGE = {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0}
"""What the stub reports for one request."""
CHAT = "STUB-REPLY CHAT-ONE"


def bodies(out: Path) -> list[dict[str, Any]]:
    """Every model request, in order."""
    lines = (out / "llm.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    return [one["body"] for one in every if one.get("api") == "responses" and one.get("view")]


def last(body: dict[str, Any]) -> str:
    """What a request adds behind the last answer."""
    fresh: list[str] = []
    for item in reversed(body["input"]):
        if item.get("role") == "assistant" or item["type"].endswith("_call"):
            break
        fresh.insert(0, json.dumps(item, ensure_ascii=False))
    return "\n".join(fresh)


def asked(sent: list[dict[str, Any]], words: str) -> dict[str, Any]:
    """The first request whose fresh part holds `words`."""
    for one in sent:
        if words in last(one):
            return one
    raise SystemExit(f"FAILED: no request was sent for {words!r}")


def shown(body: dict[str, Any]) -> str:
    return json.dumps(body["input"], ensure_ascii=False)


def notes(body: dict[str, Any]) -> int:
    """How many notes the model was shown; the stub says some of them after us."""
    items = [item for item in body["input"] if item.get("role") != "assistant"]
    return json.dumps(items).count(CLOSED)


def answer(out: Path, name: str) -> dict[str, Any]:
    return json.loads((out / f"{name}.json").read_text())


def sent_of(body: dict[str, Any]) -> list[tuple[str, str]]:
    """What a request holds behind the base instructions, in a few words an item."""
    found: list[tuple[str, str]] = []
    for item in body["input"][1:]:
        match item["type"]:
            case "message":
                texts = [part["text"] for part in item["content"]]
                found.append((item["role"].replace("developer", "user"), "\n\n".join(texts)))
            case "function_call":
                found.append(("call", f"{item.get('namespace', '')}__{item['name']}".strip("_")))
            case _:
                output: str | list[dict[str, str]] = item["output"]
                parts = [output] if isinstance(output, str) else [one["text"] for one in output]
                found.append(("tool", "\n\n".join(parts)))
    return found


def read_of(home: Path) -> list[tuple[str, str]]:
    """What our reader makes of the conversation, in the same words."""
    client = Codex({"HOME": str(home)})
    (found,) = anyio.run(client.newest, None, 1)
    read = anyio.run(client.read, found)
    session = SessionId("s")
    events = [Event(session, n, one.id, one.at, one.body) for n, one in enumerate(read.drafts)]
    shown: list[tuple[str, str]] = []
    for message in assemble(events).messages:
        role = message.role.replace("context", "user")
        if words := plain(message.content):
            shown.append((role, words))
        shown += [("call", one.name) for one in message.content if isinstance(one, ToolUse)]
    return shown


def same_head(parent: dict[str, Any], child: dict[str, Any]) -> list[str]:
    """Which members of a request's head differ."""
    return sorted(
        name
        for name in parent.keys() | child.keys()
        if name not in ("input", "client_metadata") and parent.get(name) != child.get(name)
    )


def main(out: Path) -> int:
    sent = bodies(out)
    parent = asked(sent, "after the tool merge.")
    child = asked(sent, "SIDEQ-ONE")
    inherited = parent["input"]
    pairs = list(zip(inherited, child["input"], strict=False))
    # Base instructions come first; their item's id is made of the thread's, which is another's.
    same = [a == b or (n == 0 and _nameless(a) == _nameless(b)) for n, (a, b) in enumerate(pairs)]
    added = child["input"][len(inherited) + 1 :]  # Behind the parent's answer to that request.
    by_hook, once_more = asked(sent, "after the hook."), asked(sent, "And once more.")
    answers = [answer(out, name) for name in ("one", "two", "three", "four", "five", "six")]
    report, again = answer(out, "fork"), answer(out, "merged_again")
    agents = [one for one in sent if "SIDEQ-AGENT" in last(one) and "SIDEQ-FOUR" not in last(one)]
    verdicts = {one["verdict"] for one in answer(out, "replay")["sessions"]}
    differ = same_head(parent, child)
    theirs, ours = sent_of(once_more), read_of(out / "home")
    rows = {
        f"what we read is what the client sent, and its answer: {len(ours)} of {len(theirs)}": ours[
            :-1
        ]
        == theirs,
        "the fork report names the client and who pays": report["agent"]["name"] == "codex"
        and "subscription" in report["agent"]["pays"],
        f"inherited items equal: {sum(same)} of {len(inherited)}": all(same),
        f"head (tools, model, cache key, settings) differs in: {differ or 'nothing'}": not differ,
        "behind them only permissions, environment and the question": [
            one.get("role") for one in added
        ]
        == ["developer", "user", "user"],
        "two turns of one chat went to one fork, as it was told them": CHAT
        in shown(asked(sent, "CHAT-TWO"))
        and "Earlier" not in last(asked(sent, "CHAT-TWO")),
        "every side turn was answered": {one["reason"] for one in answers} == {"completed"},
        "usage is the child's own": answers[0]["usage"] == USAGE,
        "each call of the attacker was blocked": all(
            "blocked by PreToolUse hook" in one["answer"] for one in answers[1:5]
        ),
        "no agent was spawned": not agents,
        "no file of the client was changed or added": (out / "kept-before").read_text()
        == (out / "kept-after").read_text(),
        "no file of the project was changed": (out / "tree-before").read_text()
        == (out / "tree-after").read_text(),
        "nothing was left running": not (out / "orphans").read_text().strip(),
        "the note of the merge by tool is in the next request, once": notes(parent) == 1,
        "the note by the hook stands behind that prompt, once": CLOSED in last(by_hook)
        and notes(by_hook) == 2,
        "and is not brought again": CLOSED not in last(once_more) and notes(once_more) == 2,
        "the client's own transcript shows it: delivered": again["delivery"] == "delivered",
        f"replay: {', '.join(sorted(verdicts))}": all(
            "verified" in one or "not rebuildable" in one for one in verdicts
        ),
    }
    return tell("codex", "own ephemeral fork, tools, hook", beside(rows))


def _nameless(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "id"}


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
