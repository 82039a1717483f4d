"""However a session file is damaged: no crash, whole turns, nothing undamaged lost.

`python -m tests.clients.test_pi_mutations [TIMES] [FILE …]` does so TIMES times (100,000 without)
and says what it saw; the suite does it a few times less."""

from __future__ import annotations

import io
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.jsonl import Tally, objects
from sidechat_mcp.clients.pi.records import SHAPE
from sidechat_mcp.clients.pi.transcript import read
from sidechat_mcp.core.codec import dump
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour
from tests.clients import mutate
from tests.clients.mutate import Lines, Mutation
from tests.clients.pi_writing import TOOL, Session
from tests.clients.test_pi_contract import long_talk

TIMES = 2800


def relinked(dice: random.Random, lines: Lines) -> bytes:
    """Ids of entries and calls, links, kinds and stops become each other's, or nothing."""
    records = [json.loads(line) for line in lines]
    names = (
        *("id", "parentId", "type", "role", "toolCallId", "stopReason", "version"),
        *("firstKeptEntryId", "firstKeptEntryIndex", "targetId", "replacement", "sections"),
    )
    found = [
        (holder, name)
        for record in records
        for holder in (record, record.get("message", {}))
        for name in names
        if name in holder
    ]
    for holder, name in found:
        if dice.random() < 0.1:
            other, theirs = dice.choice(found)
            holder[name] = dice.choice([other[theirs], None, "nowhere", -1, "compaction"])
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def deep(dice: random.Random, lines: Lines) -> bytes:
    """What a call was given, or a section is, is nested ever so deeply."""
    depth = dice.choice((50, 400, 900, 3000, 30_000))
    inner = b'{"a":' * depth + b"1" + b"}" * depth
    for name in (b'"arguments": ', b'"parameters": ', b'"preamble": ', b'"content": '):
        place = dice.randrange(len(lines))
        lines[place] = lines[place].replace(name, name + inner + b', "b": ', 1)
    return b"".join(lines)


MUTATIONS: Sequence[Mutation] = (
    *(one for one in mutate.MUTATIONS if one is not mutate.relinked),
    relinked,
    relinked,
    deep,
)


def samples() -> list[bytes]:
    rich = long_talk("/srv/ferry")
    rich.system(content="Be brief.", sections={"cwd": None}, toolsAdded=[TOOL], toolsRemoved=[{}])
    kept = rich.user("Where?")
    rich.answer("There.")
    rich.entry("context_edit", targetId=kept, replacement={"content": "Where to?"})
    rich.entry("branch_summary", fromId=kept, summary="It sank.")
    rich.result(rich.working("Look.", "edit", path="b.txt"), "done")
    rich.entry("compaction", summary="Done.", firstKeptEntryId=kept, systemMessage={"content": "x"})
    rich.answer("Looked.", "length")
    old = Session("old", version=None)
    for n in range(4):
        old.result(old.working(f"question {n}"))
        old.answer(f"answer {n}")
    old.entry("compaction", summary="In short.", firstKeptEntryIndex=6, tokensBefore=9)
    old.turn("more")
    return [rich.bytes, old.bytes]


def damaged(seed: int, text: bytes) -> tuple[str, bytes]:
    dice = random.Random(seed)
    mutation = MUTATIONS[seed % len(MUTATIONS)]
    return mutation.__name__, mutation(dice, text.splitlines(keepends=True))


def bear(text: bytes) -> str:
    """Read what may be damaged and check what must still hold; how it came out."""
    try:
        found = read(io.BytesIO(text), "file")
    except SidechatError as refusal:
        str(refusal).encode()  # What a terminal must be able to show.
        return refusal.code
    check_turns([draft.body for draft in found.drafts])
    ids = {draft.id for draft in found.drafts}
    assert len(ids) == len(found.drafts)
    assert all(draft.at >= 0 and dump(draft.body) for draft in found.drafts)
    return "read" if found.drafts else "nothing completed"


@behaviour("pi:mutations")
@pytest.mark.parametrize("kind", range(len(MUTATIONS)))
def test_a_damaged_session_is_read_as_far_as_it_goes(kind: int) -> None:
    texts = samples()
    outcomes: set[str] = set()
    for seed in range(kind, TIMES, len(MUTATIONS)):
        _, text = damaged(seed, texts[seed // len(MUTATIONS) % len(texts)])
        outcomes.add(bear(text))
    assert "read" in outcomes


@behaviour("pi:mutations")
@pytest.mark.parametrize("seed", range(40))
def test_every_undamaged_entry_is_kept(seed: int) -> None:
    dice = random.Random(seed)
    lines = samples()[seed % 2].splitlines(keepends=True)
    place = dice.randrange(len(lines))
    kept = _objects(lines[:place] + lines[place + 1 :], Tally())
    lines[place] = dice.choice(
        [
            lines[place][: dice.randrange(1, len(lines[place]) - 1)] + b"\n",
            lines[place][: dice.randrange(1, len(lines[place]) // 2)],
            b'{"a":' * 50_000 + b"\n",
            b"[" + lines[place].rstrip() + b"]\n",
            b"\xff" * 40 + b"\n",
        ]
    )
    tally = Tally()
    assert _objects(lines, tally) == kept
    assert sum(tally.unreadable.values()) + tally.ignored["unfinished last line"] == 1


def _objects(lines: Lines, tally: Tally) -> list[dict[str, Any]]:
    return [*objects(io.BytesIO(b"".join(lines)), SHAPE, tally)]


def main(arguments: Sequence[str]) -> int:
    times = int(arguments[0]) if arguments else 100_000
    texts = [Path(name).read_bytes() for name in arguments[1:]] or samples()
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
