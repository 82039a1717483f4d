"""What the providers must do."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "providers:contract": Behaviour(
        "issue: providers behind one contract suite",
        "Every provider ends with Done, lets only ProviderError out, yields, and leaves nothing"
        " running.",
    ),
    "quoting:never-invents": Behaviour(
        "issue: bar 9", "No question is answered that the conversation does not answer."
    ),
    "quoting:answers-are-right": Behaviour(
        "issue: bar 9", "What is called an answer shows the answer."
    ),
    "quoting:coverage": Behaviour(
        "issue: bar 9",
        "Three in four are answered, the right turn is shown for nineteen in twenty.",
    ),
    "quoting:handed-talk": Behaviour("issue: bar 9", "The handed talk is passed."),
    "quoting:note-holds-the-facts": Behaviour(
        "issue: bar 9",
        "A note holds most facts and nothing that was taken back, in 120 words at most.",
    ),
    "quoting:plain-questions": Behaviour(
        "issue: bar 9", "Slips of the hand, irregular forms and words written apart are understood."
    ),
    "quoting:near-misses": Behaviour(
        "issue: bar 9",
        "That a turn has the words of a question does not make it an answer: it must have the kind"
        " of thing asked for, of that thing, and not say that it is undecided.",
    ),
    "quoting:note-overtaken": Behaviour(
        "issue: bar 9", "A figure that was changed later is not noted as it was before."
    ),
    "quoting:three-verdicts": Behaviour(
        "issue: embedded default", "Every reply is exactly one of answered, weak match, not found."
    ),
    "quoting:latest-marked": Behaviour(
        "issue: embedded default", "Quotes stand in turn order and the latest is marked."
    ),
    "quoting:never-quotes-itself": Behaviour(
        "case SC-074", "Framing, orders, the question and own replies are never quoted."
    ),
    "quoting:follow-up": Behaviour(
        "issue: embedded default", "A follow-up may use the words of the question before it."
    ),
    "quoting:verbatim": Behaviour(
        "issue: embedded default", "A quote is a bounded slice of what was said, word for word."
    ),
    "quoting:tools-count-less": Behaviour(
        "issue: embedded default", "What only a tool said does not make an answer."
    ),
    "quoting:note-shape": Behaviour(
        "facts: providers §3", "A note is grouped in decisions, facts and open, each with its turn."
    ),
    "quoting:note-side-first": Behaviour(
        "facts: providers §3", "What was asked on the side, and shown, comes before the inherited."
    ),
    "quoting:note-cap": Behaviour("law 9", "A note keeps the cap."),
    "quoting:note-shorter": Behaviour("law 9", "An order to shorten gives a shorter note."),
    "quoting:note-honest": Behaviour(
        "law 9", "With nothing to quote the note still says what was asked."
    ),
    "quoting:takes-any-text": Behaviour(
        "issue: embedded default", "No text, however odd, makes the index fail."
    ),
    "quoting:index-kept": Behaviour(
        "facts: providers §3", "A question in a history that was searched before indexes only new."
    ),
    "quoting:same-answer": Behaviour(
        "law 1", "The answer depends on the context alone, not on what is kept."
    ),
    "quoting:index-bounded": Behaviour(
        "issue: bounded cache", "Kept indexes are bounded in number and size."
    ),
    "scripted:held": Behaviour(
        "issue: bar 7", "Two scripted agents can each wait for the other's fifth chunk."
    ),
    "quoting:other-scripts": Behaviour(
        "issue: embedded default", "Text without spaces or in other languages is found too."
    ),
}
