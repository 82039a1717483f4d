"""A report in a client's words, twice: as text that is complete alone, and as structured content
that is complete alone, for clients show their models only one of the two.

What was said in a session comes without its credentials, as in its resource: a client keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import mcp.types as T

from sidechat_mcp.core import redact
from sidechat_mcp.sidechat.reports import Answer, ForkReport, Listing, Note, Reading, Said
from sidechat_mcp.surfaces import shapes
from sidechat_mcp.surfaces.mcp.schemas import MARKDOWN

LINKS_SINCE = "2025-06-18"
"""The first protocol version that knows resource links."""
PAGE_CHARS = 100_000
"""A page of turns ends before it grows beyond this many characters."""
MARGIN = 10_000
"""How far beyond its end a text is looked through: a credential there is not cut, but taken out."""

FOR_THE_PERSON = T.Annotations(audience=["user"])


@dataclass(frozen=True, slots=True)
class Words:
    """What a call answers: its text, whom each piece is for, and the same as data."""

    text: str
    data: dict[str, Any] | None
    aside: str = ""
    link: T.ResourceLink | None = None
    person: bool = False


def result(words: Words, version: str) -> T.CallToolResult:
    """`words` as a tool's result for a client of protocol `version`."""
    audience = FOR_THE_PERSON if words.person else None
    content: list[T.ContentBlock] = []
    if words.text:
        content.append(T.TextContent(text=sound(words.text), annotations=audience))
    if words.aside:
        content.append(T.TextContent(text=sound(words.aside), annotations=FOR_THE_PERSON))
    if words.link is not None and version >= LINKS_SINCE:
        content.append(words.link)
    return T.CallToolResult(content=content, structured_content=_sound(words.data))


def forked(report: ForkReport) -> Words:
    if report.first is not None:
        report = replace(report, first=discreet(report.first))
    first = "" if report.first is None else "\n\n" + answered(report.first).text
    return Words(
        "\n".join(fork_lines(report)) + first,
        shapes.forked(report, aside=recorded(report.session)),
        aside="" if report.first is None else recorded(report.session),
        link=_link(report),
    )


def fork_lines(report: ForkReport) -> Sequence[str]:
    """The fork report, what a person must know first."""
    again = " (the one opened before)" if report.again else ""
    agent = report.agent
    who = agent.name + (f" ({agent.model})" if agent.model else "")
    digest = f", head {report.head_digest[:12]}" if report.head_digest else ""
    lines = [
        report.notice,
        f"Side session {report.session}{again}: forked from {report.parent_name}"
        f" ({report.parent}) after turn {report.turns}, place {report.fork_seq}.",
        f"Inherited: {_many(report.seed_length, 'event')}, about {report.tokens} tokens"
        f" ({report.tokens_method}).{left_out(report)}",
        f"Advisor: {who}; pays: {agent.pays}; rights: {agent.rights}.",
        f"Head: {report.head}{digest}; inherited messages {report.prefix_digest[:12]}.",
        f"Read it: {report.uri}. Talk: `converse`, or outside this chat `sidechat chat"
        f" {report.session}`. Bring a note back: `merge`.",
    ]
    return [line for line in lines if line]


def discreet(answer: Answer) -> Answer:
    """`answer` without credentials."""
    return replace(answer, answer=redact.secrets(answer.answer))


def answered(answer: Answer) -> Words:
    answer = discreet(answer)
    named = f" “{answer.chosen}”" if answer.chosen else ""
    how = answer.status or ("" if answer.reason == "completed" else answer.reason)
    head = f"Side session {answer.session}{named}, turn {answer.turn}" + (how and f" ({how})")
    failed = answer.reason == "error"
    pieces = [
        failure(answer) if failed else "",
        head,
        answer.answer or "(no answer)",
        "" if failed else answer.advice,
        _spent(answer),
    ]
    aside = recorded(answer.session)
    text = "\n\n".join(filter(None, pieces))
    return Words(text, shapes.answered(answer, aside=aside), aside=aside, person=True)


def failure(answer: Answer) -> str:
    """That a turn failed, and what to do: it is said before anything else."""
    return f"The turn failed. {answer.advice}".rstrip()


def recorded(session: str) -> str:
    """What converse owes to whoever calls it from inside a chat."""
    return (
        "This exchange is recorded in the chat it was called from. To talk outside it:"
        f" `sidechat chat {session}`."
    )


def merged(note: Note) -> Words:
    named = f" “{note.chosen}”" if note.chosen else ""
    size = f"{note.chars} of at most {note.cap} characters"
    if note.seq is None:
        return Words(
            f"Draft of the note of side session {note.session}{named} for {note.parent_name}"
            f" ({note.parent}), {size}; nothing is merged yet.\n\n{note.text}",
            shapes.merged(note),
        )
    again = "It had been merged before. " if note.again else ""
    notice = f" {note.notice}" if note.notice else ""
    instead = f" It takes the place of note {note.supersedes}." if note.supersedes else ""
    return Words(
        f"{again}Note {note.note} of side session {note.session}{named} is in"
        f" {note.parent_name} ({note.parent}) at place {note.seq}, revision {note.revision},"
        f" {size}; delivery: {note.delivery}.{instead}{notice}\n\n{note.wrapped or note.text}",
        shapes.merged(note),
    )


def listed(listing: Listing) -> Words:
    lines: list[str] = []
    for one in listing.sessions:
        back = ", merged" if one.merged else ""
        lines.append(
            f"- {one.session} “{one.title}”: {_many(one.turns, 'turn')}{back}; active"
            f" {shapes.instant(one.active)}, created {shapes.instant(one.created)};"
            f" of {one.parent_name} ({one.parent}); {one.uri}"
            + (f"; damaged: {one.damaged}" if one.damaged else "")
        )
    if not listing.sessions:
        lines.append("There is no side session yet; `fork` opens one.")
    if listing.next is not None:
        lines.append(f"More with cursor {listing.next}")
    return Words("\n".join(lines), shapes.listed(listing))


def read(reading: Reading) -> Words:
    page = _page(reading)
    lines = [f"Session {page.session}"]
    for said in page.turns:
        where = f"turn {said.turn}, " if said.turn is not None else ""
        lines.append(f"[{where}{said.role}]\n{said.text}")
    if not page.turns:
        lines.append("Nothing was said there.")
    if page.next is not None:
        lines.append(f"More from turn {page.next} (`from`).")
    return Words("\n\n".join(lines), shapes.read(page))


def forgotten(session: str) -> Words:
    return Words(f"Session {session} is forgotten.", shapes.forgotten(session))


def sound(text: str) -> str:
    """`text` without halves of characters, which cannot be sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _sound(value: Any) -> Any:
    match value:
        case str():
            return sound(value)
        case dict():
            return {k: _sound(v) for k, v in cast("dict[str, Any]", value).items()}
        case list():
            return [_sound(part) for part in cast("list[Any]", value)]
        case _:
            return value


def _page(reading: Reading) -> Reading:
    """As many whole turns as fit; a turn that alone is too large is shortened and says so."""
    kept: list[Said] = []
    room = PAGE_CHARS
    for said in reading.turns:
        over = len(said.text) - room
        if over > 0 and kept and said.turn is not None and said.turn != kept[0].turn:
            whole = [one for one in kept if one.turn != said.turn]
            return Reading(reading.session, whole, said.turn)
        text = redact.secrets(said.text[: room + MARGIN])
        if over > 0:
            where = f"sidechat://sessions/{reading.session}/turns/{said.turn}"
            text = f"{text[:room]} [… {over} more characters: {where}]"
        kept.append(replace(said, text=text))
        room = max(0, room - len(text))
    return Reading(reading.session, kept, reading.next)


def _link(report: ForkReport) -> T.ResourceLink:
    return T.ResourceLink(
        uri=report.uri, name=report.session, title=sound(report.title), mime_type=MARKDOWN
    )


def left_out(report: ForkReport) -> str:
    """What a fork cut, mended, has only as a summary or did not read, as one sentence after a
    blank; nothing where that is nothing."""
    parts: list[str] = []
    if report.cut_turns or report.cut_events:
        cut = f"{_many(report.cut_turns, 'turn')}, {_many(report.cut_events, 'event')}"
        parts.append(f"cut behind the last completed turn: {cut}")
    if report.repaired:
        parts.append(f"mended: {_many(report.repaired, 'open call')}")
    if report.compacted is not None:
        parts.append(f"only as a summary: {_many(report.compacted, 'turn')}")
    if report.skipped:
        unread = shapes.unread(report.skipped).rstrip(".")
        parts.append(unread[:1].lower() + unread[1:])
    said = "; ".join(parts)
    return f" {said[:1].upper()}{said[1:]}." if said else ""


def _spent(answer: Answer) -> str:
    if answer.usage is None:
        return ""
    usage = answer.usage
    counts = {
        "input": usage.input,
        "output": usage.output,
        "cache read": usage.cache_read,
        "cache written": usage.cache_write,
    }
    known = ", ".join(f"{what} {n}" for what, n in counts.items() if n is not None)
    return f"Tokens: {known or 'not reported'}; cache: {answer.cache}."


def _many(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")
