"""However opencode's rows or its file are damaged: no crash, whole turns, nothing else lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidechat_mcp.clients.opencode.database import Session
from sidechat_mcp.clients.opencode.records import Row
from sidechat_mcp.clients.opencode.transcript import told
from tests.behaviours import behaviour
from tests.clients.cabin import Talk, write
from tests.clients.opencode_damage import MUTATIONS, bear, bear_file, damaged, rows_of, sample

TIMES = 3000
FILES = 400


@behaviour("opencode:mutations")
@pytest.mark.parametrize("kind", range(len(MUTATIONS)))
def test_damaged_rows_are_read_as_far_as_they_go(kind: int) -> None:
    rows = rows_of(sample())
    outcomes = {bear(damaged(seed, rows)[1]) for seed in range(kind, TIMES, len(MUTATIONS))}
    assert "read" in outcomes


@behaviour("opencode:mutations")
def test_a_damaged_file_is_read_as_far_as_it_goes_or_refused(tmp_path: Path) -> None:
    write(tmp_path / "whole.db", sample(), wal=False)
    text = (tmp_path / "whole.db").read_bytes()
    outcomes = {bear_file(seed, text, tmp_path) for seed in range(FILES)}
    assert outcomes >= {"read", "unknown_format"}


@behaviour("opencode:mutations")
@pytest.mark.parametrize("broken", [b"", b"{", b"[1]", b"\xff" * 40, b'{"a":' * 50_000, None])
def test_every_undamaged_message_is_kept(broken: bytes | None) -> None:
    talk = Talk("s")
    for n in range(6):
        talk.turn(f"Question {n}", f"Answer {n}")
    rows = rows_of(talk)
    for place in (4, 5):
        without = told(Session("s"), rows[:place] + rows[place + 1 :])
        row = Row(rows[place].id, rows[place].at, broken, rows[place].parts)
        found = told(Session("s"), [*rows[:place], row, *rows[place + 1 :]])
        assert found.drafts == without.drafts
        assert sum(found.skipped.unreadable.values()) == 1
