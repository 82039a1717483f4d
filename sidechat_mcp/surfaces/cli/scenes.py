"""The demo's scenes as lines: what happened → what is shown of it. Pure."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sidechat_mcp.sidechat.reports import AgentReport
from sidechat_mcp.surfaces.cli import words
from sidechat_mcp.surfaces.cli.terminal import Line, Styled

WIDTH = 88
_BAR = "  │ "
HANDBACK = "handback"


def title(number: int, name: str, how: str) -> Sequence[Line]:
    return ["", (Styled(f"{number}  {name}", "bold"), Styled(f"   {how}", "dim"))]


def quoted(text: str) -> Sequence[Line]:
    """`text` behind a bar, wrapped."""
    return [(Styled(_BAR, "dim"), line) for line in _wrapped(text, WIDTH - len(_BAR))]


def _wrapped(text: str, width: int) -> Iterator[str]:
    for paragraph in text.strip().split("\n"):
        yield from textwrap.wrap(paragraph, width, subsequent_indent=_hanging(paragraph)) or [""]


def _hanging(paragraph: str) -> str:
    bullet = paragraph.lstrip().startswith(("- ", "* ", "• "))
    return " " * (len(paragraph) - len(paragraph.lstrip()) + (2 if bullet else 0))


def conversation(name: str, said: Sequence[tuple[int, str]], cut: Mapping[str, int]) -> list[Line]:
    """The parent: each person's message in brief, the unfinished turn left out."""
    lines: list[Line] = [words.row("parent", name)]
    shown = said if len(said) <= 4 else [*said[:2], (0, ""), *said[-1:]]
    for number, text in shown:
        if number:
            lines.append(words.row(f"turn {number}", f"“{words.brief(text)}”"))
        else:
            lines.append(words.row("…", ""))
    if cut["turns"]:
        turns = words.count(cut["turns"], "turn")
        lines.append(words.row("open", f"{turns} still running; a fork never takes it along"))
    return lines


def forked(name: str, fork: Mapping[str, Any]) -> list[Line]:
    """The fork report, from the tool's result."""
    tokens, agent = fork["tokens"], fork["agent"]
    lines: list[Line] = []
    if fork.get("notice"):
        notice = _wrapped(fork["notice"], WIDTH - 2)
        lines += [("  ", Styled(line, "yellow")) for line in notice]
    lines += [
        ("  Child: ", Styled(fork["uri"], "bold")),
        words.row("from", f"{name}, after turn {fork['turns']} (event {fork['fork_seq']})"),
        words.row(
            "inherits",
            f"{words.count(fork['turns'], 'turn')}, {words.count(fork['seed_length'], 'event')},"
            f" about {words.count(tokens['estimate'], 'token')}, by address: nothing is copied",
        ),
        *words.agent(AgentReport(**agent)),
        words.row("head", fork["head"]),
        words.row("prefix", f"sha256 {fork['prefix_digest']}"),
    ]
    return lines


def exchange(question: str, answer: Mapping[str, Any]) -> list[Line]:
    status = {"weak": "weak match"}.get(answer["status"], answer["status"] or answer["reason"])
    return [
        "",
        (Styled("  you ", "cyan"), question),
        *quoted(answer["answer"]),
        (Styled(f"  — turn {answer['turn']} · {status}", "dim"),),
    ]


def receipt(note: Mapping[str, Any], source: Mapping[str, Any]) -> list[Line]:
    """A note with its whole provenance, as the parent's log has it."""
    first, last = source["covers"]
    advanced = source["parent_advanced"]["turns"]
    return [
        *quoted(note["text"]),
        "",
        words.row("note", f"{source['note']}, revision {source['revision']}"),
        words.row("from", f"{source['child']} ({source['model'] or 'quoting, no model'})"),
        words.row("for", f"{source['parent']}, forked at event {source['fork_seq']}"),
        words.row("covers", f"{words.count(source['turns'], 'turn')}, events {first} to {last}"),
        words.row("size", f"{source['chars']} of {words.count(source['cap'], 'character')}"),
        words.row("sha256", source["digest"]),
        words.row("meanwhile", f"the parent went on by {words.count(advanced, 'turn')}"),
        words.row(
            "placed", f"event {note['seq']} of the parent's log, delivery {note['delivery']}"
        ),
    ]


def label(handed: str, note: str) -> list[Line]:
    """What the model is handed, with the note that was shown before left out of the middle."""
    before, found, after = handed.partition(note)
    if not found:
        return list(quoted(handed))
    same = (Styled(f"{_BAR}⋮ the note above, word for word", "dim"),)
    return [*quoted(before), same, *quoted(after)]


def handed(hook: str) -> str:
    """The text that a hook's answer puts before a client's model; `{}` puts none."""
    return str(json.loads(hook).get("hookSpecificOutput", {}).get("additionalContext", ""))


def request(lines: str, forked_after: int) -> list[Line]:
    """A model's next request, a message a line: where the side session left after so many of
    them, and where its note stands."""
    shown: list[Line] = []
    for place, message in enumerate(messages(lines), 1):
        text = words.brief(message["text"])
        if message["note"]:
            shown.append((Styled("  note      ", "green"), text, Styled("  ◀", "green")))
        else:
            shown.append(words.row(message["role"], text))
        if place == forked_after:
            shown.append((Styled("  ┄┄ the side session was forked here", "dim"),))
    return [*shown, words.row("user", "(what the person says next)")]


def messages(lines: str) -> Sequence[dict[str, Any]]:
    """Role and text of each message of a request's canonical lines. A note's text stands without
    its wrapper."""
    found: list[dict[str, Any]] = []
    for line in lines.splitlines()[1:]:
        message = json.loads(line)
        text = "\n\n".join(str(block.get("text", "")) for block in message["content"])
        note = message["role"] == "context" and text.startswith("<sidechat-note ")
        if note:
            text = text.partition("\n\n")[2].rpartition("</sidechat-note>")[0]
        found.append({"role": message["role"], "text": text.strip(), "note": note})
    return found


def provenance(log: str, note: str) -> dict[str, Any]:
    """The source of the handback `note` in a session's log."""
    for line in log.splitlines():
        source: dict[str, Any] = json.loads(line)["body"].get("source") or {}
        if source.get("role") == HANDBACK and source.get("note") == note:
            return source
    return {}
