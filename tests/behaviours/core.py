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
}
