"""What settings must do."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "settings:order": Behaviour("contract: settings", "Environment over file over defaults."),
    "settings:refused": Behaviour(
        "issue 2", "A setting that cannot be meant is named, with what it may be."
    ),
    "settings:agent": Behaviour("contract: settings", "An agent's name says what answers."),
}
