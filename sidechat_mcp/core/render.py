"""A log as people read it: Markdown and short plain lines. Nothing here reaches a model.

What somebody said keeps its Markdown, but cannot pass for our own: a question is a quotation,
an answer's headings stand below ours, its fences and comments end where it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sidechat_mcp.core import codec, handback, spending
from sidechat_mcp.core.events import Draft, Event, Header, Reason
from sidechat_mcp.core.handback import Handback
from sidechat_mcp.core.redact import clean
from sidechat_mcp.core.session import Session, Turn

_ENDED: dict[Reason, str] = {
    "max_tokens": "The answer stopped at the model's length limit.",
    "aborted": "This turn was cancelled.",
    "error": "This turn failed.",
    "blocked": "This turn was refused.",
    "interrupted": "This turn was interrupted.",
}
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"^( {0,3})(#{1,6})(?=\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*")


def turn(turn: Turn) -> str:
    """Markdown of one turn: heading with its number, what was said, the answer, how it ended."""
    return "\n\n".join(_turn(turn)) + "\n"


def session(state: Session, events: Sequence[Event]) -> str:
    """Markdown of a side session: title, where it comes from, its own turns and its notes.
    Inherited turns are named by a count, never copied."""
    inherited = sum(not turn.own and turn.of == "turn" for turn in state.turns)
    notes = {event.seq: note for event in events if (note := handback.read(event)) is not None}
    parts = [f"# {_escaped(state.title)}", header(state.header)]
    if inherited:
        parts.append(f"{_count(inherited, 'turn')} inherited from the parent, not repeated here.")
    if spent := _spent(state):
        parts.append(spent)
    for each in state.turns:
        if each.own:
            parts += _own(each, notes)
    return "\n\n".join(parts) + "\n"


def log(events: Sequence[Event]) -> str:
    """NDJSON, a line an event, with its place."""
    return "".join(
        codec.export(event.seq, Draft(event.id, event.at, event.body), event.session) + "\n"
        for event in events
    )


def header(header: Header) -> str:
    """One line: what it is and where it was forked."""
    origin = {"native": "Session", "mirror": "Mirror", "sidechat": "Side session"}[header.origin]
    words = [f"{origin} `{header.id}`"]
    if header.client is not None and header.client_ref is not None:
        words.append(f"of {_inline(header.client)} conversation {_inline(header.client_ref)}")
    if header.parent_session is not None:
        words.append(f"forked from `{header.parent_session}` at event {header.fork_seq}")
    return ", ".join((*words, f"agent {_inline(_agent(header.agent))}")) + "."


def _spent(state: Session) -> str:
    """The side session's own tokens; its parent's are no part of them."""
    usage = [one for turn in state.turns if turn.own for one in turn.usage]
    total = spending.total(usage)
    if total is None:
        return ""
    shown = [
        f"{'not reported' if count is None else count} {name}"
        for name, count in (("in", total.input), ("out", total.output))
    ]
    said = (
        f"Its own tokens: {', '.join(shown)}; cache on its first request: {spending.cache(usage)}."
    )
    match spending.compared(usage):
        case None | "pending":
            return said
        case "same":
            found = "it begins as the one before"
        case differs:
            found = f"not the same ({_inline(differs)})"
    return f"{said} The provider compared that request with the response before it: {found}."


def _agent(name: str) -> str:
    """A hosted agent's name carries where it was forked; people are told which client it is."""
    return "client" if name.startswith("client:") else name


def _turn(turn: Turn) -> Iterator[str]:
    yield f"## Turn {turn.number}" if turn.number is not None else "## Without a number"
    if turn.said:
        yield _quoted(turn.said)
    if turn.answer:
        yield _inset(turn.answer)
    if turn.verdict in ("weak", "not found"):
        yield f"*Match: {turn.verdict}.*"
    if turn.stop is None:
        yield "*Not answered yet.*"
    elif turn.reason in _ENDED:
        detail = f" {_escaped(clean(turn.detail))}" if turn.detail else ""
        yield f"*{_ENDED[turn.reason]}*{detail}"


def _own(turn: Turn, notes: dict[int, Handback]) -> Iterator[str]:
    if turn.of == "turn":
        yield from _turn(turn)
    elif turn.of == "condense" and turn.answer:
        yield "## Note drafted"
        yield _inset(turn.answer)
    received = [note for seq, note in notes.items() if turn.start <= seq < (turn.stop or seq + 1)]
    for note in received:
        yield f"## Note from `{note.child}`"
        yield _inset(note.text)


def _quoted(said: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in clean(said).split("\n"))


def _inset(markdown: str) -> str:
    """`markdown` as a part of ours."""
    lines: list[str] = []
    fence = ""
    for line in clean(markdown).split("\n"):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        else:
            line = _lowered(line, lines[-1] if lines else "")
        lines.append(line)
    return "\n".join([*lines, fence] if fence else lines)


def _lowered(line: str, above: str) -> str:
    """A heading, if `line` is one, three levels down; an underline that would make one of the
    line above it is none any more."""
    if above.strip() and _UNDERLINE.fullmatch(line):
        return "\\" + line.lstrip()
    line = _HEADING.sub(lambda mark: mark[1] + "#" * min(6, len(mark[2]) + 3), line, count=1)
    return line.replace("<!--", "&lt;!--")


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", text)


def _inline(text: str) -> str:
    return " ".join(clean(text).replace("`", "'").split())


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
