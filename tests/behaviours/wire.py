"""How models are spoken to: the bytes of a request, the end of an answer, keys and hosts."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "wire:whole-answer": Behaviour(
        "issue: providers", "A stream's blocks, reasoning and calls come out byte for byte."
    ),
    "wire:cut-at-event": Behaviour(
        "law 10", "Cut after any event, an answer is never done; its half is kept as what it is."
    ),
    "wire:cut-at-byte": Behaviour("issue: bar 4", "The same for a cut after any byte."),
    "wire:refused": Behaviour(
        "case SC-096", "A refusal is a stop of its own, and nothing of it is sent again."
    ),
    "wire:limit": Behaviour(
        "law 10", "A call of an answer that reached its token limit is not carried out."
    ),
    "wire:empty": Behaviour("case SC-095", "An empty answer is an error with advice."),
    "wire:prefix": Behaviour(
        "law 3", "A child's first body begins with its parent's last one, byte for byte."
    ),
    "wire:marks": Behaviour(
        "issue: cache evidence",
        "Bodies differ in the listed breakpoints only: newest, fork, request before; four at most.",
    ),
    "wire:lookback": Behaviour(
        "issue: cache evidence", "What an earlier request left in the cache is within 20 blocks."
    ),
    "wire:valid": Behaviour("law 1", "Every request of a native history is one servers take."),
    "wire:repaired": Behaviour(
        "case SC-069", "Calls and results are paired when read; nothing is split or written back."
    ),
    "wire:begins-and-ends": Behaviour(
        "case SC-070", "A request begins and ends with a user who says something."
    ),
    "wire:reasoning": Behaviour(
        "case SC-066", "Reasoning goes back whole to the model that wrote it, or not at all."
    ),
    "wire:media": Behaviour(
        "case SC-068", "An image that cannot be sent becomes words; the question still goes."
    ),
    "wire:retried": Behaviour(
        "case SC-097", "A request is sent again at most three times, and with the same bytes."
    ),
    "wire:half": Behaviour(
        "case SC-093", "Once something was said nothing is sent again; what was said is kept."
    ),
    "wire:retry-after": Behaviour(
        "case SC-097", "All who share a key wait as long as asked, and return at different times."
    ),
    "wire:cancelled": Behaviour(
        "case SC-097", "A wait or an answer can be left at once, and nothing goes on."
    ),
    "wire:one-host": Behaviour(
        "issue: providers", "Requests go to the configured host only, encrypted or on this machine."
    ),
    "wire:errors-named": Behaviour(
        "issue: providers", "Overload, limits, overflow, bad keys and models are errors by name."
    ),
    "wire:key-unseen": Behaviour(
        "issue: bar 5", "A key is in no error, log, event, digest or repr, whatever goes wrong."
    ),
    "wire:key-nowhere": Behaviour(
        "issue: bar 5",
        "A key in the environment or the keyring is in nothing that the program says, keeps or"
        " lets be seen of it.",
    ),
    "wire:agents": Behaviour(
        "contract: settings", "An agent's name says what answers, or why not."
    ),
    "wire:local": Behaviour(
        "issue: a local model", "A local model starts when asked, on a port nobody else may use."
    ),
    "wire:local-ends": Behaviour(
        "issue: a local model", "Its process ends with ours, however ours ends, keeping its prefix."
    ),
    "wire:recorded": Behaviour(
        "issue: bar 2", "Recorded on the wire, a child continues what its parent sent last."
    ),
    "wire:usage": Behaviour(
        "law 3", "Tokens are kept as reported, and what was not reported is not zero."
    ),
    "wire:attested": Behaviour(
        "issue: cache evidence", "A child names its parent's last response; the finding is shown."
    ),
    "wire:cut-everywhere": Behaviour(
        "issue: bar 4", "Wherever a stream is cut, no turn is completed and the next one works."
    ),
    "wire:cache-root": Behaviour(
        "issue: cache evidence", "A cache key stands for what a whole tree of sessions begins with."
    ),
    "wire:own-marks": Behaviour(
        "issue: cache evidence", "A parent's own breakpoints stay; ours are within the four."
    ),
    "window:asked": Behaviour(
        "issue: long histories", "A model's own server is asked what it takes, where nothing costs."
    ),
    "window:bounded": Behaviour(
        "issue: long histories",
        "Who does not say how much it takes is neither waited for nor guessed about.",
    ),
    "window:setting": Behaviour("issue: long histories", "A window that is set wins."),
    "window:file": Behaviour(
        "issue: long histories", "A local model's file says what it takes, before it is started."
    ),
}
