from __future__ import annotations

import json
from dataclasses import replace

from sidechat_mcp.core import content, handback, render, spending
from sidechat_mcp.core.events import Body, ContextMessage, Header, Usage
from sidechat_mcp.core.handback import Handback
from sidechat_mcp.core.ids import SessionId, TurnId
from sidechat_mcp.core.session import Turn, fold
from tests.behaviours import behaviour
from tests.core.logs import (
    HEAD,
    asked_and_answered,
    child_of,
    condensed,
    end,
    injected,
    place,
    start,
    user,
)

TURN = Turn(TurnId("t"), "turn", 3, 0, 5, "completed", said="Why?", answer="Because.")


def test_a_turn_is_a_heading_the_question_as_a_quotation_and_the_answer() -> None:
    assert render.turn(TURN) == "## Turn 3\n\n> Why?\n\nBecause.\n"


def test_how_a_turn_ended_is_said_unless_it_was_completed() -> None:
    ended = [
        replace(TURN, stop=None, reason=None, answer=""),
        replace(TURN, reason="max_tokens"),
        replace(TURN, reason="error", detail="overloaded_*", answer=""),
        replace(TURN, verdict="weak"),
        replace(TURN, verdict="answered"),
    ]

    assert [render.turn(turn).removeprefix("## Turn 3\n\n> Why?\n\n") for turn in ended] == [
        "*Not answered yet.*\n",
        "Because.\n\n*The answer stopped at the model's length limit.*\n",
        "*This turn failed.* overloaded\\_\\*\n",
        "Because.\n\n*Match: weak.*\n",
        "Because.\n",
    ]


@behaviour("core:render-own-headings")
def test_what_was_said_cannot_pass_for_our_headings() -> None:
    turn = replace(
        TURN,
        said="one\n## Turn 9\n\n```\ntwo",
        answer="# Title\n## Turn 9\n### Deep\nTurn 9\n---\n<!-- gone\n    # code\n"
        "```py\n# kept\n## too",
    )

    assert render.turn(turn) == (
        "## Turn 3\n\n"
        "> one\n> ## Turn 9\n>\n> ```\n> two\n\n"
        "#### Title\n##### Turn 9\n###### Deep\nTurn 9\n\\---\n&lt;!-- gone\n    # code\n"
        "```py\n# kept\n## too\n```\n"
    )


def test_an_answer_keeps_its_markdown() -> None:
    answer = "- *one*\n- `two`\n\n---\n\n~~~\n```\n---\n~~~\n\n| a |\n|---|\n\n1. <b>\n\n``` a`b"

    assert render.turn(replace(TURN, answer=answer)) == f"## Turn 3\n\n> Why?\n\n{answer}\n"


@behaviour("core:render-harmless")
def test_what_is_shown_has_no_escapes_and_no_credentials() -> None:
    token = "gh" + "p_" + "a1B2" * 9
    shown = render.turn(replace(TURN, said=f"\x1b[2J{token}", answer=f"\u202e{token}\x07"))

    assert shown == ("## Turn 3\n\n> [redacted: GitHub token]\n\n[redacted: GitHub token]\n")


def test_a_side_session_shows_its_own_turns_and_notes_and_counts_what_it_inherited() -> None:
    parent = place([HEAD, *asked_and_answered("t1", 1, "secret past", "a")])
    header = child_of(parent, 6)
    note = Handback(
        note="calm-otter",
        child=SessionId("grandchild"),
        parent=header.id,
        text="# Found\nit",
        fork_seq=8,
        covers=(9, 13),
        turns=1,
        model=None,
        cap=100,
        revision=1,
        carrier="log",
    )
    received: Body = ContextMessage(
        TurnId("i"), content.text(handback.wrap(note)), handback.source(note)
    )
    own = place(
        [
            *injected("f", "framing"),
            *asked_and_answered("t2", 2, "What is *it*?", "That."),
            start("i", of="injection"),
            received,
            end("i", "injection"),
            *condensed("c", "too long", "The note."),
            start("t3", 3),
            user("t3", "And?"),
        ],
        header.id,
        6,
    )

    assert render.session(fold(header, [*parent, *own]), own) == (
        "# What is \\*it\\*?\n\n"
        "Side session `child`, forked from `parent` at event 5, agent scripted.\n\n"
        "1 turn inherited from the parent, not repeated here.\n\n"
        "## Turn 2\n\n> What is *it*?\n\nThat.\n\n"
        "## Note from `grandchild`\n\n#### Found\nit\n\n"
        "## Note drafted\n\nThe note.\n\n"
        "## Turn 3\n\n> And?\n\n*Not answered yet.*\n"
    )


def test_a_header_is_one_line() -> None:
    mirror = Header(
        SessionId("m1"), 0, "mirror", "local", "quoting", client="claude-code", client_ref="a`b\nc"
    )

    assert render.header(mirror) == (
        "Mirror `m1`, of claude-code conversation a'b c, agent quoting."
    )


def test_a_log_is_a_line_an_event_with_its_place() -> None:
    parent = place(asked_and_answered("t1", 1, "q\u2028", "a"))
    lines = render.log(parent).split("\n")

    assert lines.pop() == ""
    assert [json.loads(line)["seq"] for line in lines] == [0, 1, 2, 3, 4]
    assert json.loads(lines[1]) == {
        "session": "parent",
        "seq": 1,
        "id": "parent-1",
        "at": 1001,
        "body": {
            "turn": "t1",
            "content": [{"text": "q\u2028", "type": "text"}],
            "kind": "user/message",
        },
    }


def test_a_side_session_of_a_clients_conversation_is_told_by_its_parent() -> None:
    child = Header(
        SessionId("c"),
        0,
        "sidechat",
        "local",
        'client:["codex","r"]',
        SessionId("p"),
        3,
        None,
        "codex",
    )
    assert render.header(child) == "Side session `c`, forked from `p` at event 2, agent client."


def test_a_side_session_shows_its_own_tokens_and_what_the_cache_gave() -> None:
    spent = spending.total([Usage(TurnId("t"), 100, 7, 90), Usage(TurnId("t"), 120, None, None)])
    assert spent == spending.Spending(220, 7, 90, None)
    assert [spending.cache([Usage(TurnId("t"), 1, 1, read)]) for read in (5, 0, None)] == [
        "hit 5",
        "miss",
        "not reported",
    ]
    assert spending.total([]) is None
