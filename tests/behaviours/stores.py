"""What every store does."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "stores:places": Behaviour(
        "design: session", "Places are contiguous from the seed on and never reused."
    ),
    "stores:decisions-and-facts": Behaviour(
        "law 5", "A decision names the head it read and may be refused; a fact is always taken."
    ),
    "stores:once": Behaviour("law 13", "Every write happens once under its key."),
    "stores:address": Behaviour("law 2", "A fork is an address; its parent's log does not change."),
    "stores:verbatim": Behaviour("law 1", "Every event comes back exactly as it was written."),
    "stores:forget": Behaviour("contract: tools", "`forget` removes all of a childless session."),
    "stores:one-turn-runner": Behaviour("law 10", "One at a time holds the right to run a turn."),
    "stores:checkpoints": Behaviour("ports.store", "Every method of a store is a checkpoint."),
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
    "stores:migration": Behaviour(
        "case SC-077", "A migration is one transaction under the lock, after a copy."
    ),
    "stores:newer-schema": Behaviour(
        "contract: places", "A database of a newer version is read, and a write says: restart."
    ),
    "stores:sqlite-version": Behaviour(
        "case SC-080", "An SQLite with the WAL-reset race is refused."
    ),
    "stores:network": Behaviour(
        "case SC-079", "A network file system is refused, and PostgreSQL named."
    ),
    "stores:private": Behaviour("case SC-086", "Files are 0600 and folders 0700 always."),
    "stores:faults": Behaviour(
        "cases SC-081, R3",
        "A full or failing disk and a lock are told in plain words, change nothing and pass.",
    ),
    "stores:batch": Behaviour(
        "issue 2: the log", "Writes that wait are committed together and do not hurt each other."
    ),
    "stores:commits": Behaviour(
        "issue 2: bar 5", "Each write is one commit, and what writes nothing is none."
    ),
    "stores:close": Behaviour(
        "issue 2: bar 8", "Closing finishes what was begun, quickly, and leaves nothing running."
    ),
    "stores:damage": Behaviour(
        "issue 2: bar 6", "A changed byte of any event is found; session and place are named."
    ),
    "stores:fork-bytes": Behaviour(
        "issue 2: bar 5", "A fork takes at most 2 KB, its address at most 200 bytes."
    ),
    "stores:lists": Behaviour(
        "issue 2: bar 5", "A list costs the same however many sessions there are."
    ),
}
