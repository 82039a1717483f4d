"""A program that talks on its pipes as pi's RPC mode does, for tests:

    python -m tests.clients.pi_playing RECORD [switches of the real one]

It notes its switches, environment, what it was given and its input in the file RECORD, and answers
`said N: WORDS`. `WAIT` in a message makes it begin an answer and never end it; `DIE` ends it in
mid-answer; `CALL` makes it ask for tools that are denied; `RETRY` makes it fail once; `FAIL` for
good; `TAKEN` says that an extension took the message. `OPEN` as a switch hides the gate."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def say(type: str, **what: Any) -> None:
    sys.stdout.write(json.dumps({"type": type, **what}) + "\n")
    sys.stdout.flush()


def ended(words: str, stop: str, **more: Any) -> None:
    usage = {"input": 2, "output": 3, "cacheRead": 40, "cacheWrite": 0}
    content = [{"type": "text", "text": words}] if words else []
    about = {"role": "assistant", "model": "played", "stopReason": stop, "usage": usage, **more}
    say("message_end", message={"content": content, **about})


def answer(number: int, words: str) -> None:
    heard = f"said {number}: {words}"
    for _ in range(40 if "CALLS" in words else 1 if "CALL" in words else 0):
        ended("", "toolUse")
        say("tool_execution_end", toolCallId="c", toolName="write", isError=True)
    if "RETRY" in words or "FAIL" in words:
        ended("said", "error", errorMessage="529 overloaded")
    if "FAIL" in words:
        say("agent_settled", aborted=False)
        return
    for piece in (heard[:4], heard[4:]):
        event = {"type": "text_delta", "contentIndex": 0, "delta": piece}
        say("message_update", usage={}, assistantMessageEvent=event)
        if "WAIT" in words:
            time.sleep(600)
        if "DIE" in words:
            os._exit(1)
    ended(heard, "length" if "LONG" in words else "stop")
    say("agent_settled", aborted=False)


def main(record: Path, argv: list[str]) -> None:
    def note(what: Any) -> None:
        with record.open("a") as kept:
            kept.write(json.dumps(what) + "\n")

    copy, gate = (Path(argv[argv.index(name) + 1]) for name in ("--fork", "-e"))
    names = ("SIDECHAT_HOSTED", "PI_SESSION_ID", "PI_SESSION_FILE")
    environ = {name: os.environ[name] for name in names if name in os.environ}
    last = json.loads(copy.read_bytes().splitlines()[-1])["id"]
    note({"argv": argv, "pid": os.getpid(), "environ": environ, "last": last})
    say("extension_ui_request", id="u1", method="confirm", title="Sure?")
    number = 0
    for line in sys.stdin:
        said = json.loads(line)
        if said["type"] == "get_commands":
            name = "other" if "OPEN" in argv else "sidechat-gate"
            assert name == "other" or f'"{name}"' in gate.read_text()
            say("response", id=said["id"], success=True, data={"commands": [{"name": name}]})
        elif said["type"] == "prompt":
            number += 1
            note(said["message"])
            how = "handled" if "TAKEN" in said["message"] else "started"
            response = {"id": said["id"], "command": "prompt", "data": {"disposition": how}}
            say("response", success="REFUSED" not in said["message"], error="no key", **response)
            answer(number, said["message"].rpartition("\n")[2])
        else:
            note(said)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
