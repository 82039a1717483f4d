"""The command line: for people at a terminal and for scripts in a pipe."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "cli:commands": Behaviour("contract: command line", "Every command of the page is there."),
    "cli:fast-help": Behaviour(
        "issue: command line", "`--help` loads no database, no loop, no protocol."
    ),
    "cli:exit-codes": Behaviour(
        "contract: errors", "0; 2 InvalidRequest; 3 Conflict; 4 OutsideError; 130 interrupted."
    ),
    "cli:one-document": Behaviour(
        "contract: command line", "With --json stdout is one JSON document, also for an error."
    ),
    "cli:shapes": Behaviour("contract: tools", "--json has the shapes of the tools' results."),
    "cli:answers-on-stdout": Behaviour(
        "issue: command line", "Answers go to stdout; what is said about them goes to stderr."
    ),
    "cli:no-traceback": Behaviour(
        "issue: command line", "An unexpected error is one sentence; SIDECHAT_DEBUG=1 shows more."
    ),
    "cli:colours": Behaviour(
        "issue: command line", "Colours only on a terminal, and never with NO_COLOR."
    ),
    "cli:harmless": Behaviour(
        "issue: command line", "Escapes and bidi overrides from any text never reach the terminal."
    ),
    "cli:broken-pipe": Behaviour(
        "issue: command line", "A reader that leaves early is no error and no complaint."
    ),
    "cli:any-locale": Behaviour("issue: command line", "Text survives a C locale."),
    "cli:names-parent": Behaviour(
        "contract: command line", "Without a live parent the newest of the folder, after naming it."
    ),
    "cli:chat-pipes": Behaviour("issue: command line", "`chat` works in pipes."),
    "cli:chat-prompt": Behaviour(
        "demand 25", "The prompt of `chat` shows which session a message goes to."
    ),
    "cli:ctrl-c": Behaviour(
        "law 10", "Ctrl-C stops a running answer, whose turn is closed; the talk goes on."
    ),
    "cli:note-shown-first": Behaviour(
        "law 9", "`/merge` at a terminal shows the note and takes back what was shown."
    ),
    "cli:setup": Behaviour(
        "issue: a real parent",
        "`setup` shows, then runs, the client's own command, or says why not.",
    ),
    "cli:failed-turn": Behaviour(
        "contract: errors", "A turn that ended with an error is shown, and the exit code is 4."
    ),
    "cli:doctor-window": Behaviour(
        "issue 3: long histories", "doctor says how much the model takes, or that nobody says it."
    ),
    "cli:full-disk": Behaviour(
        "contract: errors", "An answer that cannot be written is one sentence and exit code 4."
    ),
    "cli:doctor-key": Behaviour(
        "issue 3: a local model", "doctor says where the key was found, or that it is missing."
    ),
    "cli:read-only": Behaviour(
        "case SC-081", "A home in which nothing can be written is read, and a write says so."
    ),
    "cli:newer": Behaviour(
        "contract: places", "That a newer version wrote the log is said before anything is read."
    ),
    "cli:private": Behaviour(
        "contract: places", "`doctor` says that others may look into the home, and the command."
    ),
    "cli:doctor-agent": Behaviour(
        "issue: command line",
        "`doctor` says which agent a fork here would get, at whose cost and over which network.",
    ),
    "cli:doctor": Behaviour(
        "issue: command line", "`doctor` says where things are, what answers, why, and any trouble."
    ),
    "cli:journey": Behaviour("issue: main job", "Fork, ask, merge and verify from the terminal."),
    "cli:live-and-reloaded": Behaviour(
        "issue: bar 10", "What is shown live and from a reloaded log is equal."
    ),
    "cli:demo": Behaviour(
        "issue: bar 1", "The demo shows the journey, also with ids, name and text changed."
    ),
    "cli:demo-leaves-nothing": Behaviour(
        "issue: command line", "The demo plays in a temporary place that is gone afterwards."
    ),
    "cli:serve": Behaviour(
        "issue: command line", "`serve` starts either server and ends as a server should."
    ),
}
