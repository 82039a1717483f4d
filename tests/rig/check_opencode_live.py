"""Judges a run of `opencode_live.sh` from what the stub model and the database recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rows import beside, tell

CLOSED = "</sidechat-note>"


def requests(out: Path) -> list[dict[str, Any]]:
    """The bodies of all model requests, in order."""
    lines = (out / "llm.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    return [one["body"] for one in every if one.get("api") == "chat"]


def asked(every: list[dict[str, Any]], words: str) -> dict[str, Any]:
    """The first request with tools whose last message holds `words`."""
    for one in every:
        if one.get("tools") and words in json.dumps(one["messages"][-1], ensure_ascii=False):
            return one
    raise SystemExit(f"FAILED: no request was sent for {words!r}")


def read(out: Path, name: str) -> Any:
    return json.loads((out / name).read_text("utf-8"))


def main(out: Path) -> int:
    sent = requests(out)
    parents = (out / "parents").read_text().split()
    forked = [one["parent"] for one in read(out, "sessions.json")["sessions"]]
    whole, undone = read(out, "whole.json"), read(out, "undone.json")
    merged, again = read(out, "merge.json"), read(out, "merged_again.json")
    after = asked(sent, "After the note.")["messages"]
    notes = [json.dumps(one) for one in after if CLOSED in json.dumps(one)]
    rows = {
        "three conversations of one folder, each forked from inside: the right parent": forked
        == [*reversed(parents)]
        and len({*parents}) == 3,
        "what was undone is not in the fork": undone["turns"] == whole["turns"] - 1,
        "the note went in by a message that asks for no reply": merged["delivery"]
        == "offered: noReply",
        "it woke nobody": not any(
            CLOSED in json.dumps(one["messages"][-1]) for one in sent if one.get("tools")
        ),
        "the open screen's next request holds it once, before the prompt": len(notes) == 1
        and CLOSED in json.dumps(after[-2]),
        "then it is delivered, and not written again": again["delivery"] == "delivered"
        and again["note"] == merged["note"],
        "nothing was left running": not (out / "orphans").read_text().strip(),
    }
    return tell("opencode", "two screens, noReply", beside(rows))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
