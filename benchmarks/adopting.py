"""A conversation of 100 MB in a client's file: forked for the first time, and once more.

It runs in a process of its own, for its memory is one of the figures. What the first fork takes is
told in decodings of the file's JSON (line by line, with Python's own reader and nothing kept); the
bar for that, 2, is out of reach for now, so it is said and not judged."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio

import sidechat_mcp
from benchmarks.figures import Figure, within
from benchmarks.ground import Ground
from benchmarks.plan import Plan
from benchmarks.timing import median
from sidechat_mcp.sidechat.reports import Caller

SIZE = 100_000_000
RESULT = 8_000
"""Bytes of what a call gave: a source file. The client writes it twice, once for its own use."""
LIMIT = 256.0
"""MB that the process may take."""
CALLER = Caller(cwd="/home/somebody/project")
_WORDS = (
    *("the", "limiter", "counts", "requests", "per", "device", "and", "resets", "at"),
    *("midnight", "when", "clocks", "agree", "\n   ", '"quoted"', "\n", "(why?)"),
)


async def adopting(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """Minutes of work for a disk that others use, so the quick run leaves it out."""
    if plan.quick:
        return []
    folder = ground.fresh("adopting")
    file = folder / "long.jsonl"
    with file.open("wb") as written:
        for record in conversation(SIZE):
            written.write(_line(record))
    runs = [_run(file, ground.fresh(f"adopting-{n}")) for n in range(3)]
    decode, first, second, memory = (
        median([run[what] for run in runs]) for what in ("decode", "first", "second", "memory")
    )
    note = f"the first took as long as decoding its JSON {first / decode:.1f} times"
    return [
        Figure(
            "second fork of 100 MB / the first",
            *(second, first, second / first, 0.05),
            unit="s",
            note=note,
        ),
        within("memory of a process that forks 100 MB", memory, LIMIT, "MB"),
    ]


def _run(file: Path, home: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.adopting", str(file)]
    told = {"SIDECHAT_HOME": str(home), "SIDECHAT_AGENT": "quoting"}
    done = subprocess.run(command, env={**os.environ, **told}, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def conversation(size: int) -> Iterator[dict[str, Any]]:
    """Turns as Claude Code writes them, of about `size` bytes: a question, a look into a file or
    two, an answer."""
    dice = random.Random(1)
    written, turn, tip = 0, 0, None
    while written < size:
        turn += 1
        for record in _turn(turn, dice):
            record |= {"uuid": f"{turn}-{record['uuid']}", "parentUuid": tip}
            tip = record["uuid"]
            written += len(_line(record))
            yield record


def _turn(turn: int, dice: random.Random) -> Iterator[dict[str, Any]]:
    yield _record("user", "q", {"role": "user", "content": _prose(dice, 40)})
    for call in range(2):
        id = f"toolu_{turn}_{call}"
        use = {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": f"/a/{turn}"}}
        yield _record("assistant", f"c{call}", _answer(f"{turn}.{call}", "tool_use", use))
        found = _prose(dice, RESULT // 6)
        result = {"type": "tool_result", "tool_use_id": id, "content": found}
        record = _record("user", f"r{call}", {"role": "user", "content": [result]})
        yield record | {"toolUseResult": {"file": {"content": found}}}
    said = {"type": "text", "text": _prose(dice, 120)}
    yield _record("assistant", "a", _answer(f"{turn}.a", "end_turn", said))


def _record(type: str, uuid: str, message: dict[str, Any]) -> dict[str, Any]:
    about = {"sessionId": "long", "version": "2.1.332", "cwd": CALLER.cwd, "isSidechain": False}
    return {**about, "type": type, "uuid": uuid, "message": message, "timestamp": 1_790_000_000}


def _answer(id: str, stop: str, block: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 1200, "output_tokens": 80}
    about = {"model": "model-1", "stop_reason": stop, "usage": usage}
    return {"id": f"msg_{id}", "role": "assistant", "content": [block], **about}


def _prose(dice: random.Random, words: int) -> str:
    """Words with as many line breaks and quotes as a source file has."""
    return " ".join(dice.choices(_WORDS, k=words))


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def main(file: Path) -> None:
    """What one process measures, as one line of JSON: seconds, and MB at most."""
    begun = time.perf_counter()
    with file.open("rb") as lines:
        for line in lines:
            json.loads(line)
    decode = time.perf_counter() - begun
    first, second = anyio.run(_forks, file)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = peak / 1024 / (1024 if sys.platform == "darwin" else 1)
    said = {"decode": decode, "first": first, "second": second, "memory": memory}
    sys.stdout.write(json.dumps(said) + "\n")


async def _forks(file: Path) -> tuple[float, float]:
    taken: list[float] = []
    async with sidechat_mcp.open() as sidechat:
        for _ in range(2):
            begun = time.perf_counter()
            await sidechat.fork(CALLER, file=file)
            taken.append(time.perf_counter() - begun)
    return taken[0], taken[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
