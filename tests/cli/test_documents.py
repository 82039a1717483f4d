"""What `--json` says: one document, with what the tool of that name answers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sidechat_mcp.surfaces import shapes
from sidechat_mcp.surfaces.mcp import words as tool_words
from tests.behaviours import behaviour
from tests.cli.acting import ANSWERED, DRAFT, FORKED, LISTING, NOTE, SPENT, Actor, command

WRAPPED = NOTE.wrapped


@behaviour("cli:one-document", "cli:shapes")
@pytest.mark.parametrize(
    ("argv", "document"),
    [
        (
            ["ask", "w"],
            {
                "session": "child",
                "turn": 13,
                "answer": "Because readers never wait.",
                "reason": "completed",
                "status": "answered",
                "usage": None,
                "cache": "not reported",
            },
        ),
        (
            ["merge"],
            {
                "note": "n1",
                "session": "child",
                "parent": "parent",
                "text": "WAL: readers never wait.",
                "chars": 24,
                "cap": 2000,
                "seq": 150,
                "revision": 1,
                "delivery": "pending",
                "wrapped": WRAPPED,
            },
        ),
        (
            ["merge", "--draft"],
            {
                "note": "",
                "session": "child",
                "parent": "parent",
                "text": "WAL: readers never wait.",
                "chars": 24,
                "cap": 2000,
                "seq": None,
                "revision": 0,
                "delivery": "none",
            },
        ),
        (
            ["show", "child"],
            {
                "session": "child",
                "turns": [
                    {"turn": 1, "role": "user", "text": "Question 1"},
                    {"turn": 2, "role": "user", "text": "Question 2"},
                ],
                "next": None,
                "usage": {"input": 10, "output": 5, "cache_read": 8, "cache_write": None},
                "cache": "hit 8",
                "compared": "same",
            },
        ),
        (["forget", "child"], {"session": "child", "forgotten": True}),
        (
            ["replay", "--verify"],
            {
                "verdict": "verified",
                "sessions": [
                    {
                        "session": "child",
                        "requests": 3,
                        "verdict": "verified",
                        "why": "",
                        "seq": None,
                        "wire": None,
                    }
                ],
            },
        ),
        (
            ["sessions"],
            {
                "sessions": [
                    {
                        "session": "child",
                        "uri": "sidechat://sessions/child",
                        "title": "Why WAL?",
                        "parent": "parent",
                        "created": "2023-11-14T22:13:20.000Z",
                        "active": "2023-11-14T22:14:20.000Z",
                        "turns": 2,
                        "merged": True,
                    }
                ],
                "next": None,
            },
        ),
    ],
)
def test_documents(argv: list[str], document: dict[str, object]) -> None:
    done = command(*argv, "--json")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == document


@behaviour("cli:shapes")
def test_the_document_of_a_fork() -> None:
    done = command(
        "fork", "-q", "Why WAL?", "--json", actor=Actor(answer=replace(ANSWERED, usage=SPENT))
    )
    document = json.loads(done.out)
    first = document.pop("first")
    assert (done.status, done.err) == (0, "")
    assert first["usage"] == {"input": 1200, "output": 34, "cache_read": 1100, "cache_write": None}
    assert document == {
        "session": "child",
        "uri": "sidechat://sessions/child",
        "parent": "parent",
        "fork_seq": 143,
        "seed_length": 144,
        "turns": 12,
        "tokens": {"estimate": 3214, "method": "code points / 4"},
        "cut": {"turns": 1, "events": 3},
        "repaired": {"calls": 2},
        "compacted": {"turns": 4},
        "agent": {
            "name": "quoting",
            "model": None,
            "pays": "costs nothing",
            "rights": "reads this log only",
        },
        "head": "identical",
        "head_digest": "ab" * 32,
        "prefix_digest": "cd" * 32,
        "notice": "Answers are quotes. Not read: 1 × broken line.",
    }


@behaviour("cli:shapes")
def test_a_document_is_what_the_tool_of_that_name_answers() -> None:
    answered = replace(ANSWERED, advice="Ask again.", usage=SPENT)
    pairs = [
        (["fork"], Actor(), tool_words.forked(FORKED).data),
        (["merge"], Actor(), tool_words.merged(NOTE).data),
        (["merge", "--draft"], Actor(), tool_words.merged(DRAFT).data),
        (["sessions"], Actor(), tool_words.listed(LISTING).data),
        # A terminal keeps no record of a talk, as a chat does: that alone is not said there.
        (["ask", "w"], Actor(answer=answered), shapes.answered(answered)),
    ]
    for argv, actor, theirs in pairs:
        assert json.loads(command(*argv, "--json", actor=actor).out) == theirs, argv
    told = tool_words.answered(answered).data or {}
    assert told.pop("notice") == f"Ask again. {tool_words.recorded('child')}"
    assert {**told, "notice": "Ask again."} == shapes.answered(answered)
