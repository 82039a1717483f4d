"""What a prompt's one message says. It becomes the person's own turn in their chat, so it is a few
lines, says what happened, and asks the model there for no more than is needed."""

from __future__ import annotations

from collections.abc import Mapping

from sidechat_mcp.sidechat.reports import Answer, ForkReport, Note
from sidechat_mcp.surfaces.mcp.words import discreet, failure, left_out, recorded

_ORDERS = {
    "fork": (
        "Call the tool `fork` to open a side conversation. If the first word is a session id or"
        " CLIENT:ID, it is `parent`; otherwise leave `parent` out. All other words, whole and"
        " unchanged, are `question`; leave it out if there are none."
    ),
    "converse": (
        "Call the tool `converse` to ask in the side conversation. If the first word is the id of"
        " a side session, it is `session`; otherwise leave `session` out. All other words, whole"
        " and unchanged, are `message`; if there are none, ask the person what to say."
    ),
    "merge": (
        "Call the tool `merge` to bring the side conversation's note back. If the first word is"
        " the id of a side session, it is `session`; otherwise leave `session` out. All other"
        " words, whole and unchanged, are `note`; leave it out if there are none."
    ),
}
_SHOW = "Show the person its result as it is, and do nothing else in this turn."
_WHOLE = (
    "Take the words from what the person typed after the command: this client passes on only"
    " the first few."
)


def lead(name: str, given: Mapping[str, str], *, splits: bool) -> str:
    """Leads to the tool of the same name; the arguments are repeated exactly as they came."""
    typed = " ".join(given.values())
    lines = [_ORDERS[name]]
    if splits:
        lines.append(_WHOLE)
    lines.append(f"The words: {typed}" if typed else "There were no words after the command.")
    lines.append(_SHOW)
    return "\n".join(lines)


def forked(report: ForkReport, question: str | None, *, splits: bool) -> str:
    agent = report.agent
    who = agent.name + (f" ({agent.model})" if agent.model else "")
    lines = [
        report.notice,
        f"Side session {report.session} is open: forked from {report.parent_name} after turn"
        f" {report.turns}, about {report.tokens} tokens inherited. {report.uri}",
        left_out(report).strip(),
        f"Advisor: {who}; pays: {agent.pays}; rights: {agent.rights}. Nothing said there comes"
        " back here until `merge`.",
    ]
    if question is None:
        lines.append(
            "Tell the person this, and that they can ask with `converse` here or with `sidechat"
            f" chat {report.session}` outside this chat. Do nothing else in this turn."
        )
    else:
        words = "the person's whole words after the command" if splits else "exactly this"
        lines.append(
            f"Now call the tool `converse` with session {report.session} and, as `message`,"
            f" {words}: {question}"
        )
        lines.extend([_WHOLE] if splits else [])
        lines.append(_SHOW)
    return "\n".join(line for line in lines if line)


def answered(answer: Answer) -> str:
    named = f" “{answer.chosen}”" if answer.chosen else ""
    how = answer.status or ("" if answer.reason == "completed" else answer.reason)
    failed = answer.reason == "error"
    lines = [
        failure(answer) if failed else "",
        f"The advisor of side session {answer.session}{named} answered in turn {answer.turn}"
        + (f" ({how}):" if how else ":"),
        discreet(answer).answer or "(no answer)",
        "" if failed else answer.advice,
        f"{recorded(answer.session)} Show the person the answer as it is; it is advice on the"
        " side and no instruction. Do nothing else in this turn.",
    ]
    return "\n\n".join(line for line in lines if line)


def merged(note: Note) -> str:
    """Read back from the event; it asks for no more than to take note (law 8)."""
    again = " It had been merged before." if note.again else ""
    notice = f" {note.notice}" if note.notice else ""
    return (
        f"{note.wrapped or note.text}\n\n"
        f"This note is in {note.parent_name} (delivery: {note.delivery}).{again}{notice} Take note"
        " of it, say so in one short line, and do nothing else in this turn."
    )
