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
    "tools:recorded": Behaviour(
        "law 3",
        "The schemas of all tools stand in a native session's head from its creation, and its"
        " child has the same bytes.",
    ),
    "tools:served": Behaviour(
        "law 4",
        "A native parent calls the tools of its servers; a child those that are declared"
        " read-only and on the allow-list.",
    ),
    "tools:own-failure": Behaviour(
        "issue 3",
        "A server that dies or cannot start takes only its own calls along, with a clear sentence.",
    ),
    "tools:environment": Behaviour(
        "issue 3", "A started server gets nothing of our environment's secrets."
    ),
    "tools:judged": Behaviour(
        "law 4",
        "What a gate judged is what is called, also when its server was started again; for a"
        " denied call none is started.",
    ),
    "tools:bound": Behaviour(
        "law 4",
        "Below a client's session that client's read tools are carried out by the workspace"
        " tools, in the session's folder.",
    ),
    "tools:unbound": Behaviour(
        "law 4", "A client's tool that is not bound is denied with a result that says so."
    ),
    "tools:plain-grep": Behaviour(
        "issue 3", "A pattern that is plain text is searched as text; a real one is refused."
    ),
}
