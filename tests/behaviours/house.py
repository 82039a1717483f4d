"""How the house is built and kept."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "house:small": Behaviour(
        "issue: bar 11", "No function has over 60 and no file over 400 physical lines."
    ),
    "house:top-level": Behaviour("issue: the house", "The top level holds what it is meant to."),
    "house:public-face": Behaviour("design: rooms", "The public face is exactly `__all__`."),
    "house:light": Behaviour("design: rooms", "Importing the package loads nothing heavy."),
    "house:core-pure": Behaviour("design: rooms", "core has no await, clock, randomness or I/O."),
    "house:protocol-room": Behaviour(
        "design: rooms", "The protocol's SDK is imported under its own surface only."
    ),
    "house:imports-at-top": Behaviour(
        "style: measured", "Imports stand at the top, but for lazy ones where things are chosen."
    ),
    "house:words": Behaviour("design: words", "No module or class is named by an empty word."),
    "house:no-addresses": Behaviour(
        "issue: the house", "No tracked file names a package registry's host or a machine's path."
    ),
    "house:bench": Behaviour("issue: bar 5", "A figure that misses its bar fails the run."),
    "house:cache-bench": Behaviour(
        "issue 3: bar 1", "The prefix cache is measured at lengths that mean something, or fails."
    ),
    "house:locks": Behaviour(
        "issue: the house", "Locks pin every package by hash, build backend included, no address."
    ),
    "house:dependencies": Behaviour(
        "issue: the house", "The package depends on mcp, anyio, pydantic and apsw, and no more."
    ),
    "house:wheel": Behaviour("issue: the house", "The built wheel holds all that runs."),
    "house:nothing-skips": Behaviour("issue: the house", "In CI a skipped test fails."),
    "house:missing-said": Behaviour(
        "issue: bar 1", "What a machine lacks is said in one line; rights are never asked for."
    ),
    "house:manifest": Behaviour("issue: the house", "The registry manifest is one a host can use."),
    "house:docs": Behaviour("style: habits", "Documents name verbs and pages that exist."),
    "house:doc-code": Behaviour("style: habits", "Python shown in documents runs."),
    "house:glossary": Behaviour("design: words", "The glossary explains every word of the log."),
    "house:decisions": Behaviour(
        "design: preface", "Decisions are one page: context, decision, consequences."
    ),
}
