"""What the tools of a session must do."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "tools:confined": Behaviour(
        "law 4", "No spelling of a path and no link leads out of the session's folder."
    ),
    "tools:secrets": Behaviour("issue 3", "Files that usually hold credentials are not shown."),
    "tools:bounded": Behaviour("issue 3", "Every answer is bounded and says when it was cut."),
    "tools:read-only": Behaviour("law 4", "No workspace tool changes anything."),
}
