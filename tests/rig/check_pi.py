"""Judges a run of `pi.sh` from what the stub model and the disk recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rows import beside, tell

CLOSED = "</sidechat-note>"
FRAMED = "[Side conversation] The conversation above is background"


def requests(out: Path) -> list[dict[str, Any]]:
    """The bodies of all model requests, in order."""
    lines = (out / "llm.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    return [one["body"] for one in every if one.get("api") == "chat"]


def asked(every: list[dict[str, Any]], words: str) -> dict[str, Any]:
    """The first request whose last message holds `words`."""
    for one in every:
        if words in json.dumps(one["messages"][-1], ensure_ascii=False):
            return one
    raise SystemExit(f"FAILED: no request was sent for {words!r}")


def head(body: dict[str, Any]) -> str:
    """Everything of a request but its conversation, as it was sent."""
    system = [one for one in body["messages"] if one["role"] == "system"]
    return json.dumps([{**body, "messages": None}, system])


def talk(body: dict[str, Any]) -> list[str]:
    return [json.dumps(one) for one in body["messages"] if one["role"] != "system"]


def read(out: Path, name: str) -> Any:
    return json.loads((out / name).read_text("utf-8"))


def main(out: Path) -> int:
    sent = requests(out)
    children = [one for one in sent if FRAMED in json.dumps(one)]
    parents = [one for one in sent if FRAMED not in json.dumps(one)]
    by_tool = talk(asked(parents, "after the merge."))
    inherited = talk(asked(parents, "We ship ledgerd"))
    answers = [read(out, f"{name}.json") for name in ("one", "two", "three", "four", "five")]
    report, merged = read(out, "fork.json"), read(out, "merged_again.json")
    verdicts = {one["verdict"] for one in read(out, "replay.json")["sessions"]}
    rows = {
        "fork by tool was answered by pi itself, from inside": "When do we ship ledgerd?"
        in children[0]["messages"][-1]["content"][0]["text"],
        f"head of every child request: the parent's bytes ({len(children)} requests)": {
            head(one) for one in children
        }
        == {head(parents[0])},
        f"inherited messages of every child request: the parent's bytes ({len(inherited)})": all(
            talk(one)[: len(inherited)] == inherited for one in children
        ),
        "every side turn was answered": {one["reason"] for one in answers} == {"completed"},
        "usage is the child's own": answers[0]["usage"] is not None,
        "the fork report names pi and who pays": report["agent"]["name"] == "pi"
        and "subscription" in report["agent"]["pays"],
        "the note is in the parent's next request, once": sum(CLOSED in one for one in by_tool)
        == 1,
        "it stands where it was merged": CLOSED in by_tool[-3],
        "pi's own session shows the note: delivered": merged["delivery"] == "delivered",
        "no file of pi's was changed or added by side turns": (out / "before").read_text()
        == (out / "after").read_text(),
        "no file of the project was changed": (out / "tree-before").read_text()
        == (out / "tree-after").read_text(),
        "nothing was left running": not (out / "orphans").read_text().strip(),
        "no copy of a session was left": not (out / "left").read_text().strip(),
        f"replay: {', '.join(sorted(verdicts))}": verdicts == {"verified", "not rebuildable"},
    }
    return tell("pi", "own rpc fork of a copy, tools", beside(rows))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
