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
    "mcp:call-id": Behaviour("contract: key", "The client's own call id reaches the feature."),
    "mcp:whole-characters": Behaviour(
        "case SC-003", "Text that is no valid Unicode does not keep an answer back."
    ),
    "mcp:hook": Behaviour("contract: tools", "pending_notes gives hook JSON, or nothing at all."),
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
}
