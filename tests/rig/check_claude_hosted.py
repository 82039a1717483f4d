"""Judges a run of `claude_hosted.sh` from what the stub model and the disk recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast

from rows import beside, tell


def bodies(out: Path) -> list[dict[str, Any]]:
    lines = (out / "llm.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    return [one["body"] for one in every if one.get("api") == "anthropic" and one.get("view")]


def plain(message: dict[str, Any]) -> dict[str, Any]:
    """A message without cache marks, a lone text block as its string."""
    message = json.loads(json.dumps(message))
    content: Any = message.get("content")
    if isinstance(content, list):
        blocks = cast("list[dict[str, Any]]", content)
        for block in blocks:
            block.pop("cache_control", None)
        if len(blocks) == 1 and blocks[0].get("type") == "text":
            message["content"] = blocks[0]["text"]
    return message


def main(out: Path) -> int:
    sent = bodies(out)
    children = [one for one in sent if "SIDEQ-" in json.dumps(one["messages"])]
    parents = [one for one in sent if "SIDEQ-" not in json.dumps(one) and len(one["tools"]) > 3]
    parent, child = parents[-1], children[0]
    inherited = parent["messages"]
    same = [plain(a) == plain(b) for a, b in zip(inherited, child["messages"], strict=False)]
    differ = sorted(
        key
        for key in parent.keys() | child.keys()
        if key != "messages" and parent.get(key) != child.get(key)
    )
    report = json.loads((out / "fork.json").read_text())
    answers = [json.loads((out / name).read_text()) for name in ("one.json", "two.json")]
    replay = json.loads((out / "replay.json").read_text())["sessions"]
    rows = {
        "the fork report names the client and who pays": report["agent"]["name"] == "claude-code"
        and "subscription" in report["agent"]["pays"],
        f"inherited messages equal: {sum(same)} of {len(inherited)}": all(same)
        and len(same) == len(inherited),
        f"settings that differ: {differ or 'none'}": set(differ) <= {"metadata", "system"},
        "tools are the same bytes": json.dumps(parent["tools"]) == json.dumps(child["tools"]),
        "system prompt is the same bytes, but for the billing line": parent["system"][1:]
        == child["system"][1:],
        "every turn was answered": {one["reason"] for one in answers} == {"completed"},
        "usage is the child's own": answers[0]["usage"] is not None,
        "no file of the client was changed or added": (out / "before").read_text()
        == (out / "after").read_text(),
        "no file of the project was changed": (out / "tree-before").read_text()
        == (out / "tree-after").read_text(),
        "nothing was left running": not (out / "orphans").read_text().strip(),
        "replay says: hosted, not rebuildable": "not rebuildable"
        in {one["verdict"] for one in replay},
    }
    return tell("claude-code", "own fork of a headless parent", beside(rows))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
