"""Waits until the stub model has answered a prompt: LOG BEFORE KIND WORDS.

BEFORE is how many requests there were when it was typed in; KIND is `plain` for an answer in words,
`tool` for one after a tool's result, `call` for the call itself."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

PATIENCE = 90.0
FEW = 3
"""Tools that a request has which is no conversation's but asks for a title or the like."""


def heard(one: dict[str, Any], kind: str, words: str) -> bool:
    view: dict[str, Any] = one.get("view") or {}
    if len(view.get("tools", ())) <= FEW:
        return False
    answer = one["answer"]
    said = str(answer.get("text", ""))
    match kind:
        case "plain":
            last = json.dumps(view["messages"][-3:], ensure_ascii=False)
            return words in last and bool(said) and not said.startswith("STUB-SAW-TOOL")
        case "tool":
            return said.startswith("STUB-SAW-TOOL")
        case _:
            return "tool" in answer


def main(log: Path, before: int, kind: str, words: str) -> int:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        lines = log.read_text("utf-8").splitlines()[before:]
        if any(heard(json.loads(line), kind, words) for line in lines if line.endswith("}")):
            return 0
        time.sleep(0.1)
    sys.stdout.write(f"!! no answer to {words[:60]!r}\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]))
