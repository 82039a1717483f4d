"""What a client of the protocol can rely on."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "mcp:golden": Behaviour(
        "contract: tools", "Names and schemas of tools, prompts and templates do not drift."
    ),
    "mcp:tools-listed": Behaviour(
        "contract: tools", "Both eras list the same tools, each with title and honest hints."
    ),
    "mcp:fork-few-lines": Behaviour(
        "issue: MCP server", "A fork result is a few lines and a link, never the transcript."
    ),
    "mcp:complete-alone": Behaviour(
        "contract: tools", "Text content and structured content are each complete alone."
    ),
    "mcp:recorded-here": Behaviour(
        "contract: what it is", "A converse result says that it is recorded where it was called."
    ),
    "mcp:bad-arguments": Behaviour(
        "contract: errors", "A bad argument is an error result that names it and what to do."
    ),
    "mcp:unknown-tool": Behaviour("facts: mcp G20", "An unknown tool is -32602."),
    "mcp:errors": Behaviour(
        "contract: errors", "A failure is one sentence and the next step, never a traceback."
    ),
    "mcp:no-credentials": Behaviour(
        "case SC-102", "What a call tells of a side session has no credential in it."
    ),
    "mcp:call-id": Behaviour("contract: key", "The client's own call id reaches the feature."),
    "mcp:whole-characters": Behaviour(
        "case SC-003", "Text that is no valid Unicode does not keep an answer back."
    ),
    "mcp:hook": Behaviour("contract: tools", "pending_notes gives hook JSON and nothing else."),
    "mcp:old-clients": Behaviour(
        "facts: mcp G3", "Only clients that know resource links are sent one."
    ),
    "mcp:prompt-fork": Behaviour("contract: prompts", "fork acts and says so in a few lines."),
    "mcp:prompt-fork-again": Behaviour(
        "contract: prompts", "Until its first own turn the same fork prompt gives the same child."
    ),
    "mcp:prompt-fork-question": Behaviour(
        "contract: prompts", "fork by prompt is an address and calls no model."
    ),
    "mcp:prompt-unknown-word": Behaviour(
        "contract: prompts", "A first word that names nothing is repeated and nothing happens."
    ),
    "mcp:prompt-placeholders": Behaviour(
        "contract: prompts", "A placeholder is repeated untouched and nothing happens."
    ),
    "mcp:prompt-prefetchers": Behaviour(
        "contract: prompts", "Clients that fetch ahead of time only ever get text."
    ),
    "mcp:prompt-splitters": Behaviour(
        "contract: prompts", "Words of clients that split on spaces are not trusted."
    ),
    "mcp:host-rows": Behaviour(
        "contract: prompts", "Each row of the client tables has the test that put it there."
    ),
    "mcp:prompt-converse": Behaviour("contract: prompts", "converse with a message asks."),
    "mcp:prompt-merge": Behaviour(
        "law 8", "merge by prompt carries the labelled note and asks to take note only."
    ),
    "mcp:form-message": Behaviour(
        "issue: MCP server", "A missing message is asked for by a form whose schema has no titles."
    ),
    "mcp:form-session": Behaviour("contract: prompts", "merge without a session asks which one."),
    "mcp:form-decline": Behaviour(
        "issue: MCP server", "A declined or cancelled form is no order; it leads to the tool."
    ),
    "mcp:form-optional": Behaviour("issue: MCP server", "A form is never the only way."),
    "mcp:prompt-errors": Behaviour(
        "contract: errors", "Unknown prompts and unclear parents are -32602."
    ),
    "mcp:resources-listed": Behaviour(
        "contract: resources", "Each side session is one listed URI, newest first, 50 a page."
    ),
    "mcp:cursors": Behaviour("case SC-038", "A cursor that is not ours is -32602."),
    "mcp:resources-read": Behaviour(
        "contract: resources", "A side session, its log and each of its turns are read."
    ),
    "mcp:decoded-once": Behaviour("case SC-033", "A URI is percent-decoded exactly once."),
    "mcp:resources-unknown": Behaviour(
        "facts: mcp 4", "What names no side session of the caller's is -32602."
    ),
    "mcp:resources-too-large": Behaviour(
        "case SC-013", "What is too large for one answer is paged or refused, never sent."
    ),
    "mcp:completion": Behaviour(
        "issue: MCP server", "Sessions complete by recency and title, a hundred at most."
    ),
    "mcp:list-changed": Behaviour(
        "issue: MCP server", "New, renamed and forgotten side sessions change the list."
    ),
    "mcp:updated": Behaviour(
        "issue: MCP server", "Who subscribed to a resource hears of its changes, in both eras."
    ),
    "mcp:unsubscribe": Behaviour("facts: mcp 5.2", "Who unsubscribed hears no more."),
    "mcp:own-changes-only": Behaviour("law 12", "Nobody hears of the sessions of somebody else."),
    "mcp:capabilities": Behaviour("facts: mcp G4", "Both eras are told that resources change."),
    "mcp:both-eras-at-once": Behaviour(
        "issue: MCP server", "One server object serves both eras at once."
    ),
    "mcp:stalled-client": Behaviour(
        "case SC-023", "A client that stopped reading holds up nobody; what waits is bounded."
    ),
    "mcp:gone-clients": Behaviour("case SC-036", "Nothing is kept of clients that went away."),
    "mcp:progress": Behaviour(
        "case SC-014", "An answer is told as it arrives, ten times a second at most."
    ),
    "mcp:progress-fails": Behaviour(
        "contract: tools", "Who cannot be told of progress still gets the answer."
    ),
    "mcp:failed-turn": Behaviour(
        "contract: errors", "A turn that failed is a result whose text names the failure first."
    ),
    "mcp:left-out": Behaviour("law 14", "What a fork left out or mended is said in one line."),
    "mcp:no-progress": Behaviour("facts: mcp 2", "Who asks for no progress gets the answer."),
    "mcp:cancel": Behaviour(
        "law 10", "A cancelled call closes its turn as aborted and the server goes on."
    ),
    "mcp:interleaved": Behaviour(
        "case SC-015", "Other calls are answered while an answer is made."
    ),
    "mcp:hosted": Behaviour(
        "law 15", "Inside a side session everything is listed and every call is refused."
    ),
    "mcp:opened-late": Behaviour(
        "issue: MCP server", "No database is opened before a call needs it; then once."
    ),
    "mcp:ends-well": Behaviour(
        "issue: bar 8",
        "In mid-answer, with a listener, it ends in 2 s, with 0, and the turn is interrupted.",
    ),
    "mcp:ends-idle": Behaviour("issue: bar 8", "An idle server ends in 2 s with 0."),
    "mcp:no-orphan": Behaviour("case SC-004", "When the client is killed no server is left."),
    "mcp:only-json": Behaviour(
        "case SC-001", "Nothing but JSON lines reaches the client, whoever prints what and when."
    ),
    "mcp:deep-nesting": Behaviour(
        "case SC-008", "A message nested too deeply fails alone; the server goes on."
    ),
    "mcp:no-message": Behaviour(
        "facts: mcp 4", "What is no message is answered with an error; the server goes on."
    ),
    "mcp:line-ends": Behaviour(
        "case SC-003", "A line ends at byte 0x0A and nowhere else, in both directions."
    ),
    "mcp:slow-reader": Behaviour(
        "case SC-012", "A large answer to a client that reads late arrives whole."
    ),
    "mcp:whole-or-nothing": Behaviour(
        "case SC-012", "An answer cut off by the end of input is whole or not there."
    ),
    "mcp:stderr-unread": Behaviour(
        "case SC-011", "A client that never reads stderr is served all the same."
    ),
    "mcp:fast-start": Behaviour(
        "issue: MCP server", "Nothing of the log is touched before a call needs it."
    ),
    "mcp:journey": Behaviour(
        "issue: bar 3", "The journey works over stdio, HTTP and SSE in both eras, 250 sessions on."
    ),
    "mcp:older-sdk": Behaviour(
        "issue: bar 3", "A client of the older SDK makes the whole journey over every transport."
    ),
    "mcp:host-and-origin": Behaviour(
        "case SC-026", "Only the exact hosts and origins are served, on every route."
    ),
    "mcp:token": Behaviour("case SC-030", "With a token no route answers without it."),
    "mcp:token-needed": Behaviour(
        "issue: command line", "Without a token only this machine is served."
    ),
    "mcp:port-taken": Behaviour("contract: errors", "A taken port is one plain sentence."),
    "mcp:bodies": Behaviour(
        "case SC-025", "A body too large or encoded is refused before it is kept."
    ),
    "mcp:whose-message": Behaviour(
        "case SC-029", "A message without its own stream reaches nobody's."
    ),
    "mcp:newer-once": Behaviour(
        "contract: places", "That a newer version wrote the log is said once, as a tool error."
    ),
    "mcp:ends-stuck": Behaviour(
        "case SC-012", "Signals that come again while a thread is stuck leave no traceback."
    ),
    "mcp:any-spelling": Behaviour(
        "contract: resources", "Capitals and spaces around it make no other resource."
    ),
    "mcp:principals": Behaviour(
        "case SC-028", "Another principal's sessions are as good as not there, for every call."
    ),
    "mcp:ends-well-http": Behaviour(
        "case SC-021", "With open streams it ends in 2 s, with 0, and the turn is interrupted."
    ),
    "mcp:conformance": Behaviour(
        "issue: bar 3", "The public conformance suite is passed for both revisions, none excused."
    ),
    "mcp:nothing-crosses": Behaviour(
        "issue: bar 7", "A parent and a child that answer at once share no word and no update."
    ),
    "mcp:across-processes": Behaviour(
        "issue: bar 7", "An update in one process reaches a subscriber of another within a second."
    ),
    "mcp:idle": Behaviour("issue: bar 7", "A server that only listens uses next to no time."),
    "mcp:inspector": Behaviour(
        "issue: bar 3", "The Inspector makes the whole journey over every transport, both eras."
    ),
    "mcp:portable-schemas": Behaviour(
        "facts: mcp 8", "The Inspector's strict check finds no error in the tools' schemas."
    ),
    "mcp:piped-at-once": Behaviour(
        "issue: bar 8", "Requests piped in at once are answered before the server ends."
    ),
    "mcp:ends-unread": Behaviour(
        "case SC-012", "A client that stopped reading does not keep the server from ending."
    ),
}
