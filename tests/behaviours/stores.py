"""What every store does."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "stores:same-as-memory": Behaviour(
        "issue 2: stores", "SQLite answers every question as the memory store does."
    ),
    "stores:eight-processes": Behaviour(
        "issue 2: bar 5", "Eight processes on one file lose nothing and meet no error."
    ),
    "stores:start-together": Behaviour(
        "case SC-077", "Many processes that start at once on an empty folder all come up."
    ),
    "stores:news-across": Behaviour(
        "issue 2: bar 7", "A write in one process is heard in another within a second."
    ),
    "stores:held-across": Behaviour(
        "law 10", "Who runs a turn holds it across processes, and a dead holder holds nothing."
    ),
    "stores:killed": Behaviour(
        "issue 2: the log", "What was acknowledged outlives a kill; one call is all or nothing."
    ),
}
