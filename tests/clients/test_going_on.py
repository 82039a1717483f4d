"""What is read on from where a reading ended is what a whole reading finds there."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from sidechat_mcp.clients.claude_code.client import ClaudeCode
from sidechat_mcp.clients.codex.client import Codex
from sidechat_mcp.clients.pi.client import Pi
from tests.behaviours import behaviour
from tests.clients import test_codex_mutations as codex
from tests.clients import test_pi_mutations as pi
from tests.clients.growing import grown
from tests.clients.houses import FIXTURES
from tests.clients.mutate import MUTATIONS, damaged
from tests.clients.scribe import Scribe, line
from tests.clients.telling import short

TEXTS = {path.stem: path.read_bytes() for path in sorted(FIXTURES.glob("*.jsonl"))}


@behaviour("clients:going-on")
@pytest.mark.parametrize("name", TEXTS)
async def test_a_conversation_that_grows_is_read_on(name: str, tmp_path: Path) -> None:
    less = 0
    for seed in range(5):
        path = tmp_path / f"{seed}.jsonl"
        less += await grown(lambda: ClaudeCode({}), path, TEXTS[name], random.Random(seed))
    assert less, "it never read on"


@behaviour("clients:going-on")
@pytest.mark.parametrize("kind", range(len(MUTATIONS)))
async def test_so_is_one_that_is_damaged(kind: int, tmp_path: Path) -> None:
    for seed in range(kind, kind + 12 * len(MUTATIONS), len(MUTATIONS)):
        text = [*TEXTS.values()][seed // len(MUTATIONS) % len(TEXTS)]
        _, broken = damaged(seed, text)
        await grown(lambda: ClaudeCode({}), tmp_path / f"{seed}.jsonl", broken, random.Random(seed))


@behaviour("clients:going-on")
@pytest.mark.parametrize("seed", range(20))
async def test_so_is_one_whose_person_goes_back_and_compacts(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    scribe = Scribe(version=dice.choice(("1.0.98", "2.1.332")))
    tips: list[str | None] = []
    for n in range(12):
        if tips and dice.random() < 0.25:
            scribe.tip = dice.choice(tips)
        scribe.prompt(f"Question {n}")
        for _ in range(dice.randrange(3)):
            calls = scribe.calls(("Bash", {"command": "a"}), ("Bash", {"command": f"b{n}"}))
            tip = scribe.tip
            for call in calls[: dice.choice((1, 2, 2, 2))]:
                scribe.result(call, "done")
                if dice.random() < 0.2:
                    scribe.tip = tip
        if dice.random() < 0.3:
            scribe.shows("date", "Midnight has passed.")
        if dice.random() < 0.8:
            scribe.says(f"Answer {n}", stop=dice.choice((None, "end_turn", "end_turn")))
        if dice.random() < 0.2:
            scribe.interrupted()
        tips.append(scribe.tip)
    await grown(lambda: ClaudeCode({}), tmp_path / "grown.jsonl", scribe.text(), dice)


CASES = [
    (client, mutations, text)
    for client, mutations, texts in (
        (Codex, codex.MUTATIONS, codex.samples()),
        (Pi, pi.MUTATIONS, pi.samples()),
    )
    for text in texts
]


@behaviour("clients:going-on")
@pytest.mark.parametrize("case", range(len(CASES)))
async def test_so_is_one_of_codex_or_pi(case: int, tmp_path: Path) -> None:
    client, _, text = CASES[case]
    less = 0
    for seed in range(4):
        less += await grown(lambda: client({}), tmp_path / str(seed), text, random.Random(seed))
    assert less, "it never read on"


@behaviour("clients:going-on")
@pytest.mark.parametrize("case", range(len(CASES)))
async def test_and_one_of_theirs_that_is_damaged(case: int, tmp_path: Path) -> None:
    client, mutations, text = CASES[case]
    for seed in range(4 * len(mutations)):
        dice = random.Random(seed)
        broken = mutations[seed % len(mutations)](dice, text.splitlines(keepends=True))
        await grown(lambda: client({}), tmp_path / str(seed), broken, dice)


def _another(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def _changed(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(-4000, os.SEEK_END)  # Not long before the last closed turn's end.
        file.write(b"#")


def _shorter(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@behaviour("clients:going-on")
@pytest.mark.parametrize("anew", [_another, _changed, _shorter])
async def test_a_file_that_was_written_anew_is_read_whole(
    anew: Callable[[Path], None], tmp_path: Path
) -> None:
    path, client = tmp_path / "one.jsonl", ClaudeCode({})
    path.write_bytes(TEXTS["talk"])
    await client.read_file(path)
    assert (await client.read_file(path, since_last=True)).after is not None
    anew(path)
    assert (await client.read_file(path, since_last=True)).after is None


@behaviour("clients:going-on")
async def test_only_what_was_appended_is_looked_at(tmp_path: Path) -> None:
    scribe = Scribe()
    for n in range(5):
        scribe.prompt(f"Question {n}: " + "and why? " * 200)
        scribe.says(f"Answer {n}")
    path, client = tmp_path / "one.jsonl", ClaudeCode({})
    path.write_bytes(scribe.text())
    before = await client.read_file(path)
    with path.open("r+b") as file:
        file.write(b"#" * 1000)
    scribe.prompt("One thing more.")
    scribe.says("And its answer.")
    with path.open("ab") as file:
        file.writelines(line(record) for record in scribe.records[-2:])

    new = await client.read_file(path, since_last=True)

    known = [draft.id for draft in before.drafts]
    assert new.after is not None
    added = [draft.id for draft in new.drafts]
    assert added[: len(known) - 1 - known.index(new.after)] == known[known.index(new.after) + 1 :]
    assert short(new)[-5:] == [
        *("(turn 6", "user: One thing more.", "answer: And its answer.", "usage", "completed)")
    ]
