"""A program that talks on its pipes as Codex's app-server does, for tests:

    python -m tests.clients.codex_playing RECORD app-server [switches of the real one]

It notes its switches, environment and every request in the file RECORD, and answers each turn
`said N: WORDS`. `WAIT` in a question makes it begin an answer and never end it, `DIE` ends it in
mid-answer, `RUN` has it carry out a command, `LOOP` has a model do nothing but ask for tools,
`ASK` has it ask us for leave, `START` makes it start a server in a group of its own and tell its
pid, and `FAIL kind` fails the turn. It trusts no hook but one that its
switches vouch for, and none at all when it plays `OLD`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

KEY, DIGEST = "/<session-flags>/config.toml:pre_tool_use:0:0", "sha256:played"
SERVERS: dict[str, Any] = {
    "notes": {"command": "/opt/sidechat/bin/sidechat-mcp", "args": [], "tools": {"merge": {}}},
    "maps": {"url": "https://maps.example/sidechat", "enabled": True},
    "off": {"command": "off", "enabled": False},
}

SERVER = "import time; time.sleep(600)"


def say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def tell(method: str, **params: Any) -> None:
    say(method=method, params={"threadId": "fork-1", **params}, emittedAtMs=0)


def hooks(argv: list[str]) -> list[dict[str, Any]]:
    given = next((one for one in argv if one.startswith("hooks.PreToolUse=")), None)
    if given is None or "OLD" in os.environ.get("PLAY", ""):
        return []
    command = json.loads(given.partition("command=")[2].rpartition("}]")[0].rpartition("}")[0])
    trusted = any(one.startswith("hooks.state=") and DIGEST in one for one in argv)
    status = "trusted" if trusted else "untrusted"
    about = {"key": KEY, "currentHash": DIGEST, "source": "sessionFlags", "enabled": True}
    return [{**about, "command": command, "trustStatus": status}]


def result(method: str, argv: list[str]) -> dict[str, Any]:
    match method:
        case "hooks/list":
            return {"data": [{"cwd": "/", "hooks": hooks(argv)}]}
        case "config/read":
            return {"config": {"mcp_servers": SERVERS, "web_search": None}}
        case "thread/fork":
            return {"thread": {"id": "fork-1"}, "model": "played"}
        case _:
            return {}


def up() -> None:
    """The servers come up, one of them after a while, and one never will."""
    for name, status in (("maps", "starting"), ("notes", "ready"), ("maps", "failed")):
        tell("mcpServer/startupStatus/updated", name=name, status=status)


def answer(number: int, turn: str, words: str) -> None:
    heard = f"said {number}: {words}"
    tell("item/agentMessage/delta", threadId="other", turnId=turn, itemId="x", delta="not ours")
    tell("item/agentMessage/delta", turnId="other", itemId="x", delta="not ours")
    if "ASK" in words:
        say(id=99, method="item/permissions/requestApproval", params={"threadId": "fork-1"})
        heard = json.loads(sys.stdin.readline())["error"]["message"]
    if "START" in words:
        server = subprocess.Popen([sys.executable, "-c", SERVER], start_new_session=True)
        heard = str(server.pid)
    if "RUN" in words:
        tell("item/started", turnId=turn, item={"type": "commandExecution", "command": "rm"})
        time.sleep(600)
    for _ in range(40 if "LOOP" in words else 0):
        tell("hook/completed", turnId=turn, run={"status": "blocked"})
    if "FAIL" in words:
        error = {"message": "no", "codexErrorInfo": json.loads(words.partition("FAIL ")[2])}
        tell("turn/completed", turn={"id": turn, "status": "failed", "error": error})
        return
    for piece in (heard[:4], heard[4:]):
        tell("item/agentMessage/delta", turnId=turn, itemId="m", delta=piece)
        if "WAIT" in words:
            time.sleep(600)
        if "DIE" in words:
            os._exit(1)
    tell("item/completed", turnId=turn, item={"type": "reasoning", "summary": ["Hm."]})
    tell("item/completed", turnId=turn, item={"type": "agentMessage", "id": "m", "text": heard})
    for output in (3, 4):
        last = {"inputTokens": 40, "outputTokens": output, "cachedInputTokens": 30}
        tell("thread/tokenUsage/updated", turnId=turn, tokenUsage={"last": last})
    tell("turn/completed", turn={"id": turn, "status": "completed", "error": None})


def main(record: Path) -> None:
    argv = sys.argv[2:]

    def note(what: Any) -> None:
        with record.open("a") as kept:
            kept.write(json.dumps(what) + "\n")

    note({"argv": argv, "pid": os.getpid(), "guard": os.environ.get("SIDECHAT_HOSTED")})
    number = 0
    for line in sys.stdin:
        said = json.loads(line)
        note(said)
        method, params = said["method"], said.get("params", {})
        if "id" not in said:
            continue
        if method == "turn/start":
            number += 1
            say(id=said["id"], result={"turn": {"id": f"turn-{number}"}})
            words = params["input"][0]["text"].rpartition("\n")[2]
            answer(number, f"turn-{number}", words)
        else:
            say(id=said["id"], result=result(method, argv))
        if method == "thread/fork":
            up()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
