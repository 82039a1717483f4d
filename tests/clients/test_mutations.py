"""However a transcript is damaged: no crash, whole turns, nothing undamaged lost."""

from __future__ import annotations

import io
import random

import pytest

from sidechat_mcp.clients.claude_code.records import SHAPE
from sidechat_mcp.clients.jsonl import Tally, objects
from tests.behaviours import behaviour
from tests.clients.houses import FIXTURES
from tests.clients.mutate import MUTATIONS, bear, damaged

TEXTS = [path.read_bytes() for path in sorted(FIXTURES.glob("*.jsonl"))]
TIMES = 2000


@behaviour("clients:mutations")
@pytest.mark.parametrize("kind", range(len(MUTATIONS)))
def test_a_damaged_transcript_is_read_as_far_as_it_goes(kind: int) -> None:
    outcomes: set[str] = set()
    for seed in range(kind, TIMES, len(MUTATIONS)):
        _, text = damaged(seed, TEXTS[seed // len(MUTATIONS) % len(TEXTS)])
        outcomes.add(bear(text))
    assert "read" in outcomes


@behaviour("clients:mutations")
@pytest.mark.parametrize("seed", range(40))
def test_every_undamaged_record_is_kept(seed: int) -> None:
    dice = random.Random(seed)
    lines = TEXTS[seed % len(TEXTS)].splitlines(keepends=True)
    place = dice.randrange(len(lines))
    kept = [*objects(io.BytesIO(b"".join(lines[:place] + lines[place + 1 :])), SHAPE, Tally())]
    lines[place] = dice.choice(
        [
            lines[place][: dice.randrange(1, len(lines[place]))] + b"\n",
            lines[place][: dice.randrange(1, len(lines[place]) // 2)],
            b'{"a":' * 50_000 + b"\n",
            b"[" + lines[place].rstrip() + b"]\n",
            b"\xff" * 40 + b"\n",
        ]
    )
    tally = Tally()
    assert [*objects(io.BytesIO(b"".join(lines)), SHAPE, tally)] == kept
    assert sum(tally.unreadable.values()) + tally.ignored["unfinished last line"] == 1
