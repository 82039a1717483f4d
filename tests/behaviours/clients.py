"""What a client's conversations must come out as."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "clients:lines-end-at-newline": Behaviour(
        "case SC-003", "A line ends at byte 0x0A only; other separators are text of a message."
    ),
    "clients:deep-nesting": Behaviour(
        "case SC-008", "A line nested too deeply is left out and counted; the others are read."
    ),
    "clients:torn-record": Behaviour(
        "case SC-041", "Whole records glued to a torn one are read and the torn one is reported."
    ),
    "clients:missing-parent": Behaviour(
        "case SC-042", "A link that leads nowhere is reported; islands are never stitched."
    ),
    "clients:one-message": Behaviour(
        "case SC-044", "Records of one message are one answer, in order, and count once."
    ),
    "clients:parallel-results": Behaviour(
        "issue: a real parent", "Results of parallel calls all stand behind their calls."
    ),
    "clients:no-subagents": Behaviour(
        "case SC-045", "What subagents say is no part of the conversation."
    ),
    "clients:rewind": Behaviour(
        "case SC-046", "What a person rewound away appears nowhere in what is read."
    ),
    "clients:format-drift": Behaviour(
        "case SC-048", "A file of unknown records is refused with their names and the version."
    ),
    "clients:large-files": Behaviour(
        "case SC-050", "Images are kept by digest and size, and an over-long line is skipped."
    ),
    "clients:any-spelling-of-the-folder": Behaviour(
        "case SC-051", "A project is found however the path to it is spelled."
    ),
    "clients:time-orders-nothing": Behaviour(
        "case SC-053", "Times of any form, or nonsense, change no order."
    ),
    "clients:half-a-line": Behaviour(
        "case SC-055", "An unfinished last line is left for later and nothing is read twice."
    ),
    "clients:only-closed-turns": Behaviour(
        "design: mirror", "Only closed turns are drafts; what follows them is counted."
    ),
    "clients:repaired-calls": Behaviour(
        "law 10", "A call that was never answered gets a synthetic result when it is imported."
    ),
    "clients:compaction": Behaviour(
        "design: mirror", "Context begins anew at a compaction; older turns stay for display."
    ),
    "clients:shown-context": Behaviour(
        "issue: a real parent", "Context that the client put before the model is in its place."
    ),
    "clients:skipped-is-shown": Behaviour("law 14", "Whatever is left out is counted by reason."),
    "clients:prefix-stable": Behaviour(
        "design: mirror", "A file that grows changes no draft that was read before."
    ),
    "clients:rooms": Behaviour(
        "issue 4: hosted", "Forks that start at once do not clear away each other's folders."
    ),
    "clients:going-on": Behaviour(
        "issue 4: bar 4",
        "A conversation that was read before is read on from its last closed turn.",
    ),
    "clients:mutations": Behaviour(
        "issue: bar 2", "However a file is damaged, reading never crashes and turns stay whole."
    ),
    "clients:oracle": Behaviour(
        "issue: bar 2", "The real files hold exactly what was written down by hand before."
    ),
    "clients:who-is-calling": Behaviour(
        "contract: who is calling",
        "The calling conversation is found in the order of the contract.",
    ),
    "clients:never-written": Behaviour("law 11", "No file of a client is changed."),
    "clients:delivered": Behaviour(
        "law 7", "A note of ours that the transcript shows is reported with the record showing it."
    ),
    "clients:setup": Behaviour(
        "issue: a real parent", "The server is added by the client's own command, absolute paths."
    ),
}
