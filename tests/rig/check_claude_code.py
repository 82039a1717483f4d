"""Judges a run of `claude_code.sh` from what the stub model and the client recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def requests(out: Path) -> list[dict[str, Any]]:
    """The main conversation's model requests, in order."""
    lines = (out / "llm.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    return [one for one in every if one.get("api") == "messages" and one.get("view")]


def shown(request: dict[str, Any]) -> str:
    return json.dumps(request["body"]["messages"], ensure_ascii=False)


def asked(all_requests: list[dict[str, Any]], words: str) -> dict[str, Any]:
    """The first request whose last message holds `words`."""
    for one in all_requests:
        if words in json.dumps(one["body"]["messages"][-1], ensure_ascii=False):
            return one
    raise SystemExit(f"FAILED: no request was sent for {words!r}")


def main(out: Path) -> int:
    sent = requests(out)
    by_tool = shown(asked(sent, "after the tool merge."))
    by_prompt = shown(asked(sent, "after the prompt merge."))
    fork_result = shown(asked(sent, "sidechat://sessions/"))
    replayed = json.loads((out / "replay.json").read_text())
    rows = {
        "fork by tool: the model got a link and a few lines": "sidechat://sessions/" in fork_result,
        "the note is in the next request, once": by_tool.count("</sidechat-note>") == 1,
        "both notes are in the request after the merge by prompt": by_prompt.count(
            "</sidechat-note>"
        )
        == 2,
        "the note names its child": "sidechat-note id=" in by_tool.replace('\\"', '"'),
        "replay of every session: verified": bool(replayed)
        and "failed" not in json.dumps(replayed),
    }
    for row, held in rows.items():
        sys.stdout.write(f"{'ok    ' if held else 'FAILED'} {row}\n")
    return 0 if all(rows.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
