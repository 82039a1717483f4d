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
    "core:redact-families": Behaviour(
        "case SC-102", "A credential of any family is taken out, whatever surrounds it."
    ),
    "core:redact-leaves-alone": Behaviour(
        "case SC-102", "Digests, ids, images, code and prose are not damaged."
    ),
    "core:redact-idempotent": Behaviour("law 9", "What was redacted is not changed again."),
    "core:redact-linear": Behaviour("law 9", "No text makes redacting slow."),
    "core:harmless": Behaviour(
        "case SC-075", "Escapes, overrides and hidden characters go; emoji and scripts stay."
    ),
    "core:note-round-trip": Behaviour("law 6", "A note is read back from its event, text and all."),
    "core:wrapper-holds": Behaviour("law 8", "The text of a note cannot close its own wrapper."),
    "core:cap": Behaviour("law 9", "The cap counts code points and refuses instead of cutting."),
    "core:merge-identity": Behaviour(
        "law 6", "A merge is known by child, last completed turn and only a person's own text."
    ),
    "core:draft-reused": Behaviour("law 9", "A draft is reused while the child has no newer turn."),
    "core:note-seen": Behaviour("law 13", "A delivered note is known by the id in its wrapper."),
    "core:render-own-headings": Behaviour("case SC-075", "What was said cannot pass for our own."),
    "core:render-harmless": Behaviour(
        "case SC-102", "What people are shown has no escapes and no credentials."
    ),
    "core:lineage-covers": Behaviour("law 2", "A lineage covers a log without gap or overlap."),
    "core:framing": Behaviour("design: framing", "The framing makes a read-only advisor."),
    "core:pure": Behaviour("design: rooms", "Core has no await, clock, randomness or I/O."),
}
