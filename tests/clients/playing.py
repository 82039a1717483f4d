"""A program that talks on its pipes as Claude Code's headless fork does, for tests:

    python -m tests.clients.playing RECORD [switches of the real one]

It notes its switches, environment and input in the file RECORD, and answers `said N: WORDS`.
`WAIT` in a message makes it begin an answer and never end it; `DIE` ends it in mid-answer;
`CALL` makes it ask for a tool and tell what became of that."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

UPDATES = "CLAUDE_CODE_THINKING_DISPLAY_UPDATES"


def say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def answer(number: int, words: str) -> None:
    heard = f"said {number}: {words}"
    if "CALL" in words:
        say(type="control_request", request_id="r1", request={"subtype": "can_use_tool"})
        reply = json.loads(sys.stdin.readline())
        heard = f"tool: {reply['response']['response']['behavior']}"
    for piece in (heard[:4], heard[4:]):
        delta = {"type": "text_delta", "text": piece}
        say(type="stream_event", event={"type": "content_block_delta", "delta": delta})
        if "WAIT" in words:
            time.sleep(600)
        if "DIE" in words:
            os._exit(1)
    message = {"model": "played", "content": [{"type": "text", "text": heard}]}
    say(type="assistant", message=message)
    usage = {"input_tokens": 2, "output_tokens": 3, "cache_read_input_tokens": 40}
    say(type="result", subtype="success", is_error=False, result=heard, usage=usage)


def main(record: Path) -> None:
    guard = os.environ.get("SIDECHAT_HOSTED")
    secrets = [name for name in os.environ if "MESSAGING" in name]
    begun: dict[str, Any] = {"argv": sys.argv[2:], "pid": os.getpid(), "guard": guard}
    begun |= {"secrets": secrets, "updates": os.environ.get(UPDATES)}
    with record.open("a") as kept:
        kept.write(json.dumps(begun) + "\n")
    number = 0
    for line in sys.stdin:
        said = json.loads(line)
        if said["type"] == "user":
            number += 1
            with record.open("a") as kept:
                kept.write(json.dumps(said["message"]["content"]) + "\n")
            answer(number, said["message"]["content"].rpartition("\n")[2])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
