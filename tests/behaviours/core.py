"""What `core` must do."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "core:body-round-trip": Behaviour(
        "law 1", "What is stored of an event is read back as it was."
    ),
    "core:one-line": Behaviour("case SC-003", "A stored body is one line, whatever cuts lines."),
    "core:unknown-kept": Behaviour("design: events", "An unknown kind is kept verbatim."),
    "core:upcast": Behaviour("design: events", "An older spelling is raised when it is read."),
    "core:checksum": Behaviour("issue: bar 6", "A flipped byte of a stored event is noticed."),
    "core:fold-suffix": Behaviour(
        "law 1", "A suffix of a log folds to the turns that begin in it."
    ),
    "core:own-open-turn": Behaviour("style: lesson 1", "Only an own turn is ever open."),
    "core:usage-own": Behaviour("design: events", "Inherited usage is history, not spending."),
    "core:balanced-prefix": Behaviour(
        "design: balanced completed-turn prefix",
        "A cut keeps all up to the last completed numbered turn and the injections behind it.",
    ),
    "core:cut-from-tail": Behaviour(
        "law 2", "A cut is found from the end of a log, or more of it is asked for."
    ),
    "core:closing": Behaviour("law 10", "An open turn is closed with a result for each open call."),
    "core:note-splits-nothing": Behaviour(
        "law 7", "A note comes after the answer in flight and its whole batch, live and on replay."
    ),
    "core:results-by-call": Behaviour(
        "case SC-069", "Results stand behind their answer in the order of its calls."
    ),
    "core:compaction": Behaviour("design: events", "Context begins at the last compaction."),
    "core:unknown-refused": Behaviour(
        "design: events", "An unknown event that is not ignorable refuses the log."
    ),
    "core:assemble-pure": Behaviour(
        "law 1", "Every request is rebuilt from the events before it, byte for byte."
    ),
    "core:inherited-bytes": Behaviour("law 3", "Inherited messages come out byte for byte."),
    "core:digest-continued": Behaviour("law 3", "The digest of a prefix can be continued."),
}
