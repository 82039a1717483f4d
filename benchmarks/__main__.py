"""`python -m benchmarks [--quick] [--only WORD]`: every figure with its bar; 1 when one is missed.

A row that is missed is measured once more, for a machine has other things to do as well."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from benchmarks.adopting import adopting
from benchmarks.crowding import crowding
from benchmarks.figures import Figure, table
from benchmarks.forking import forking, growing
from benchmarks.ground import QUIET, SLOW, Ground, Grounds, grounds
from benchmarks.loading import bounded, loading
from benchmarks.plan import Plan
from benchmarks.rivals import installed, rivals
from benchmarks.serving import listing, serving
from benchmarks.starting import starting
from benchmarks.steps import committing, sharing, stepping

Measure = Callable[[Ground, Plan], Awaitable[Sequence[Figure]]]
BUILD = Path(__file__).resolve().parent.parent / ".build"
MEASURES: Sequence[Measure] = (
    forking,
    growing,
    stepping,
    committing,
    sharing,
    crowding,
    loading,
    bounded,
    rivals,
    serving,
    listing,
    starting,
    adopting,
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="at most a minute and a half")
    parser.add_argument("--only", default="", metavar="WORD", help="measures that begin so")
    given = parser.parse_args(arguments)
    plan, begun = Plan(given.quick), time.monotonic()
    figures = list[Figure]()
    with grounds(BUILD) as places:
        here = places.now()
        say(_preface(here))
        for measure in MEASURES:
            if measure.__name__.startswith(given.only):
                figures += measured(measure, here, places, plan)
    say(table(figures))
    missed = sum(not figure.ok for figure in figures)
    say(f"\n{len(figures)} figures, {missed} missed, {time.monotonic() - begun:.0f} s")
    return 1 if missed else 0


def measured(measure: Measure, here: Ground, places: Grounds, plan: Plan) -> Sequence[Figure]:
    first = anyio.run(measure, here, plan)
    if all(figure.ok for figure in first):
        return first
    # The disk may be busy by now, or was; the quick run, which decides for CI, leaves it then.
    again = anyio.run(measure, places.now(calm=plan.quick), plan)
    return [_better(one, other) for one, other in zip(first, again, strict=True)]


def _better(one: Figure, other: Figure) -> Figure:
    if one.ok:
        return one
    notes = (other.note, f"second try, first {one.ratio:.2f}")
    return replace(other, note="; ".join(note for note in notes if note))


def _preface(here: Ground) -> str:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    lines = [
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load}.",
        f"The disk's floor: 4 KiB appended and synced in {here.floor * 1e3:.2f} ms"
        f" (90 of 100 within {here.worst * 1e3:.2f} ms), a bare commit in"
        f" {here.commit * 1e3:.2f} ms.",
    ]
    if here.memory:
        lines.append(
            f"That is over {SLOW * 1e3:g} ms: the rows run on tmpfs, where a sync is free, unless"
            f" they say `disk`; those told in syncs have the {QUIET * 1e3:g} ms of a quiet disk"
            " put on, on both sides."
        )
    if not installed():
        lines.append("The peers are not installed (`make bench` does): no rows of theirs.")
    return "\n".join(lines) + "\n"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
