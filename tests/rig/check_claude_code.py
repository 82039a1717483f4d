"""Judges a run of `claude_code.sh` from what the stub model and the client recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rows import beside, tell

CLOSED = "</sidechat-note>"


def requests(out: Path) -> list[dict[str, Any]]:
    """The main conversation's model requests, in order."""
    lines = (out / "llm.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    return [one for one in every if one.get("api") == "anthropic" and one.get("view")]


def shown(request: dict[str, Any]) -> str:
    return json.dumps(request["body"]["messages"], ensure_ascii=False)


def asked(all_requests: list[dict[str, Any]], words: str) -> dict[str, Any]:
    """The first request that holds `words` near its end (a client adds context behind a prompt)."""
    for one in all_requests:
        if words in json.dumps(one["body"]["messages"][-3:], ensure_ascii=False):
            return one
    raise SystemExit(f"FAILED: no request was sent for {words!r}")


def main(out: Path) -> int:
    sent = requests(out)
    by_tool = shown(asked(sent, "after the tool merge."))
    by_prompt = shown(asked(sent, "after the prompt merge."))
    fork_result = json.dumps(asked(sent, "sidechat://sessions/")["body"]["messages"][-1])
    merged = json.loads((out / "merged_again.json").read_text())
    replayed = json.loads((out / "replay.json").read_text())
    rows = {
        "fork by tool cost the model a link and a few lines (under 2,000 characters)": len(
            fork_result
        )
        < 2000,
        "the fork's first answer quotes the parent": "14:00 UTC" in fork_result,
        "the note of the merge by tool is in the next request, once": by_tool.count(CLOSED) == 1,
        "both notes are in the request after the merge by prompt": by_prompt.count(CLOSED) == 2,
        "the second note stands after the first turn's words": by_prompt.index("We ship ledgerd")
        < by_prompt.rindex(CLOSED),
        "the client's own transcript shows the note: delivered": merged["delivery"] == "delivered",
        "replay of every session: verified": replayed["verdict"] == "verified",
    }
    return tell("claude-code", "tools and prompts, headless", beside(rows))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
