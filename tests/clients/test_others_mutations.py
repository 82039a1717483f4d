"""However a conversation of the other clients is damaged: no crash, whole turns, nothing undamaged
lost.

`python -m tests.clients.test_others_mutations [TIMES] [NAME …]` damages each form so often (100,000
times without) and says what it saw; the suite does it a few times less."""

from __future__ import annotations

import io
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.clients.cline.transcript import read as cline
from sidechat_mcp.clients.continue_dev.transcript import read as continue_dev
from sidechat_mcp.clients.copilot.transcript import read as copilot
from sidechat_mcp.clients.cursor.transcript import read as cursor
from sidechat_mcp.clients.gemini.transcript import read as gemini
from sidechat_mcp.clients.goose.transcript import Row, Session, told
from sidechat_mcp.clients.qwen.transcript import read as qwen
from sidechat_mcp.clients.values import mapping
from sidechat_mcp.clients.vscode.transcript import read as vscode
from sidechat_mcp.clients.zed.transcript import read as zed
from sidechat_mcp.core.codec import dump
from sidechat_mcp.core.content import plain
from sidechat_mcp.core.events import AssistantMessage
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.ports.client import Transcript
from sidechat_mcp.testing.client_contract import check_turns
from tests.behaviours import behaviour
from tests.clients import mutate
from tests.clients.mutate import Lines, Mutation
from tests.clients.readers import client
from tests.clients.wholes import Cline, Continue, Goose, Zed
from tests.clients.writers import Chat, Copilot, Cursor, Gemini, Qwen, talked

TIMES = 660


@dataclass(frozen=True, slots=True)
class Form:
    """A format: an undamaged text of it, and who reads it."""

    text: bytes
    read: Callable[[bytes], Transcript]


def _flat(text: bytes) -> bytes:
    """A document on one line, so that it can be damaged like one."""
    return json.dumps(json.loads(text)).encode() + b"\n"


def _rows() -> bytes:
    talk = talked(Goose(), "First words")
    assert isinstance(talk, Goose)
    lines = ({"role": r, "content": json.loads(c), "sight": s} for r, c, s in talk.rows)
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _goose(text: bytes) -> Transcript:
    """A row a line: what cannot be read stands in its content."""
    session = Session("s", "user", None, None, 0, None)
    rows: list[Row] = []
    for place, line in enumerate(text.split(b"\n")):
        try:
            found: Any = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            given = mapping(found)
            content, sight = (json.dumps(given.get(one)).encode() for one in ("content", "sight"))
            role = given.get("role")
            rows.append(Row(place, None, str(role) if role else None, content, place, sight))
        else:
            rows.append(Row(place, None, "user", line, line[:4], line))
    return told(session, rows, None)


def _document(thread: Any) -> bytes:
    assert isinstance(thread, Zed)
    return thread.document()


FORMS: Mapping[str, Form] = {
    "gemini": Form(
        talked(Gemini(), "First words").text(), lambda text: gemini(io.BytesIO(text), "f")
    ),
    "qwen": Form(talked(Qwen(), "First words").text(), lambda text: qwen(io.BytesIO(text), "f")),
    "copilot": Form(
        talked(Copilot(), "First words").text(), lambda text: copilot(io.BytesIO(text), "f")
    ),
    "cursor": Form(
        talked(Cursor(), "First words").text(), lambda text: cursor(io.BytesIO(text), "f")
    ),
    "vscode": Form(talked(Chat(), "First words").text(), lambda text: vscode(text, "f")),
    "hooks": Form(
        talked(Copilot(editor="1.119.0"), "First words").text(), lambda text: vscode(text, "f")
    ),
    "continue": Form(
        _flat(talked(Continue(), "First words").text()), lambda text: continue_dev(text, "f")
    ),
    "cline": Form(_flat(talked(Cline(), "First words").text()), lambda text: cline(text, "f")),
    "zed": Form(_flat(_document(talked(Zed(), "First words"))), lambda text: zed(text, "f")),
    "goose": Form(_rows(), _goose),
}


def renamed(dice: random.Random, lines: Lines) -> bytes:
    """Members anywhere become each other's."""
    records = [json.loads(line) for line in lines]
    spots = [spot for record in records for spot in mutate.spots(record)]
    for _ in range(dice.randrange(1, 6)):
        (holder, name), (other, theirs) = dice.choice(spots), dice.choice(spots)
        if name in _names(holder) and theirs in _names(other):
            holder[name] = json.loads(json.dumps(other[theirs]))
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _names(holder: Any) -> Sequence[Any]:
    return [*holder] if hasattr(holder, "keys") else [*range(len(holder))]


MUTATIONS: Sequence[Mutation] = (
    *(one for one in mutate.MUTATIONS if one is not mutate.relinked),
    renamed,
)


def damaged(seed: int, text: bytes) -> tuple[str, bytes]:
    dice = random.Random(seed)
    mutation = MUTATIONS[seed % len(MUTATIONS)]
    return mutation.__name__, mutation(dice, text.splitlines(keepends=True))


def bear(form: Form, text: bytes) -> str:
    """Read what may be damaged and check what must still hold; how it came out."""
    try:
        found = form.read(text)
    except SidechatError as refusal:
        return refusal.code if refusal.then else "without a next step"
    check_turns([draft.body for draft in found.drafts])
    assert len({draft.id for draft in found.drafts}) == len(found.drafts)
    assert all(draft.at >= 0 and dump(draft.body) for draft in found.drafts)
    return "read" if found.drafts else "nothing completed"


@behaviour("others:mutations")
@pytest.mark.parametrize("name", FORMS)
def test_a_damaged_conversation_is_read_as_far_as_it_goes(name: str) -> None:
    form = FORMS[name]
    outcomes = Counter(bear(form, damaged(seed, form.text)[1]) for seed in range(TIMES))
    assert outcomes["read"] > TIMES / 3
    assert outcomes.keys() <= {"read", "nothing completed", "unknown_format"}


@behaviour("others:mutations")
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("last", ["truncated", "torn"])
def test_what_stands_before_the_damage_is_kept(name: str, last: str) -> None:
    form = FORMS[name]
    cut = form.text.rindex(b"A last answer") + (3 if last == "torn" else 0)
    assert _answers(form.read(form.text[:cut])) == ["An answer to that.", "It says so."]


@behaviour("others:mutations")
@pytest.mark.parametrize("name", ["goose", "zed"])
async def test_a_damaged_database_is_read_or_refused(name: str, tmp_path: Path) -> None:
    talk = talked(Goose() if name == "goose" else Zed(), "First words")
    text, path = talk.text(), tmp_path / "damaged.db"
    outcomes: Counter[str] = Counter()
    for seed in range(60):
        dice, broken = random.Random(seed), bytearray(text)
        for _ in range(dice.randrange(1, 400)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        path.write_bytes(broken if seed % 3 else broken[: dice.randrange(len(broken))])
        try:
            read = await client(name).read_file(path)
            check_turns([draft.body for draft in read.drafts])
            outcomes["read"] += 1
        except SidechatError as refusal:
            outcomes[refusal.code] += 1
    assert outcomes["unknown_format"]


def _answers(found: Transcript) -> list[str]:
    bodies = [draft.body for draft in found.drafts]
    answers = [plain(one.content) for one in bodies if isinstance(one, AssistantMessage)]
    return [one for one in answers if one]


def main(arguments: Sequence[str]) -> int:
    times = int(arguments[0]) if arguments else 100_000
    for name in arguments[1:] or FORMS:
        form, seen, slowest = FORMS[name], Counter[str](), 0.0
        for seed in range(times):
            kind, text = damaged(seed, form.text)
            begun = time.perf_counter()
            try:
                seen[bear(form, text)] += 1
            except Exception:
                sys.stderr.write(f"{name}: seed {seed}, {kind}\n")
                raise
            slowest = max(slowest, time.perf_counter() - begun)
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(seen.items()))
        sys.stdout.write(f"{name}: {times} mutations, 0 crashes ({counts}), ")
        sys.stdout.write(f"slowest {slowest * 1000:.0f} ms\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
