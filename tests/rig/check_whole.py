"""Judges a run of `whole.sh` from what the stub model, the disk and our own log recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rows import Row, tell
from wires import EXPLAINED, OPENED, Sent, sent

NAMES = {"claude": "claude-code"}
DOORS = {
    "claude": "own headless fork, prompt hook",
    "codex": "own ephemeral fork, inject",
    "opencode": "own server on a copy, noReply",
    "pi": "own rpc fork of a copy, extension",
}


def main(out: Path, who: str) -> int:
    every = sent(out, who)
    parents = [one for one in every if not one.aside]
    children = [one for one in every if one.aside]
    rows = [
        *_forked(who, parents, children),
        *_meanwhile(out, parents, children),
        *_attacked(out, every, children),
        *_merged(out, parents),
        *_left(out),
    ]
    return tell(NAMES.get(who, who), DOORS[who], rows)


def _read(out: Path, name: str) -> Any:
    return json.loads((out / f"{name}.json").read_text("utf-8"))


def _asked(some: list[Sent], words: str) -> Sent:
    for one in some:
        if words in one.fresh:
            return one
    raise SystemExit(f"FAILED | - | - | - | no request was sent for {words!r}")


def _forked(who: str, parents: list[Sent], children: list[Sent]) -> list[Row]:
    asking = _asked(parents, "SIDE-FORK please")
    inherited = asking.talk[: asking.place("SIDE-FORK please")]
    called = any("STUB-SAW-TOOL" in one for one in inherited)
    heads = [_differ(asking, one) for one in children]
    differ = sorted({name for each in heads for name in each})
    same = [sum(a == b for a, b in zip(inherited, one.talk, strict=False)) for one in children]
    but = f"; beside it differ: {', '.join(EXPLAINED[who])}" if EXPLAINED[who] else ""
    return [
        ("calls", f"{len(inherited)} messages before the fork, a call and its result in them",
         called),
        ("fork", "the tool's answer came from the client's own fork",
         "When do we ship ledgerd?" in children[0].fresh),
        ("head", f"{len(children)} child requests, members that differ: {differ or 'none'}{but}",
         not differ),
        ("inherited", f"{min(same)} of {len(inherited)} messages equal in every child request",
         all(n == len(inherited) for n in same) and bool(inherited)),
    ]  # fmt: skip


def _differ(parent: Sent, child: Sent) -> list[str]:
    names = parent.head.keys() | child.head.keys()
    return [name for name in names if parent.head.get(name) != child.head.get(name)]


def _meanwhile(out: Path, parents: list[Sent], children: list[Sent]) -> list[Row]:
    began = _asked(parents, "PARENT-MEANWHILE")
    went_on = next(one for one in parents if one.at > began.at and "went on" in one.fresh)
    asked = [_asked(children, words) for words in ("SIDEQ-ONE", "SIDEQ-TWO")]
    within = [one for one in asked if began.at < one.at < went_on.at]
    reasons = [_read(out, name)["reason"] for name in ("one", "two")]
    usage = _read(out, "one")["usage"]
    return [
        ("meanwhile", f"{len(within)} side turns between the parent's call and its result",
         len(within) == 2 and reasons == ["completed", "completed"]),
        ("", f"usage is the child's own: {usage['input']} in, {usage['output']} out",
         (usage["input"], usage["output"]) == (10, 5)),
    ]  # fmt: skip


def _attacked(out: Path, every: list[Sent], children: list[Sent]) -> list[Row]:
    wanted = len(list(out.glob("attack-*.json")))
    calls = [one.answer["tool"] for one in children if "SIDEQ-ATTACK" in one.fresh
             and "tool" in one.answer]  # fmt: skip
    agents = [one for one in every if "SIDEQ-AGENT" in one.fresh and not one.aside]
    refused = [one for one in children if "read-only" in one.fresh.rpartition("SIDEQ")[2]
               or "rule which prevents" in one.fresh]  # fmt: skip
    answered = [_read(out, f"attack-{n}").get("reason") for n in range(wanted)]
    written = (out / "tree-before").read_text() != (out / "tree-after").read_text()
    outside = (out / "written-outside").read_text().split()
    return [
        ("denied", f"{len(calls)} calls made by the child's model, {len(refused)} came back as"
         f" refused, {len(agents)} agents spawned",
         len(calls) >= 3 and len(refused) >= len(calls) and not agents),
        ("attack", f"{wanted} attacks, {len(calls)} with a tool that is there:"
         f" {int(written) + len(outside)} writes",
         not written and not outside and set(answered) == {"completed"}),
    ]  # fmt: skip


def _merged(out: Path, parents: list[Sent]) -> list[Row]:
    first, second = (_asked(parents, words) for words in ("FIRST prompt", "SECOND prompt"))
    place = first.place(OPENED)
    merged, again = _read(out, "merge"), _read(out, "again")
    behind = [n for n, one in enumerate(first.talk) if '"STUB-SAW-TOOL' in one or "went on" in one]
    return [
        ("merged", f"{first.notes} in {len(first.talk)} messages, message {place + 1}, the prompt"
         f" being {first.place('FIRST prompt') + 1}",
         first.notes == 1 and place > max(behind) and merged["note"] in first.talk[place]),
        ("restarted", f"{second.notes} in {len(second.talk)} messages, still message"
         f" {second.place(OPENED) + 1}",
         second.notes == 1 and second.place(OPENED) == place
         and second.talk[: len(first.talk)] == first.talk),
        ("", f"the note: {merged['delivery']}, then {again['delivery']}",
         again["delivery"] == "delivered" and again["note"] == merged["note"]),
    ]  # fmt: skip


def _left(out: Path) -> list[Row]:
    before, after = ((out / name).read_text() for name in ("kept-before", "kept-after"))
    changed = sorted(set(before.splitlines()) ^ set(after.splitlines()))
    orphans = [(out / name).read_text().strip() for name in ("orphans", "orphans-restart")]
    verdicts = {one["verdict"] for one in _read(out, "replay")["sessions"]}
    for line in changed:
        sys.stdout.write(f"changed: {line}\n")
    return [
        ("files", f"{len(before.splitlines())} files hashed before and after, {len(changed)}"
         " changed", not changed and bool(before)),
        ("", "nothing of ours runs on when the client has ended", not any(orphans)),
        ("", f"replay: {', '.join(sorted(verdicts))}",
         all("verified" in one or "not rebuildable" in one for one in verdicts)),
    ]  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2]))
