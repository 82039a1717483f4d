"""Judges a run of `codex_live.sh` from what the stub model and our own log recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from check_codex import asked, bodies, last, notes, same_head
from rows import beside, tell

NOTE = "Take care."


def thread(body: dict[str, Any]) -> str:
    """Which thread a request belongs to, a fork's too: they share their parent's cache."""
    return str(body.get("prompt_cache_key"))


def _headed(body: dict[str, Any]) -> dict[str, Any]:
    """A request without the tools that the client's own screen gives its threads: nobody else
    can give them. Models that search for tools are not shown them."""
    tools = [tool for tool in body["tools"] if tool.get("name") != "mcp__codex_tui"]
    return {**body, "tools": tools}


def _delivery(out: Path, name: str) -> str:
    return str(json.loads((out / f"{name}.json").read_text()).get("delivery"))


def main(out: Path) -> int:
    sent = bodies(out)
    first, second = ((out / name).read_text().split()[1] for name in ("first", "second"))
    forks = [one for one in sent if "When do we ship" in last(one) and "[Side" in last(one)]
    sessions = json.loads((out / "sessions.json").read_text())["sessions"]
    parents = {one["parent"] for one in sessions}
    told = asked(sent, "After the note.")
    other = asked(sent, "Nothing here.")
    rows: dict[str, bool] = {
        "one daemon served both threads": (out / "daemons").read_text().strip() == "1",
        "each fork is of the thread that asked for it": [thread(one) for one in forks]
        == [first, second],
        "two side sessions of two parents": len(sessions) == 2 == len(parents),
        "the door took the note": _delivery(out, "merge") == "offered: inject",
        "it is in the next request of that thread, once": notes(told) == 1
        and thread(told) == second,
        "and the client's own transcript shows it: delivered": _delivery(out, "merged_again")
        == "delivered",
        "and in none of the other": NOTE not in json.dumps(other["input"]),
    }
    for fork, words in zip(forks, ("We ship ledgerd", "We keep the keys"), strict=True):
        parent = asked(sent, words)
        length = len(parent["input"])
        rows[f"{words}: inherited items equal ({length})"] = (
            parent["input"][1:] == fork["input"][1:length]
        )
        differ = same_head(_headed(parent), _headed(fork))
        rows[
            f"{words}: head, but for the screen's own tools, differs in {differ or 'nothing'}"
        ] = not differ
    third, aside = asked(sent, "We pay on Fridays."), asked(sent, "SIDEQ-PAY")
    differ = same_head(third, aside)
    length = len(third["input"])
    rows[f"a model that searches for tools: head differs in {differ or 'nothing'}"] = not differ
    rows[f"and inherited items are equal ({length})"] = (
        third["input"][1:] == aside["input"][1:length]
    )
    return tell("codex", "two threads of one daemon, inject", beside(rows))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
