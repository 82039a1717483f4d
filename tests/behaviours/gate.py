"""What holds a side session to looking."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "gate:siege": Behaviour(
        "issue 3: bar 3",
        "10,000 calls of an attacker that is always obeyed change no file, start no process and"
        " open no connection, as seen from outside; against the parent the same attacker succeeds.",
    ),
    "gate:both": Behaviour(
        "law 4", "A call passes if its tool declares itself read-only and is on the allow-list."
    ),
    "gate:errors": Behaviour(
        "law 4", "A gate that raises, hangs or says something else than yes or no denies."
    ),
    "gate:last": Behaviour(
        "law 4",
        "The gate judges what is really carried out, after every interceptor; none undoes it.",
    ),
    "gate:seen": Behaviour(
        "law 4", "Interceptors see every call, outermost first, and may answer for its tool."
    ),
    "gate:stored": Behaviour(
        "law 4", "The gate goes by the stored header, at any depth of forks, and only there."
    ),
    "gate:parents-tools": Behaviour(
        "law 3", "A child never gains a tool: what its head does not list is not carried out."
    ),
    "gate:no-call": Behaviour(
        "law 4", "A denied call becomes a result that the model can read, and no call."
    ),
}
