"""What opencode's conversations must come out as, and what is done in opencode."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "opencode:oracle": Behaviour(
        "issue 4: bar 2", "The real files hold exactly what was written down by hand before."
    ),
    "opencode:never-written": Behaviour(
        "law 11", "No file of opencode's is changed, neither by reading nor by a hosted fork."
    ),
    "opencode:live-database": Behaviour(
        "issue 4: transcript", "A live database shows its newest rows, and its log is left alone."
    ),
    "opencode:three-tables": Behaviour(
        "issue 4: transcript", "Three tables can be read, and none that holds secrets."
    ),
    "opencode:older-tree": Behaviour(
        "issue 4: transcript", "Conversations from before the database are read from their files."
    ),
    "opencode:turns": Behaviour(
        "design: mirror", "A turn is a message and every answer to it; only closed ones are drafts."
    ),
    "opencode:interrupted": Behaviour(
        "law 10", "What was interrupted is closed, with what the model is still shown of it."
    ),
    "opencode:shown-context": Behaviour(
        "issue 4: transcript", "What the model was shown stands where it was shown, and no more."
    ),
    "opencode:compaction": Behaviour(
        "design: mirror", "Context begins anew at a compaction that worked, with its kept tail."
    ),
    "opencode:revert": Behaviour(
        "issue 4: transcript", "What a person took back appears nowhere in what is read."
    ),
    "opencode:subagents": Behaviour(
        "issue 4: transcript", "The session of a task's agent is never the parent."
    ),
    "opencode:delivered": Behaviour(
        "law 7", "A note of ours that a message shows is reported with that message."
    ),
    "opencode:who-is-calling": Behaviour(
        "issue 4: locate", "The one conversation that runs this very call is calling, or none."
    ),
    "opencode:mutations": Behaviour(
        "issue 4: bar 2", "However rows or the file are damaged, reading never crashes."
    ),
    "opencode:hosted": Behaviour(
        "issue 4: hosted", "Each turn reaches the client's own fork, and its answer comes whole."
    ),
    "opencode:denied": Behaviour(
        "law 4", "Every call of a hosted fork is denied by rules and, past them, by its shell."
    ),
    "opencode:alone": Behaviour(
        "law 15", "Our own server knows that it runs inside a hosted fork; nothing acts on its own."
    ),
    "opencode:cleaned-up": Behaviour(
        "law 11", "A hosted fork goes with its folder, also when somebody was killed."
    ),
    "opencode:opt-in": Behaviour(
        "law 11", "What writes to the client's store is done only for who opted in."
    ),
    "opencode:offer": Behaviour(
        "law 8", "A note is written where it wakes nobody and makes nothing final, and once."
    ),
    "opencode:setup": Behaviour(
        "issue 4: setup", "The server is added by the client's own command, absolute paths."
    ),
}
