"""What each command says, to people and to programs, word for word."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from sidechat_mcp.errors import ParentNotFound, SessionNotFound
from sidechat_mcp.ports.client import Found
from sidechat_mcp.sidechat.reports import Listing
from tests.behaviours import behaviour
from tests.cli.acting import ANSWERED, FORKED, LISTED, NOTE, SPENT, Actor, command


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


REPORT = """\
Answers are quotes.
Forked: sidechat://sessions/child
  from      claude-code:one, after turn 12 (event 143)
  inherits  12 turns, 144 events, about 3,214 tokens (code points / 4)
  cut       1 turn behind the last completed one (3 events)
  repaired  2 open calls got a result that says the outcome is unknown
  compacted 4 turns known only as a summary
  skipped   1 broken line
  answers   quoting
  rights    reads this log only
  pays      costs nothing
  head      identical (sha256 abababababab…)
  prefix    sha256 cdcdcdcdcdcd…
"""
NEXT = "Next: sidechat chat child (/merge there takes a note back), or sidechat ask -s child TEXT\n"


@behaviour("cli:answers-on-stdout")
def test_a_fork_report() -> None:
    done = command("fork", "claude-code:one")
    assert (done.status, done.out, done.err) == (0, REPORT, NEXT)


def test_a_fork_report_says_only_what_there_is_to_say() -> None:
    bare = replace(
        FORKED,
        cut_turns=0,
        cut_events=0,
        repaired=0,
        compacted=None,
        skipped={},
        notice="",
        head="substituted",
        head_digest=None,
        again=True,
    )
    assert (
        command("fork", actor=Actor([bare])).out
        == """\
Forked already: sidechat://sessions/child
  from      claude-code:one, after turn 12 (event 143)
  inherits  12 turns, 144 events, about 3,214 tokens (code points / 4)
  answers   quoting
  rights    reads this log only
  pays      costs nothing
  head      substituted
  prefix    sha256 cdcdcdcdcdcd…
"""
    )


def test_a_fork_with_a_question_shows_the_report_and_then_the_answer() -> None:
    actor = Actor(pieces=["Because ", "readers "])
    done = command("fork", "--file", "talk.jsonl", "-q", "Why WAL?", actor=actor)
    assert done.out == REPORT + "\nBecause readers never wait.\n"
    assert done.err == "— turn 13 · answered\n" + NEXT
    assert actor.calls == [
        ("fork", None, Path("talk.jsonl")),
        ("converse", "child", "Why WAL?"),
    ]


def test_a_session_that_cannot_be_read_is_listed_and_says_so() -> None:
    damage = "Session 'child' is damaged at event 3. Restore it, or `forget child`."
    actor = Actor(listing=Listing((replace(LISTED, damaged=damage),), None))
    done = command("sessions", actor=actor)
    assert done.out.splitlines()[2:] == [f"  damaged   {damage}"]
    document = json.loads(command("sessions", "--json", actor=actor).out)
    assert document["sessions"][0]["damaged"] == damage


def test_a_note_says_what_a_person_should_be_told_as_well() -> None:
    actor = Actor(note=replace(NOTE, notice="The conversation went back."))
    assert command("merge", actor=actor).err.endswith("\nThe conversation went back.\n")
    document = json.loads(command("merge", "--json", actor=actor).out)
    assert document["notice"] == "The conversation went back."


@behaviour("cli:names-parent")
def test_without_a_live_parent_the_newest_of_the_folder_is_taken_and_named() -> None:
    title = "Why WAL?  And " + "why " * 20
    newest = Found("claude-code", "new", Path("new.jsonl"), 1_700_000_000_000, title=title)
    actor = Actor([ParentNotFound("None is live."), FORKED], found=[newest])
    done = command("fork", actor=actor)
    brief = "Why WAL? And " + "why " * 11 + "wh…"
    named = f"Taking the newest conversation of this folder, claude-code:new “{brief}”, of"
    assert done.err == f"{named} 2023-11-14 22:13.\n{NEXT}"
    assert actor.calls == [("fork", None, None), ("fork", "claude-code:new", None)]


@behaviour("cli:names-parent")
def test_a_parent_that_was_named_is_never_replaced_by_another() -> None:
    newest = Found("claude-code", "new", Path("new.jsonl"), 0)
    for argv in (["fork", "claude-code:old"], ["fork", "--file", "old.jsonl"]):
        actor = Actor([ParentNotFound("It is gone."), FORKED], found=[newest])
        done = command(*argv, actor=actor)
        assert (done.status, done.out, done.err) == (2, "", "It is gone.\n")
        assert len(actor.calls) == 1


def test_a_folder_without_conversations_gets_the_refusal_that_says_what_to_do() -> None:
    done = command("fork", actor=Actor([ParentNotFound("None is live.", then="Name one.")]))
    assert (done.status, done.err) == (
        2,
        f"None is live. No client's conversation was found in {os.getcwd()}. Go to the folder of"
        " one, or name it: sidechat fork CLIENT:ID, or sidechat fork --file PATH.\n",
    )


def test_a_file_that_is_named_as_a_parent_is_leads_to_the_word_for_files(tmp_path: Path) -> None:
    file = tmp_path / "of mine.jsonl"
    unknown = Actor([SessionNotFound(str(file))])
    for text in (str(file), "Why not Redis? " * 100):
        assert command("fork", text, actor=unknown).err.startswith("There is no session ")
    file.touch()
    done = command("fork", str(file), actor=unknown)
    assert (done.status, done.err) == (
        2,
        f"{file} is a file, and no session's id."
        f" To fork what it holds: sidechat fork --file '{file}'\n",
    )


@behaviour("cli:answers-on-stdout")
def test_an_answer_stands_alone_and_where_it_went_is_said_before_it() -> None:
    actor = Actor(answer=replace(ANSWERED, status=None, usage=SPENT, cache="hit 1100"))
    done = command("ask", "why?", actor=actor)
    assert done.out == "Because readers never wait.\n"
    assert (
        done.err
        == """\
In “Why WAL?” (child):
— turn 13 · 1,200 in, 34 out · cache hit 1100
"""
    )


@behaviour("cli:failed-turn")
def test_a_turn_that_failed_is_shown_and_is_no_success() -> None:
    failed = replace(ANSWERED, status=None, reason="error", advice="The key is wrong. Ask again.")
    for argv in (["ask", "why?"], ["fork", "-q", "why?"]):
        done = command(*argv, actor=Actor(answer=failed))
        assert (done.status, "Because readers never wait.\n" in done.out) == (4, True)
        assert "— turn 13 · ended: error\nThe key is wrong. Ask again.\n" in done.err
        told = command(*argv, "--json", actor=Actor(answer=failed))
        document = json.loads(told.out)
        answer = document.get("first") or document
        assert (told.status, answer["reason"]) == (4, "error")
        assert answer["notice"] == "The key is wrong. Ask again."
    for reason in ("max_tokens", "blocked"):
        assert command("ask", "w", actor=Actor(answer=replace(failed, reason=reason))).status == 0


@behaviour("cli:answers-on-stdout")
def test_a_note_stands_alone_and_its_receipt_beside_it() -> None:
    done = command("merge", actor=Actor(note=replace(NOTE, supersedes="n0", chosen="Why WAL?")))
    assert done.out == "WAL: readers never wait.\n"
    assert (
        done.err
        == """\
In “Why WAL?” (child):
Merged into claude-code:one.
  note      n1 · revision 1 · 24 of 2,000 characters
  place     event 150 of parent
  delivery  pending
  replaces  n0
"""
    )
    again = command("merge", actor=Actor(note=replace(NOTE, again=True)))
    assert again.err.startswith("Merged before into claude-code:one.\n")


def test_a_draft_is_called_one() -> None:
    actor = Actor()
    done = command("merge", "-s", "child", "--draft", actor=actor)
    assert done.out == "WAL: readers never wait.\n"
    assert (
        done.err
        == """\
— draft for claude-code:one · 24 of 2,000 characters
Take it back as it stands: sidechat merge -s child; or your own words: --note TEXT.
"""
    )
    command("merge", "--note", "-", actor=actor, said="My own words.\n")
    assert actor.calls == [("merge", "child", None, True), ("merge", None, "My own words.", False)]


def test_a_draft_in_own_words_is_not_said_to_be_what_a_bare_merge_takes_back() -> None:
    done = command("merge", "--draft", "--note", "My own words.")
    assert done.err.splitlines()[1:] == [
        "Nothing is merged yet. The same command without --draft takes it back."
    ]
    talked = command("chat", "child", said="/note\n")
    assert talked.err.splitlines()[1:] == [
        "Take it back as it stands: /merge; or your own words: /note TEXT.",
        "",
    ]


def test_a_list_of_side_sessions() -> None:
    listing = Actor().listing
    done = command("sessions", actor=Actor(listing=replace(listing, next="c2")))
    assert (
        done.out
        == """\
child  Why WAL?
  2023-11-14 22:14 · 2 turns · merged · from claude-code:one
"""
    )
    assert done.err == "More: sidechat sessions --cursor c2\n"
    empty = command("sessions", actor=Actor(listing=Listing((), None)))
    assert (empty.out, empty.err) == ("No side sessions yet. `sidechat fork` makes one.\n", "")


def test_a_list_asks_for_what_was_asked() -> None:
    actor = Actor()
    command(
        "sessions", "--parent", "claude-code:one", "--cursor", "c2", "--limit", "5", actor=actor
    )
    asked = {"parent": "claude-code:one", "cursor": "c2", "limit": 5}
    assert actor.calls == [("sessions", asked)]


def test_a_side_session_is_shown_as_its_page_and_any_other_as_what_was_said() -> None:
    assert command("show", "child").out == "# Why WAL?\n"
    assert (
        command("show", "parent").out
        == """\
turn 1 · user
Question 1

turn 2 · user
Question 2
"""
    )
    assert command("show", "gone").status == 2


def test_a_side_session_as_data_has_its_own_tokens_and_a_parent_none() -> None:
    used = {"input": 10, "output": 5, "cache_read": 8, "cache_write": None}
    shown = json.loads(command("show", "child", "--json").out)
    assert shown["session"] == "child"
    assert {name: shown[name] for name in ("usage", "cache", "compared")} == {
        "usage": used,
        "cache": "hit 8",
        "compared": "same",
    }
    assert json.loads(command("show", "parent", "--json").out).keys() == {
        "session",
        "turns",
        "next",
    }


def test_what_is_forgotten_is_said() -> None:
    assert command("forget", "child").out == "Forgot child.\n"


def test_a_verified_log() -> None:
    assert (
        command("replay", "--verify").out
        == """\
3 requests of 1 session rebuilt
replay: verified
"""
    )


def test_on_a_terminal_a_document_is_indented() -> None:
    assert command("forget", "child", "--json", screen=True).out == (
        '{\n  "session": "child",\n  "forgotten": true\n}\n'
    )
