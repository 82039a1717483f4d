"""What pi's sessions must come out as, and how pi itself answers a side session."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "pi:oracle": Behaviour(
        "issue: transcript fidelity",
        "The real files hold exactly what was written down by hand before.",
    ),
    "pi:prefix-stable": Behaviour(
        "design: mirror", "A session that grows changes no draft that was read before."
    ),
    "pi:mutations": Behaviour(
        "issue: 100,000 mutations",
        "However a session file is damaged, reading never crashes and turns stay whole.",
    ),
    "pi:versions": Behaviour(
        "issue: transcript fidelity", "Sessions without ids and with older names are read alike."
    ),
    "pi:path": Behaviour(
        "issue: transcript fidelity", "What a person rewound away appears nowhere in what is read."
    ),
    "pi:head": Behaviour(
        "law 3", "System prompt and tools are those that the system messages add up to."
    ),
    "pi:lost-answers": Behaviour(
        "issue: transcript fidelity",
        "An aborted or failed answer, which pi shows no more, is not shown and is counted.",
    ),
    "pi:shown-context": Behaviour(
        "issue: transcript fidelity",
        "Shell runs, extension messages and branch summaries are in their place, in pi's words.",
    ),
    "pi:compaction": Behaviour(
        "design: mirror", "Context begins anew at a compaction; what it kept is shown behind it."
    ),
    "pi:context-edit": Behaviour(
        "issue: transcript fidelity", "An entry whose content was edited is shown as edited."
    ),
    "pi:only-closed-turns": Behaviour(
        "design: mirror", "Only closed turns are drafts; what follows them is counted."
    ),
    "pi:delivered": Behaviour(
        "law 7", "A note of ours that the session shows is reported with the entry showing it."
    ),
    "pi:who-is-calling": Behaviour(
        "contract: who is calling",
        "The session is the one that waits for this very call; where two fit, none is taken.",
    ),
    "pi:never-written": Behaviour("law 11", "No file of pi's is changed."),
    "pi:hosted": Behaviour(
        "issue: hosted agents",
        "pi answers turn after turn by its own fork, told only what is new.",
    ),
    "pi:hosted-cut": Behaviour(
        "issue: hosted agents", "The copy that is forked ends at the last completed turn."
    ),
    "pi:hosted-gate": Behaviour(
        "law 4", "Nothing is asked of a fork that does not show the gate; every call is denied."
    ),
    "pi:hosted-gone": Behaviour(
        "law 11", "A fork that is left, fails or is closed leaves no process and no file."
    ),
    "pi:setup": Behaviour(
        "issue: delivery", "Server and extension are added and taken away by pi's own commands."
    ),
}
