"""Damages opencode's rows and files in every way the reader must bear.

`python -m tests.clients.opencode_damage [TIMES]` does so TIMES times (100,000 without) and says
what it saw; the suite does it a few times less."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sidechat_mcp.clients.opencode.database import Database, Session, consult
from sidechat_mcp.clients.opencode.records import Row
from sidechat_mcp.clients.opencode.transcript import told
from sidechat_mcp.core.codec import dump
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.clients.cabin import ABORTED, Talk, tool, write
from tests.clients.mutate import ODD

Rows = list[Row]
Mutation = Callable[[random.Random, Rows], Rows]
WHOLE = Session("ses_whole", revert='{"messageID":"msg_s_0011"}')


def sample() -> Talk:
    """A conversation with all there can be in one."""
    talk = Talk("s")
    talk.turn("one", "An answer")
    kept = talk.says("two")
    talk.answers("I look.", tool("c1"), tool("c2", status="error", error="no"), finish="tool-calls")
    talk.answers("Found it.")
    talk.compacts(tail=kept)
    talk.says("A note", synthetic=True)
    talk.says("three")
    talk.answers({"type": "reasoning", "text": "Hm."}, tool("c3", status="running"), error=ABORTED)
    talk.compacts(auto=True, finish=None)
    talk.turn("four", "Another answer")
    talk.says("five")
    talk.answers(tool("c4", status="pending"), finish=None)
    return talk


def rows_of(talk: Talk) -> Rows:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "t.db", talk, wal=False)
        return consult(Path(folder) / "t.db", lambda database: list(database.rows(talk.ref)))


def truncated(dice: random.Random, rows: Rows) -> Rows:
    return rows[: dice.randrange(len(rows))]


def shuffled(dice: random.Random, rows: Rows) -> Rows:
    return dice.sample(rows, len(rows))


def dropped(dice: random.Random, rows: Rows) -> Rows:
    return [
        Row(row.id, row.at, row.text, [part for part in row.parts if dice.random() > 0.2])
        for row in rows
        if dice.random() > 0.2
    ]


def repeated(dice: random.Random, rows: Rows) -> Rows:
    return [row for row in rows for _ in range(dice.choice((1, 1, 2, 3)))]


def flipped(dice: random.Random, rows: Rows) -> Rows:
    def flip(text: bytes | None) -> bytes | None:
        if not text or dice.random() > 0.3:
            return text
        at = dice.randrange(len(text))
        return text[:at] + bytes([dice.randrange(256)]) + text[at + 1 :]

    return [_each(row, flip) for row in rows]


def cut(dice: random.Random, rows: Rows) -> Rows:
    def half(text: bytes | None) -> bytes | None:
        return text[: dice.randrange(len(text))] if text and dice.random() < 0.1 else text

    return [_each(row, half) for row in rows]


def vanished(dice: random.Random, rows: Rows) -> Rows:
    return [_each(row, lambda text: None if dice.random() < 0.1 else text) for row in rows]


def separated(dice: random.Random, rows: Rows) -> Rows:
    def odd(text: bytes | None) -> bytes | None:
        mark = dice.choice(("\u2028", "\u2029", "\u0085", "\x0b", "\r", "\x00", "\ufeff", "\ud800"))
        spelled = mark.encode("utf-8", "surrogatepass")
        return text.replace(b"n", spelled) if text and dice.random() < 0.3 else text

    return [_each(row, odd) for row in rows]


def nested(dice: random.Random, rows: Rows) -> Rows:
    depth = dice.choice((50, 900, 3000, 30_000))
    deep = b'{"a":' * depth + b"1" + b"}" * depth

    def put(text: bytes | None) -> bytes | None:
        if not text or dice.random() > 0.3:
            return text
        return dice.choice((deep, text.replace(b'"input": {}', b'"input": ' + deep)))

    return [_each(row, put) for row in rows]


def mistyped(dice: random.Random, rows: Rows) -> Rows:
    """Any member anywhere becomes something else."""

    def wrong(text: bytes | None) -> bytes | None:
        found = json.loads(text or b"{}")
        spots = list(_spots(found))
        if spots and dice.random() < 0.3:
            holder, name = dice.choice(spots)
            holder[name] = dice.choice(ODD)
        return json.dumps(found).encode()

    return [_each(row, wrong) for row in rows]


def relinked(dice: random.Random, rows: Rows) -> Rows:
    """Answers name any message, compactions keep any tail, calls have one id."""
    ids = [row.id for row in rows]

    def link(text: bytes | None) -> bytes | None:
        found = json.loads(text or b"{}")
        for name in ("parentID", "tail_start_id", "callID"):
            if name in found and dice.random() < 0.5:
                found[name] = dice.choice([*ids, None, "nowhere", "c1"])
        return json.dumps(found).encode()

    return [_each(row, link) for row in rows]


MUTATIONS: Sequence[Mutation] = (
    *(truncated, shuffled, dropped, repeated, flipped, cut, vanished),
    *(separated, nested, mistyped, mistyped, relinked, relinked),
)


def _each(row: Row, change: Callable[[bytes | None], bytes | None]) -> Row:
    return Row(row.id, row.at, change(row.text), [(id, change(text)) for id, text in row.parts])


def _spots(value: Any) -> list[tuple[Any, Any]]:
    names: list[Any] = [*value] if hasattr(value, "keys") else [*range(len(value))]
    found = [(value, name) for name in names]
    for name in names:
        if isinstance(value[name], dict | list):
            found += _spots(value[name])
    return found


def bear(rows: Rows) -> str:
    """Read rows that may be damaged and check what must still hold; how it came out."""
    try:
        return _checked(told(WHOLE, rows))
    except SidechatError as refusal:
        return refusal.code


def _checked(found: Transcript) -> str:
    check_turns([draft.body for draft in found.drafts])
    assert len({draft.id for draft in found.drafts}) == len(found.drafts)
    assert all(draft.at >= 0 and dump(draft.body) for draft in found.drafts)
    return "read" if found.drafts else "nothing completed"


def damaged(seed: int, rows: Rows) -> tuple[str, Rows]:
    """The mutation that `seed` stands for, and what it makes of `rows`."""
    dice = random.Random(seed)
    mutation = MUTATIONS[seed % len(MUTATIONS)]
    return mutation.__name__, mutation(dice, list(rows))


def bear_file(seed: int, text: bytes, folder: Path) -> str:
    """Read a database with damaged bytes, as its newest conversation and as a list."""
    dice = random.Random(seed)
    broken = bytearray(text[: dice.randrange(len(text))] if seed % 4 == 0 else text)
    for _ in range(dice.randrange(1, 40)):
        if broken:
            broken[dice.randrange(len(broken))] = dice.randrange(256)
    file = folder / ".local/share/opencode/opencode.db"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(broken)

    def read(database: Database) -> Transcript:
        session = database.session("s")
        return told(session or Session("s"), database.rows("s"))

    try:
        return _checked(consult(file, read))
    except SidechatError as refusal:
        return refusal.code


def main(arguments: Sequence[str]) -> int:
    times = int(arguments[0]) if arguments else 100_000
    rows, seen, slowest = rows_of(sample()), Counter[str](), 0.0
    for seed in range(times):
        name, changed = damaged(seed, rows)
        begun = time.perf_counter()
        try:
            seen[f"{name}: {bear(changed)}"] += 1
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
