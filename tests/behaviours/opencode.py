"""What opencode's conversations must come out as, and what is done in opencode."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "opencode:oracle": Behaviour(
        "issue 4: bar 2", "The real files hold exactly what was written down by hand before."
    ),
    "opencode:never-written": Behaviour("law 11", "No file of opencode is changed by reading."),
}
