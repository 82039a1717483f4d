"""The demo, whole: with the shipped conversation, with a changed one, and with none."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sidechat_mcp.surfaces.cli import scenes
from sidechat_mcp.surfaces.cli.curiosity import Told, questions
from sidechat_mcp.surfaces.cli.scenes import handed
from sidechat_mcp.surfaces.cli.stage import SHIPPED, staged
from tests.behaviours import behaviour

SHIPPED_REF = "5e1d0c7b-8a42-4f39-b6d0-93c1a7e4f210"


def play(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """The demo in a process whose temporary files are in `folder`, as Claude Code would see it."""
    environ = {**os.environ, "TMPDIR": str(folder), "CLAUDE_CODE_SESSION_ID": "somebody-elses"}
    return subprocess.run(
        [sys.executable, "-m", "sidechat_mcp", "demo", *argv],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def changed(folder: Path) -> Path:
    """The shipped conversation with every id, name and most words changed."""
    text = SHIPPED.read_text("utf-8").replace(SHIPPED_REF, "0f0f0f0f-1111-4222-8333-444455556666")
    for old, new in {
        "shutterbin": "recipebox",
        "photo": "recipe",
        "picture": "dish",
        "portrait": "layered",
        "duplicates": "leftovers",
        "legal": "kitchen",
        "staging": "tasting",
        "PostgreSQL 16": "Berkeley DB 5",
        "mirela": "someone",
    }.items():
        text = re.sub(old, new, text)
    text = re.sub(r'"(uuid|parentUuid)":"(\w{4})', r'"\1":"\2x', text)
    text = text.replace("msg_", "message_").replace("toolu_", "toolu_x")
    other = folder / "another name.jsonl"
    other.write_text(text, "utf-8")
    return other


@behaviour("cli:demo", "cli:demo-leaves-nothing")
def test_the_demo_tells_the_whole_journey(tmp_path: Path) -> None:
    done = play(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout
    child = re.search(r"Child: (sidechat://sessions/[a-z2-7]{26})\n", shown)
    assert child is not None
    assert f"claude-code:{SHIPPED_REF}" in shown
    assert shown.count("  you What was said about ") == 2
    assert shown.count("Turn 5, assistant: “") >= 1
    for name in ("note", "from", "for", "covers", "size", "sha256", "meanwhile", "placed"):
        assert re.search(rf"^  {name} +\S", shown, re.MULTILINE), name
    assert shown.count("<sidechat-note ") == shown.count("</sidechat-note>") == 1
    assert "⋮ the note above, word for word" in shown
    assert re.search(r"^  note .* ◀$", shown, re.MULTILINE)
    assert shown.splitlines()[-1] == "replay: verified"
    assert list(tmp_path.iterdir()) == []


@behaviour("cli:demo")
def test_with_name_ids_and_text_changed_it_is_the_same_journey(tmp_path: Path) -> None:
    other = changed(tmp_path)
    place = tmp_path / "place"
    place.mkdir()
    before = other.read_bytes(), other.stat().st_mtime_ns
    done = play(place, "--transcript", str(other), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["replay"] == "verified"
    assert re.fullmatch(r"sidechat://sessions/[a-z2-7]{26}", told["child"])
    assert (told["fork"]["turns"], told["fork"]["cut"]["turns"]) == (9, 1)
    assert "recipebox" in json.dumps(told["answers"])
    assert "shutterbin" not in done.stdout
    for answer in told["answers"]:
        assert answer["status"] == "answered"
        assert re.search(r"Turn \d, (user|assistant)[^:]*: “", answer["answer"])
    note = told["note"]
    provenance = note["provenance"]
    assert provenance["note"] == note["note"]
    assert note["text"] in told["handed"]
    assert provenance.keys() >= {
        "child", "parent", "fork_seq", "covers", "turns", "digest", "model", "cap", "chars",
        "revision", "parent_advanced",
    }  # fmt: skip
    roles = [(one["role"], one["note"]) for one in told["native"]["messages"]]
    turn = [("user", False), ("assistant", False)]
    assert roles == [*turn, *turn, ("context", True), *turn]
    assert (other.read_bytes(), other.stat().st_mtime_ns) == before
    assert list(place.iterdir()) == []


@behaviour("cli:demo-leaves-nothing")
def test_a_conversation_without_a_completed_turn_is_one_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"type":"mode","mode":"normal","sessionId":"none-here"}\n')
    place = tmp_path / "place"
    place.mkdir()
    done = play(place, "--transcript", str(empty))
    assert done.returncode in (2, 4)
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert list(place.iterdir()) == []


@behaviour("cli:demo-leaves-nothing")
def test_a_demo_that_is_interrupted_leaves_nothing_either(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "sidechat_mcp", "demo"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("2  Fork"):
            pass
        assert list(tmp_path.iterdir()) != []
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "Interrupted.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_transcript_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    done = play(tmp_path, "--transcript", "/nowhere/at all")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("The transcript '/nowhere/at all' cannot be read. Name another one.\n")


def test_a_stage_has_a_fresh_home_and_nothing_of_the_persons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key of theirs")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "theirs")
    with staged(SHIPPED) as stage:
        [file] = (stage.folder / "claude" / "projects").rglob("*.jsonl")
        assert (file.stem, file.parent.name) == (SHIPPED_REF, "-home-mirela-work-shutterbin")
        assert file.read_bytes() == SHIPPED.read_bytes()
        assert {"ANTHROPIC_API_KEY", "CLAUDE_CODE_SESSION_ID"} & stage.environ.keys() == set()
        assert stage.environ["SIDECHAT_HOME"].startswith(str(stage.folder))
    assert not stage.folder.exists()


def test_questions_are_made_of_the_words_that_stand_out() -> None:
    turns = [
        Told(1, "Which journal mode do we want for the catalogue?", "WAL, as a journal mode."),
        Told(2, "ok", "Fine."),
        Told(3, "<b>And</b> the migration, with legacy rows?", "The migration keeps legacy rows."),
    ]
    assert questions(turns) == [
        "What was said about journal, mode and catalogue?",
        "What was said about migration, legacy and rows?",
    ]
    assert questions(turns) == questions(turns)


def test_a_short_conversation_is_asked_about_all_the_same() -> None:
    assert questions([Told(1, "Journal?", "It is WAL: readers never wait.")]) == [
        "What was said about journal?",
        "What was said about readers, never and wait?",
    ]
    assert questions([Told(1, "ok?", "")]) == ["ok?", "What was said so far?"]


def test_a_long_text_is_wrapped_and_its_lists_hang() -> None:
    text = "- " + "word " * 20 + "\n\n" + "x"
    assert [line[1] for line in scenes.quoted(text) if isinstance(line, tuple)] == [
        "- " + " ".join(["word"] * 16),
        "  " + " ".join(["word"] * 4),
        "",
        "x",
    ]


def test_a_hook_with_nothing_to_say_hands_a_model_nothing() -> None:
    said = {"hookSpecificOutput": {"additionalContext": "A note."}}
    assert [handed("{}"), handed(json.dumps(said))] == ["", "A note."]
