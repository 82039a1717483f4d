"""Kills our server, the hosted fork and the client at random moments: LANE KILLS SEED.

A conversation goes through fork, question, merge and prompt, and through questions from a terminal,
each a process of its own; nearly every one is struck at a moment drawn from how long its victim
lives. Two seconds later nothing of what the victim had started may run; what does is waited for,
and on a machine with far more to do than it has processors it is told as late (a server that was
just starting sees the end of its input when it is up). After a score the log is verified, and each
note that stands must be before the live model, once. LANE says how the client is started
(`kills.sh`). SECONDS_AT_MOST ends it early."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from processes import Known, alive, below, everyone, first_below, known
from rows import Row, tell
from wires import sent

KINDS = ("server", "fork", "client")
MERGE = "SIDE-MERGE please"
STEPS = ("SIDE-FORK please", "SIDE-ASK please", MERGE, "Go on, please.", "terminal")
BLOCK = 20
"""Strikes to one conversation."""
SPARED = {MERGE: 0.5}
A_FEW = 0.2
"""How many of a step are let through, so that there is something to lose."""
AFTER = 2.0
"""Seconds after which nothing may be left (issue 4)."""
LATE = 15.0
"""Seconds that what is left is watched for."""
LONG = 240.0
"""Seconds after which a step is stuck, on a busy machine too."""
TOLD = re.compile(r"delivery\W+delivered")
"""In the result of a merge that was called for once more: it repeats what stands there already."""
NOTE = re.compile(r'<sidechat-note id=\\*"([a-z0-9-]+)')


@dataclass(slots=True)
class Lane:
    given: dict[str, Any]
    out: Path
    dice: random.Random
    parent: str = ""
    child: str = ""
    struck: Counter[str] = field(default_factory=Counter[str])
    orphans: list[str] = field(default_factory=list[str])
    late: list[str] = field(default_factory=list[str])
    stuck: int = 0
    spans: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    base: set[int] = field(default_factory=set[int])
    judged: set[str] = field(default_factory=set[str])

    def run(self, argv: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self.given["under"], *argv],
            cwd=self.given["cwd"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def said(self, argv: list[str]) -> str:
        """The output of something that is let through."""
        running = self.run(argv)
        try:
            return running.communicate(timeout=LONG)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            running.kill()
            self.stuck += 1
            return ""

    def ours(self, *argv: str) -> Any:
        told = self.said([*self.given["ours"], *argv, "--json"])
        return json.loads(told) if told.startswith("{") else {}

    def argv(self, step: str) -> list[str]:
        if step == "terminal":
            named = ["-s", self.child] if self.child else []
            return [*self.given["ours"], "ask", *named, "And from the terminal?"]
        template = self.given["more"] if self.parent else self.given["say"]
        given: list[str] = []
        for one in template:
            # opencode quotes an argument that has blanks.
            given += step.split() if one == "@WORDS@" else [one.replace("@TEXT@", step)]
        return [one.replace("@PARENT@", self.parent) for one in given]


def begin(lane: Lane) -> None:
    """A new conversation of two turns."""
    before = _conversations(lane)
    lane.parent = lane.child = ""
    lane.said(lane.argv("We ship ledgerd on Tuesday at 14:00 UTC."))
    fresh = [one for one in _conversations(lane) if one not in before]
    lane.parent = fresh[0]
    lane.said(lane.argv("We keep the keys for 13 months."))


def _conversations(lane: Lane) -> list[str]:
    """The client's conversations here, by its own ids, as our readers find them."""
    listed = subprocess.run(
        [*lane.given["under"], lane.given["ours"][0], str(Path(__file__).with_name("newest.py"))],
        cwd=lane.given["cwd"], capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, list[str]] = json.loads(listed.stdout)
    return found[lane.given["client"]]


def strike(lane: Lane, kind: str, step: str) -> None:
    """Run `step` and kill `kind` in it, if it is there at the moment that the dice say."""
    moment = lane.dice.random()
    running = lane.run(lane.argv(step))
    client = known(running.pid)
    victim = _victim(lane, running, kind, step)
    if victim is not None and client is not None:
        wait = moment * lane.spans.get((kind, step), 3.0)
        until = time.monotonic() + wait
        while time.monotonic() < until and alive(victim):
            time.sleep(0.01)
        lived = time.monotonic() - until + wait
        if alive(victim):
            _kill(lane, kind, step, victim)
        else:  # It ended before: next time the moment lies within its life.
            lane.spans[kind, step] = max(0.2, lived)
    try:
        running.communicate(timeout=LONG)
    except subprocess.TimeoutExpired:
        lane.stuck += 1
        running.kill()
        running.communicate()
    _all_gone(lane, kind, step)


def _victim(lane: Lane, running: subprocess.Popen[bytes], kind: str, step: str) -> Known | None:
    """The process to kill, as soon as it is there; None when it never comes."""
    mine = ("serve.py", "-m sidechat_mcp serve")
    while running.poll() is None:
        if kind == "client" or (kind == "server" and step == "terminal"):
            return known(running.pid)
        words = mine if kind == "server" else (lane.given["forked"],)
        found = first_below(running.pid, words)
        if found is not None:
            return found
        time.sleep(0.01)
    return None


def _kill(lane: Lane, kind: str, step: str, victim: Known) -> None:
    started = below(victim.pid)
    try:
        os.kill(victim.pid, 9)
    except ProcessLookupError:
        return
    time.sleep(AFTER)
    lane.struck[kind] += 1
    _outlived(lane, f"{kind} in {step!r}", [one for one in started if alive(one)])


def _all_gone(lane: Lane, kind: str, step: str) -> None:
    """When a step is over, nothing of it runs two seconds later, whatever was killed."""
    until = time.monotonic() + AFTER
    while everyone() - lane.base and time.monotonic() < until:
        time.sleep(0.02)
    some = [one for pid in everyone() - lane.base if (one := known(pid)) is not None]
    _outlived(lane, f"after {kind} in {step!r}", some)


def _outlived(lane: Lane, what: str, left: list[Known]) -> None:
    """Note what is there that should not be, and for how long."""
    began, busy = time.monotonic(), os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
    while any(map(alive, left)) and time.monotonic() - began < LATE:
        time.sleep(0.02)
    more = time.monotonic() - began
    still = [one for one in left if alive(one)]
    for one in left:
        told = f"{what}: {one.words[:100]}: {AFTER + more:.1f} s"
        (lane.late if busy and not still else lane.orphans).append(told)
    for one in still:
        os.kill(one.pid, 9)


@dataclass(slots=True)
class Audit:
    """What the logs and the live model show after a block."""

    notes: int = 0
    wrong: list[str] = field(default_factory=list[str])
    verdicts: Counter[str] = field(default_factory=Counter[str])


def audit(lane: Lane, seen: Audit) -> None:
    for one in lane.ours("replay", "--verify").get("sessions", []):
        seen.verdicts[one["verdict"]] += 1
    for step in (STEPS[0], MERGE):  # There is one note at least.
        lane.said(lane.argv(step))
    for _ in range(3):  # An offer that nobody saw is void with the next completed turn.
        lane.said(lane.argv("Go on, please."))
    standing = {note: one for note, one in notes(lane).items() if note not in lane.judged}
    lane.judged |= standing.keys()
    if lane.given["client"] == "opencode":  # No hook: the door is opened by a merge.
        for child in {child for child, _ in standing.values()}:
            lane.ours("merge", "-s", child)
    before = len((lane.out / "llm.jsonl").read_text("utf-8").splitlines())
    lane.said(lane.argv("What do we know by now?"))
    requests = sent(lane.out, lane.given["who"], before)
    last = next(one for one in requests if not one.aside and "What do we know" in one.fresh)
    shown = Counter(
        note
        for one in last.talk
        if '"role": "assistant"' not in one and not TOLD.search(one)
        for note in NOTE.findall(one)
    )
    for note, (_, stands) in standing.items():
        seen.notes += stands
        if shown[note] != 1 and (stands or shown[note] > 1):
            seen.wrong.append(f"{note} of {lane.parent}: {shown[note]} times")


def notes(lane: Lane) -> dict[str, tuple[str, bool]]:
    """Every note in a parent's log: its child, and whether it stands."""
    found: dict[str, tuple[str, bool]] = {}
    over: set[str] = set()
    sessions = lane.ours("sessions").get("sessions", [])
    for parent in {one["parent"] for one in sessions}:
        told = lane.ours("log", parent)
        for event in told.get("events", []):
            source: dict[str, Any] = event["body"].get("source") or {}
            if source.get("role") != "handback":
                continue
            over |= {source["supersedes"]} if source.get("supersedes") else set()
            (note,) = {*NOTE.findall(json.dumps(event["body"]["content"]))}
            found[note] = (source["child"], True)
    return {note: (child, note not in over) for note, (child, _) in found.items()}


def main(given: Path, kills: int, seed: int) -> int:
    lane = Lane(json.loads(given.read_text()), given.parent, random.Random(seed))
    lane.base = everyone()
    seen = Audit()
    began = time.monotonic()
    most = float(os.environ.get("SECONDS_AT_MOST", "inf"))
    while any(lane.struck[kind] < kills for kind in KINDS) and time.monotonic() - began < most:
        begin(lane)
        _block(lane, kills)
        audit(lane, seen)
        counts = ", ".join(f"{kind} {lane.struck[kind]}" for kind in KINDS)
        left = f"orphans {lane.orphans}, late {lane.late}, stuck {lane.stuck}"
        took = time.monotonic() - began
        sys.stdout.write(f"seed {seed}, {took:.0f} s: {counts}; {left}; {seen}\n")
        sys.stdout.flush()
    return tell(lane.given["client"], "kill -9", _rows(lane, seen, seed))


def _block(lane: Lane, kills: int) -> None:
    struck = 0
    for n in range(BLOCK * 2):
        step = STEPS[n % len(STEPS)]
        if all(lane.struck[kind] >= kills for kind in KINDS):
            return
        if step == "terminal":
            some = lane.ours("sessions").get("sessions", [])
            lane.child = some[0]["session"] if some else ""
        wanted = [kind for kind in KINDS if lane.struck[kind] < kills
                  and (kind != "fork" or step != STEPS[3])
                  and (kind != "client" or step != "terminal")]  # fmt: skip
        if not wanted or lane.dice.random() < SPARED.get(step, A_FEW):
            lane.said(lane.argv(step))
            _all_gone(lane, "nothing", step)
            continue
        before = sum(lane.struck.values())
        strike(lane, lane.dice.choice(wanted), step)
        struck += sum(lane.struck.values()) - before
        if struck >= BLOCK:
            return


def _rows(lane: Lane, seen: Audit, seed: int) -> list[Row]:
    whole = all("verified" in one or "not rebuildable" in one for one in seen.verdicts)
    held = not lane.orphans and whole and seen.notes > 0 and not seen.wrong and not lane.stuck
    for line in [*lane.orphans, *seen.wrong]:
        sys.stdout.write(f"! {line}\n")
    late = f" ({len(lane.late)} late on a busy machine)" if lane.late else ""
    about = (
        f"{len(lane.orphans)} orphans after {AFTER:.0f} s{late}, {sum(seen.verdicts.values())} logs"
        f" verified, {seen.notes} notes before the model once, {len(seen.wrong)} not (seed {seed})"
    )
    return [(f"killed {kind}", f"{lane.struck[kind]} times: {about}", held) for kind in KINDS]


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
