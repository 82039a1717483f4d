"""Judges a run of `opencode.sh` from what the stub model, the database and the disk recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rows import beside, tell

CLOSED = "</sidechat-note>"
FRAMED = "[Side conversation] The conversation above is background"
ASIDE = ("Generate a title for this conversation", "Here is the conversation so far")


def requests(out: Path) -> list[dict[str, Any]]:
    """The bodies of the conversations' model requests, in order."""
    lines = (out / "llm.jsonl").read_text("utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    found = [one["body"] for one in every if one.get("api") == "chat"]
    return [one for one in found if not any(words in json.dumps(one) for words in ASIDE)]


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


def same(out: Path, before: str, after: str) -> bool:
    return (out / before).read_text() == (out / after).read_text()


def main(out: Path) -> int:
    sent = requests(out)
    children = [one for one in sent if FRAMED in json.dumps(one)]
    parents = [one for one in sent if FRAMED not in json.dumps(one)]
    after = talk(asked(parents, "after the merge."))
    inherited = talk(asked(parents, "We ship ledgerd"))
    names = ("one", "two", "three", "four", "five", "six")
    answers = [read(out, f"{name}.json") for name in names]
    report, merged = read(out, "fork.json"), read(out, "merged_again.json")
    verdicts = {one["verdict"] for one in read(out, "replay.json")["sessions"]}
    heads = {head(one) for one in children}
    rows = {
        "fork by tool was answered by opencode itself, from inside": "When do we ship ledgerd?"
        in json.dumps(children[0]["messages"][-1]),
        f"head of every child request: the parent's bytes ({len(children)} requests)": heads
        == {head(parents[0])},
        f"inherited messages of every child request: the parent's bytes ({len(inherited)})": all(
            talk(one)[: len(inherited)] == inherited for one in children
        ),
        "every side turn was answered": {one["reason"] for one in answers} == {"completed"},
        "usage is the child's own": answers[0]["usage"] is not None,
        "the fork report names opencode and who pays": report["agent"]["name"] == "opencode"
        and "subscription" in report["agent"]["pays"],
        "the note is in the parent's next request, once": sum(CLOSED in one for one in after) == 1,
        "it stands where it was merged": CLOSED in after[-3],
        "opencode's own messages show the note: delivered": merged["delivery"] == "delivered",
        "no row of opencode's was changed or added by side turns": same(out, "before", "after"),
        "no file of opencode's was changed or added": same(out, "files-before", "files-after"),
        "no file of the project was changed by the attacks": same(out, "tree-before", "tree-after"),
        "a kill left no process": not (out / "orphans-of-kill").read_text().strip(),
        "nothing was left running": not (out / "orphans").read_text().strip(),
        "no copy of a conversation was left": not (out / "left").read_text().strip(),
        f"replay: {', '.join(sorted(verdicts))}": verdicts == {"verified", "not rebuildable"},
    }
    return tell("opencode", "own server on a copy, tools", beside(rows))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
