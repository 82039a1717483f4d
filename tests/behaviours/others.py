"""What the conversations of the clients that are only found and read must come out as."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "others:oracle": Behaviour(
        "issue 4: bar 2", "The real files hold exactly what was written down by hand before."
    ),
    "others:mutations": Behaviour(
        "issue 4: bar 2", "However a conversation is damaged, nothing crashes; turns stay whole."
    ),
    "others:unknown-format": Behaviour(
        "law 14", "A file of an unknown kind is refused in one sentence with a next step."
    ),
    "others:whose-file": Behaviour(
        "issue 4: transcript", "Each client's file is read by that client alone, whoever is asked."
    ),
    "others:who-is-calling": Behaviour(
        "issue 4: locate", "A client's sign is believed only while nothing speaks for another one."
    ),
    "others:waiting-call": Behaviour(
        "issue 4: locate", "Where a client began another session, the one that waits is found."
    ),
    "others:compaction": Behaviour(
        "design: mirror", "Context begins anew at a compaction; older turns stay for display."
    ),
    "others:rewind": Behaviour(
        "issue 4: transcript", "What a person rewound away appears nowhere in what is read."
    ),
    "others:resume": Behaviour(
        "design: mirror", "A session that is resumed, and spelled anew by that, stays what it was."
    ),
    "others:no-subagents": Behaviour(
        "issue 4: transcript", "What subagents do is no conversation, and in none."
    ),
    "others:shown-context": Behaviour(
        "issue 4: transcript", "What a client puts around a person's words is context."
    ),
    "others:old-formats": Behaviour(
        "issue 4: transcript", "Older spellings of a format come out as the present one does."
    ),
    "others:delivered": Behaviour(
        "law 7", "A note of ours that a transcript shows is reported with the record showing it."
    ),
    "others:read-only": Behaviour(
        "law 11", "A live database is read with its log, and only the tables that are named."
    ),
    "others:later": Behaviour("facts: hosts E1", "A client that is never met is never imported."),
    "excerpt:recorded": Behaviour(
        "issue 4: excerpt", "Text given as a parent is forked, recorded and labelled as an excerpt."
    ),
    "excerpt:nothing-invented": Behaviour(
        "issue 4: excerpt", "An excerpt without an answer has a mark in its place, by no model."
    ),
    "excerpt:same-text": Behaviour(
        "issue 4: excerpt", "The same text is one excerpt, of which any number of forks are made."
    ),
}
