"""Reports → lines that people read. Pure: the same report gives the same lines."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from sidechat_mcp.sidechat.reports import (
    AgentReport,
    Answer,
    ForkReport,
    Listed,
    Listing,
    Note,
    Reading,
    Replayed,
)
from sidechat_mcp.surfaces.cli.terminal import Line, Style, Styled

_WIDTH = 10
_SHORT = 12
"""Hex digits of a digest that people compare by eye."""
_FIRST_WORDS = 60
TAKE_OWN: Line = "Nothing is merged yet. The same command without --draft takes it back."
TAKE_IN_CHAT: Line = "Take it back as it stands: /merge; or your own words: /note TEXT."


def count(number: int, noun: str) -> str:
    """`1 turn`, `2 turns`, `1,234 turns`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def row(name: str, value: str) -> Line:
    """`  name      value`, the form of every report."""
    return (Styled(f"  {name:<{_WIDTH}}", "dim"), value)


def brief(text: str, length: int = _FIRST_WORDS) -> str:
    """The first words of `text` on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def nowhere(folder: str | None) -> str:
    """What to do where no conversation was found."""
    where = f" in {folder}" if folder else ""
    return (
        f"No client's conversation was found{where}. Go to the folder of one, or name it:"
        " sidechat fork CLIENT:ID, or sidechat fork --file PATH."
    )


def when(milliseconds: int) -> str:
    """Local time, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(milliseconds / 1000))


def fork(report: ForkReport) -> Sequence[Line]:
    """The fork report. Its first line is the agent's notice, where there is one."""
    return [*_notice(report.notice), *_forked(report)]


def _notice(notice: str) -> Iterator[Line]:
    if notice:
        yield (Styled(notice, "yellow"),)


def _forked(report: ForkReport) -> Iterator[Line]:
    verb = "Forked already" if report.again else "Forked"
    yield (f"{verb}: ", Styled(report.uri, "bold"))
    yield row("from", f"{report.parent_name}, after turn {report.turns} (event {report.fork_seq})")
    yield row(
        "inherits",
        f"{count(report.turns, 'turn')}, {count(report.seed_length, 'event')},"
        f" about {count(report.tokens, 'token')} ({report.tokens_method})",
    )
    if report.cut_events or report.cut_turns:
        turns, events = count(report.cut_turns, "turn"), count(report.cut_events, "event")
        yield row("cut", f"{turns} behind the last completed one ({events})")
    if report.repaired:
        calls = count(report.repaired, "open call")
        yield row("repaired", f"{calls} got a result that says the outcome is unknown")
    if report.compacted is not None:
        yield row("compacted", f"{count(report.compacted, 'turn')} known only as a summary")
    if report.skipped:
        reasons = ", ".join(f"{n:,} {why}" for why, n in report.skipped.items())
        yield row("skipped", reasons)
    yield from agent(report.agent)
    digest = f" (sha256 {report.head_digest[:_SHORT]}…)" if report.head_digest else ""
    yield row("head", f"{report.head}{digest}")
    yield row("prefix", f"sha256 {report.prefix_digest[:_SHORT]}…")


def agent(report: AgentReport) -> Sequence[Line]:
    """Who answers, with which rights and at whose cost."""
    model = f" ({report.model})" if report.model else ""
    return [
        row("answers", f"{report.name}{model}"),
        row("rights", report.rights),
        row("pays", report.pays),
    ]


def after_fork(report: ForkReport) -> Line:
    """What to type next; it works in every folder."""
    chat, ask = f"sidechat chat {report.session}", f"sidechat ask -s {report.session} TEXT"
    return (
        "Next: ",
        Styled(chat, "cyan"),
        " (/merge there takes a note back), or ",
        Styled(ask, "cyan"),
    )


def chosen(title: str, session: str) -> Line:
    """Which session a message went to, where the caller named none."""
    return (Styled(f"In “{title}” ({session}):", "dim"),)


def answered(report: Answer) -> Sequence[Line]:
    """What is said about an answer: its turn, how it ended, what it cost, what comes next."""
    parts = [f"turn {report.turn}"]
    if report.status is not None:
        parts.append("weak match" if report.status == "weak" else report.status)
    if report.reason != "completed":
        parts.append(f"ended: {report.reason}")
    usage = report.usage
    if usage is not None and (usage.input is not None or usage.output is not None):
        parts.append(f"{_tokens(usage.input)} in, {_tokens(usage.output)} out")
        parts.append(f"cache {report.cache}")
    lines: list[Line] = [(Styled("— " + " · ".join(parts), "dim"),)]
    if report.advice:
        lines.append((Styled(report.advice, "yellow"),))
    return lines


def _tokens(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def take_back(session: str) -> Line:
    """How a draft of the agent's becomes the note."""
    merge = Styled(f"sidechat merge -s {session}", "cyan")
    return ("Take it back as it stands: ", merge, "; or your own words: --note TEXT.")


def note(report: Note, ways: Line) -> Sequence[Line]:
    """What is said about a note; its text stands by itself. `ways` lead on from a draft."""
    size = f"{report.chars:,} of {count(report.cap, 'character')}"
    if report.seq is None:
        return [(Styled(f"— draft for {report.parent_name} · {size}", "dim"),), ways]
    verb = "Merged before" if report.again else "Merged"
    lines: list[Line] = [
        (Styled(verb, "green"), f" into {report.parent_name}."),
        row("note", f"{report.note} · revision {report.revision} · {size}"),
        row("place", f"event {report.seq} of {report.parent}"),
        row("delivery", report.delivery),
    ]
    if report.supersedes:
        lines.append(row("replaces", report.supersedes))
    if report.notice:
        lines.append((Styled(report.notice, "yellow"),))
    return lines


def listing(report: Listing) -> Sequence[Line]:
    if not report.sessions:
        return ["No side sessions yet. `sidechat fork` makes one."]
    return [line for listed in report.sessions for line in _listed(listed)]


def _listed(listed: Listed) -> Iterator[Line]:
    merged = " · merged" if listed.merged else ""
    yield (Styled(listed.session, "bold"), f"  {listed.title}")
    about = f"{when(listed.active)} · {count(listed.turns, 'turn')}{merged}"
    yield (Styled(f"  {about} · from {listed.parent_name}", "dim"),)
    if listed.damaged:
        yield (Styled("  damaged", "red"), f"   {listed.damaged}")


def after_listing(report: Listing) -> Sequence[Line]:
    if report.next is None:
        return []
    return [("More: ", Styled(f"sidechat sessions --cursor {report.next}", "cyan"))]


def reading(report: Reading) -> Sequence[Line]:
    """A conversation as it was said."""
    lines: list[Line] = []
    for said in report.turns:
        number = "" if said.turn is None else f"turn {said.turn} · "
        lines += ["", (Styled(f"{number}{said.role}", "dim"),), said.text]
    return lines[1:]


def replayed(reports: Sequence[Replayed], verdict: str) -> Sequence[Line]:
    """Two lines for each session that is not simply verified, and the verdict."""
    lines: list[Line] = []
    for report in reports:
        if report.verdict == "verified" and report.wire != "not checked":
            continue
        place = "" if report.seq is None else f" at event {report.seq}"
        said = "bytes on the wire not checked" if report.wire else f"{report.verdict}{place}"
        style = "red" if report.verdict == "failed" else "yellow"
        lines.append((f"{report.session}: ", Styled(said, style)))
        lines.append(f"  {report.why}")
    requests = sum(report.requests for report in reports)
    about = f"{count(requests, 'request')} of {count(len(reports), 'session')} rebuilt"
    wired = [report.wire for report in reports if report.wire is not None]
    if wired:
        about += f"; bytes on the wire compared in {wired.count('verified')} of {len(wired)}"
    styles: dict[str, Style] = {"verified": "green", "failed": "red"}
    return [
        *lines,
        (Styled(about, "dim"),),
        ("replay: ", Styled(verdict, styles.get(verdict, "yellow"))),
    ]
