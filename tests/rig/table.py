"""Runs every journey in the real clients and prints one table: RIG LOGS [NAME…].

A row that failed, a journey without a row and a bar that no row of a client shows (`rows.BARS`)
make it fail. JOBS journeys run at once (1); KILLS is how often each kind of process is killed in
each client (2)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rows import BARS, CLIENTS

HERE = Path(__file__).resolve().parent
PATIENCE = 900
"""Seconds that a journey may take; kills take as long as they are many."""
A_KILL = 60
WIDE = 118
"""Characters of a row's last column before it goes on in the next line."""


@dataclass(frozen=True, slots=True)
class Journey:
    name: str
    script: str
    client: str
    given: dict[str, str] = field(default_factory=dict[str, str])


def journeys() -> Iterator[Journey]:
    for client in CLIENTS:
        who = client.partition("-")[0]
        yield Journey(f"whole-{who}", "whole.sh", client, {"WHO": who})
    for script in sorted(HERE.glob("*.sh")):
        if script.stem not in ("whole", "kills"):
            client = next(one for one in CLIENTS if one.startswith(script.stem.partition("_")[0]))
            yield Journey(script.stem, script.name, client)
    for client in CLIENTS:
        who = client.partition("-")[0]
        yield Journey(f"kills-{who}", "kills.sh", client, {"WHO": who})


@dataclass(frozen=True, slots=True)
class Seen:
    held: bool
    client: str
    door: str
    bar: str
    what: str


def run(journey: Journey, rig: Path, logs: Path) -> list[Seen]:
    """Its rows; one that failed when it ended otherwise than they say, or had none."""
    given = {**os.environ, "RIG": str(rig), "PY": sys.executable, **journey.given}
    kills = int(os.environ.get("KILLS", "2")) if journey.script == "kills.sh" else 0
    limit = PATIENCE + 3 * kills * A_KILL
    command = ["timeout", "-k", "5", str(limit), "bash", str(HERE / journey.script)]
    log = logs / f"{journey.name}.log"
    with log.open("wb") as out:
        done = subprocess.run(command, env=given, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    lines = log.read_text("utf-8", "replace").splitlines()
    found = [row for line in lines if (row := _row(line)) is not None]
    if not found or bool(done.returncode) != (not all(row.held for row in found)):
        why = f"{len(found)} rows, and ended with {done.returncode}: see {log.name}"
        found.append(Seen(False, journey.client, journey.name, "-", why))
    sys.stderr.write(f"{journey.name}: {sum(row.held for row in found)} of {len(found)} ok\n")
    return found


def _row(line: str) -> Seen | None:
    word, *columns = [column.strip() for column in line.split(" | ", 4)]
    if word not in ("ok", "FAILED") or len(columns) != 4:
        return None
    return Seen(word == "ok", *columns)


def missed(found: Sequence[Seen]) -> list[Seen]:
    """A row for each bar that nothing shows of a client."""
    shown = {(row.client, row.bar) for row in found}
    return [
        Seen(False, client, "no row", bar, f"missed: {what}")
        for client in CLIENTS
        for bar, what in BARS.items()
        if (client, bar) not in shown
    ]


def printed(found: Sequence[Seen]) -> str:
    bars = [*BARS, "-"]
    table = [("client", "door", "bar", "what was seen", "")]
    for client in CLIENTS:
        rows = [row for row in found if row.client == client]
        for row in sorted(rows, key=lambda one: bars.index(one.bar)):
            whole = row.what
            pieces = [whole[at : at + WIDE] for at in range(0, len(whole), WIDE)]
            table.append((client, row.door, row.bar, pieces[0], "ok" if row.held else "FAILED"))
            table += [("", "", "", piece, "") for piece in pieces[1:]]
    widths = [max(len(row[column]) for row in table) for column in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
             for row in table]  # fmt: skip
    return "\n".join(line.rstrip() for line in lines)


def main(rig: Path, logs: Path, names: Sequence[str]) -> int:
    logs.mkdir(parents=True, exist_ok=True)
    wanted = [one for one in journeys() if not names or one.name in names]
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        each = pool.map(partial(run, rig=rig, logs=logs), wanted)
        found = [row for rows in each for row in rows]
    found += [] if names else missed(found)
    failed = sum(not row.held for row in found)
    sys.stdout.write(f"{printed(found)}\n{len(wanted)} journeys, {len(found)} rows,")
    sys.stdout.write(f" {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
