"""What a side session that a client answers itself must do."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "hosted:turns": Behaviour("issue 4", "Several turns go to one process, each told what is new."),
    "hosted:guard": Behaviour("law 15", "Our server inside a hosted fork is guarded."),
    "hosted:denied": Behaviour("law 4", "A hosted child's calls are denied by gate and by hook."),
    "hosted:few": Behaviour("issue 4", "Of one client's forks only the last few wait, cleanly."),
    "hosted:cut": Behaviour("law 10", "A fork that ends before its answer completes no turn."),
    "hosted:cancel": Behaviour("issue 4", "Cancelling ends the process that answers."),
    "hosted:orphans": Behaviour("issue 4", "When we are killed, no fork stays behind."),
}
