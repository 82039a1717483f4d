"""What Codex's conversations must come out as, and what its own fork and its doors must do."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "codex:oracle": Behaviour(
        "issue 4: bar 2", "The real files hold exactly what was written down by hand before."
    ),
    "codex:mutations": Behaviour(
        "issue 4: bar 2", "However a rollout is damaged, reading never crashes; turns stay whole."
    ),
    "codex:turns": Behaviour(
        "issue 4: transcript", "A turn is what the client marks as one, from start to end."
    ),
    "codex:one-answer": Behaviour(
        "issue 4: transcript", "The items of one response are one answer; its results stand behind."
    ),
    "codex:between-turns": Behaviour(
        "law 7", "What is put in between two turns stands there, in a turn without a number."
    ),
    "codex:old-formats": Behaviour(
        "issue 4: transcript", "Files that mark no turns, and those without envelopes, are read."
    ),
    "codex:compaction": Behaviour(
        "design: mirror", "A compaction begins context anew with what the client kept."
    ),
    "codex:rollback": Behaviour(
        "issue 4: transcript", "Turns that the person took back appear nowhere in what is read."
    ),
    "codex:fork-delta": Behaviour(
        "issue 4: transcript", "A fork that holds only its own part is read from its first thread."
    ),
    "codex:several-metas": Behaviour(
        "issue 4: transcript", "Only the first record of itself says which thread a file is."
    ),
    "codex:compressed": Behaviour(
        "issue 4: transcript", "A compressed rollout is read, or refused in one clear sentence."
    ),
    "codex:no-subagents": Behaviour(
        "issue 4: transcript", "A subagent's thread is never a parent; its conversation is."
    ),
    "codex:unknown-format": Behaviour(
        "law 14", "A file of unknown records is refused with their names; what is skipped counts."
    ),
    "codex:per-call": Behaviour(
        "issue 4: locate", "Each call is located by its own thread id, whatever process it is in."
    ),
    "codex:delivered": Behaviour(
        "law 7", "A note of ours that the rollout shows is reported with the record showing it."
    ),
    "codex:fork-as-it-stood": Behaviour(
        "law 3", "A hosted fork is ephemeral and asks with what its parent's requests had then."
    ),
    "codex:failures": Behaviour("errors", "A turn that failed in the client is told in our words."),
    "codex:inject": Behaviour(
        "law 11", "A note is put into an open, idle thread only where a person opened that door."
    ),
    "codex:setup": Behaviour(
        "issue 4: delivery", "The server and the hook are added by the client's own commands."
    ),
    "codex:never-written": Behaviour("law 11", "No file of the client is changed."),
}
