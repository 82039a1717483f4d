"""Damages transcripts in every way the reader must bear.

`python -m tests.clients.mutate [TIMES] [FILE …]` does so TIMES times (100,000 without) and says
what it saw; the suite does it a few times less."""

from __future__ import annotations

import io
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.claude_code.transcript import read
from sidechat_mcp.core.codec import dump
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.testing.client_contract import check_turns
from tests.clients.houses import FIXTURES

Lines = list[bytes]
Mutation = Callable[[random.Random, Lines], bytes]

ODD: list[Any] = json.loads(
    r"""[
    null, true, 0, -1, 1e308, 10000000000000000000000000000000000000000, "", "x", "\ud800",
    "\u2028", [], {}, [null], {"a": {}}, [{"type": "text"}], [{"type": "tool_use", "id": "i"}],
    [{"type": "tool_result"}], [{"type": 7}], ["words"], [[]], {"content": 3}, {"content": [{}]},
    "2.1.332", "1.0", "user", "assistant", "system", "compact_boundary", "tool_use", "end_turn"
    ]"""
)


def truncated(dice: random.Random, lines: Lines) -> bytes:
    text = b"".join(lines)
    return text[: dice.randrange(len(text))]


def swapped(dice: random.Random, lines: Lines) -> bytes:
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def shuffled(dice: random.Random, lines: Lines) -> bytes:
    dice.shuffle(lines)
    return b"".join(lines)


def dropped(dice: random.Random, lines: Lines) -> bytes:
    return b"".join(line for line in lines if dice.random() > 0.2)


def repeated(dice: random.Random, lines: Lines) -> bytes:
    return b"".join(line * dice.choice((1, 1, 1, 2, 3)) for line in lines)


def flipped(dice: random.Random, lines: Lines) -> bytes:
    text = bytearray(b"".join(lines))
    for _ in range(dice.randrange(1, 9)):
        text[dice.randrange(len(text))] = dice.randrange(256)
    return bytes(text)


def glued(dice: random.Random, lines: Lines) -> bytes:
    place = dice.randrange(len(lines))
    lines[place] = lines[place][: dice.randrange(len(lines[place]))]
    return b"".join(lines)


def separated(dice: random.Random, lines: Lines) -> bytes:
    text = b"".join(lines)
    at = dice.randrange(len(text))
    odd = dice.choice(("\u2028", "\u2029", "\u0085", "\x0b", "\x1c", "\r", "\x00", "\ufeff"))
    return text[:at] + odd.encode() + text[at:]


def nested(dice: random.Random, lines: Lines) -> bytes:
    depth = dice.choice((50, 900, 3000, 30_000))
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    place = dice.randrange(len(lines))
    lines[place] = lines[place].replace(b'"input":{', b'"input":{"deep":' + deep + b",", 1)
    lines.insert(place, deep + b"\n")
    return b"".join(lines)


def mistyped(dice: random.Random, lines: Lines) -> bytes:
    """Any member anywhere becomes something else."""
    for _ in range(dice.randrange(1, 6)):
        place = dice.randrange(len(lines))
        record = json.loads(lines[place])
        found = list(spots(record))
        if found:
            holder, name = dice.choice(found)
            holder[name] = dice.choice(ODD)
            lines[place] = json.dumps(record).encode() + b"\n"
    return b"".join(lines)


def relinked(dice: random.Random, lines: Lines) -> bytes:
    """Links lead anywhere: to siblings, to the future, to themselves, to nothing."""
    records = [json.loads(line) for line in lines]
    uuids = [record["uuid"] for record in records if "uuid" in record]
    for record in records:
        if dice.random() < 0.2:
            name = dice.choice(("parentUuid", "parentUuid", "logicalParentUuid", "uuid"))
            record[name] = dice.choice([*uuids, None, "nowhere"])
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


MUTATIONS: Sequence[Mutation] = (
    *(truncated, swapped, shuffled, dropped, repeated, flipped),
    *(glued, separated, nested, mistyped, mistyped, relinked),
)


def spots(value: Any) -> list[tuple[Any, Any]]:
    """Every member of every object and list in `value`, as its holder and its name."""
    names: list[Any] = [*value] if hasattr(value, "keys") else [*range(len(value))]
    found = [(value, name) for name in names]
    for name in names:
        if isinstance(value[name], dict | list):
            found += spots(value[name])
    return found


def damaged(seed: int, text: bytes) -> tuple[str, bytes]:
    """The mutation that `seed` stands for, and what it makes of `text`."""
    dice = random.Random(seed)
    mutation = MUTATIONS[seed % len(MUTATIONS)]
    return mutation.__name__, mutation(dice, text.splitlines(keepends=True))


def bear(text: bytes) -> str:
    """Read what may be damaged and check what must still hold; how it came out."""
    try:
        found = read(io.BytesIO(text), "file")
    except SidechatError as refusal:
        return refusal.code
    check_turns([draft.body for draft in found.drafts])
    ids = {draft.id for draft in found.drafts}
    assert len(ids) == len(found.drafts)
    assert all(draft.at >= 0 and dump(draft.body) for draft in found.drafts)
    return "read" if found.drafts else "nothing completed"


def main(arguments: Sequence[str]) -> int:
    times = int(arguments[0]) if arguments else 100_000
    files = [Path(name) for name in arguments[1:]] or sorted(FIXTURES.glob("*.jsonl"))
    texts = [file.read_bytes() for file in files]
    seen: Counter[str] = Counter()
    slowest = 0.0
    for seed in range(times):
        name, text = damaged(seed, texts[seed // len(MUTATIONS) % len(texts)])
        begun = time.perf_counter()
        try:
            seen[f"{name}: {bear(text)}"] += 1
        except Exception:
            sys.stderr.write(f"seed {seed}, {name}\n")
            raise
        slowest = max(slowest, time.perf_counter() - begun)
    for kind, count in sorted(seen.items()):
        sys.stdout.write(f"{count:8} {kind}\n")
    sys.stdout.write(f"{times} mutations, 0 crashes, slowest {slowest * 1000:.0f} ms\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
