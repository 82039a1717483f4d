"""What fork, converse, merge and forget must do."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "fork:address": Behaviour("law 2", "A fork changes no byte of its parent's log."),
    "fork:cut": Behaviour(
        "words: prefix", "A fork ends at the last completed turn and says what it cut."
    ),
    "fork:refused": Behaviour(
        "words: prefix", "A parent without a completed turn is refused with the next step."
    ),
    "fork:framing": Behaviour(
        "law 3", "The child's own range begins with exactly one framing message."
    ),
    "fork:head": Behaviour(
        "law 3",
        "A child of the parent's own agent has the parent's head and messages byte for byte.",
    ),
    "fork:of-a-fork": Behaviour(
        "issue 2", "A fork of a fork inherits both ranges, framing where it was."
    ),
    "fork:key": Behaviour(
        "contract: key", "The same key gives the same child; other arguments conflict."
    ),
    "fork:prompt": Behaviour(
        "contract: prompts", "A prompt's fork is reused until the child has a turn of its own."
    ),
    "converse:turn": Behaviour("issue 2", "A turn answers, streams, and is in the log whole."),
    "converse:key": Behaviour("law 13", "A repeated key answers from the log and asks no model."),
    "converse:while-busy": Behaviour("law 10", "A second converse meets `answering now`."),
    "converse:cancel": Behaviour("law 10", "A cancelled turn keeps the half answer and is closed."),
    "converse:cut-stream": Behaviour(
        "law 10", "A stream without its terminal event is no completed turn."
    ),
    "converse:commits": Behaviour(
        "issue 2 bar 5", "A turn makes at most 2 + requests + calls commits."
    ),
    "converse:tools": Behaviour(
        "law 4", "A side session's call outside the allow-list becomes a result."
    ),
    "merge:once": Behaviour(
        "law 6", "A merge appends exactly one note, and who comes second gets it back."
    ),
    "merge:receipt": Behaviour("law 6", "A repeated merge calls no model."),
    "merge:revision": Behaviour(
        "law 6", "New turns, or a person's other text, are a new revision."
    ),
    "merge:back": Behaviour(
        "decision 0013", "A note that another one replaced is brought back as a new revision."
    ),
    "merge:nothing": Behaviour("law 6", "Without own turns there is nothing to merge."),
    "merge:cap": Behaviour(
        "law 9", "A long note is asked for again, twice at most, and never cut."
    ),
    "merge:draft": Behaviour("law 9", "What was shown as a draft is what is merged."),
    "merge:place": Behaviour("law 7", "A note never splits an answer or a batch of calls."),
    "merge:sleep": Behaviour("law 8", "A merge starts no turn in the parent."),
    "merge:up": Behaviour("issue 2", "A fork of a fork merges into its own parent."),
    "mirror:import": Behaviour(
        "words: mirror", "Reading a conversation again adds only what is new."
    ),
    "mirror:rewind": Behaviour(
        "words: mirror", "A rewound conversation continues in a mirror cut at the turn before."
    ),
    "mirror:read-on": Behaviour(
        "words: mirror", "What is read on goes behind that same mirror, or all is read again."
    ),
    "mirror:damaged": Behaviour(
        "decision 0012", "A conversation whose mirror is damaged is adopted anew by the next fork."
    ),
    "mirror:note": Behaviour(
        "law 7", "In a mirror a note is in no context until its client shows it."
    ),
    "mirror:race": Behaviour("words: mirror", "Two processes that import at once make one mirror."),
    "who:owner": Behaviour("law 12", "Another principal's session is as good as none."),
    "who:place": Behaviour(
        "decision 0014",
        "Without an id the latest that was forked from this place is meant.",
    ),
    "who:address": Behaviour(
        "contract: resources", "A session may be named by its address wherever its id may."
    ),
    "forget:children": Behaviour("contract: forget", "A session with children is not forgotten."),
    "forget:damaged": Behaviour(
        "decision 0012",
        "What is damaged can be forgotten, whatever it is, and nothing whole with it.",
    ),
    "list:damaged": Behaviour(
        "law 14", "A damaged session is listed as damaged, with what to do, and hides no other."
    ),
    "list:pages": Behaviour("contract: sessions", "Pages list every session once, newest first."),
    "replay:verified": Behaviour(
        "law 1", "Every request is rebuilt from the log alone, digest for digest."
    ),
    "replay:wire": Behaviour(
        "law 1; issue 3", "What went over a wire is made again from the log, byte for byte."
    ),
    "replay:wire-not-checked": Behaviour(
        "issue 3", "Bytes that cannot be made again are said not to be checked, never to be right."
    ),
    "replay:damage": Behaviour("issue 2 bar 6", "A changed byte in any event is found and named."),
    "deliver:once": Behaviour(
        "delivery", "A waiting note is offered by one door, until the client's next turn."
    ),
    "deliver:commit": Behaviour(
        "delivery", "The right to offer a note is taken, and named, in one commit."
    ),
    "journey:transcripts": Behaviour(
        "issue 2 bar 2", "Every handed Claude Code conversation can be forked and given its note."
    ),
    "merge:crash": Behaviour(
        "issue 2 bar 6", "Killed at any moment, racing merges of processes end in one note."
    ),
    "fork:changed-head": Behaviour(
        "law 3", "Where the parent's head cannot be kept, the report says what changed."
    ),
    "fork:long": Behaviour(
        "issue 3", "A history too long for the model is said before anything is spent."
    ),
    "fork:compact": Behaviour(
        "issue 3", "On request a child begins with a summary, as a visible event."
    ),
    "fork:separation": Behaviour(
        "issue 3", "A system prompt of the advisor's own is possible and said to cost the cache."
    ),
}
