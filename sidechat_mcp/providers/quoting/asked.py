"""What was asked on the side, for a note: each question with the piece that answered it best, as
short as the room demands. A weak match gives only the turns to look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sidechat_mcp.providers.quoting.history import Entry, Exchange
from sidechat_mcp.providers.quoting.language.cues import asks
from sidechat_mcp.providers.quoting.language.sentences import Span
from sidechat_mcp.providers.quoting.language.words import stems
from sidechat_mcp.providers.quoting.pick import Material, runs, terms
from sidechat_mcp.providers.quoting.questions import Question, read
from sidechat_mcp.providers.quoting.reply import quotes_of, verdict_of
from sidechat_mcp.providers.quoting.wants import TERSE, Said, gives

SIZES = ((14, 14), (10, 12), (8, 10), (8, 8))
"""Most words of a question and of its answer, from roomy to tight."""
BARE = (6, 12)
"""The same where an answer stands without its question."""
IN_CONTEXT = 0.6
"""What a word counts that stands before a sentence, against 1 in it."""
IN_TURN = 1.0
"""The same of one that the turn has."""
GIVES = 1.2
"""What it counts that a sentence has the kind of thing asked for."""
FEW = 6
"""So few questions are each noted, if need be without their words."""


def asked_lines(
    exchanges: Sequence[Exchange], stuff: Material, fits: Callable[[str], bool]
) -> Sequence[str]:
    """A line for each question, oldest first. Where not even the tightest form of all fits, how
    many there were and the latest ones."""
    if not exchanges:
        return []
    for size in SIZES:
        lines = [_line(e, stuff, *size) for e in exchanges]
        if fits("\n".join(lines)):
            return lines
    if len(exchanges) <= FEW:
        lines = list(dict.fromkeys(_line(e, stuff, *BARE, bare=True) for e in exchanges))
        if fits("\n".join(lines)):
            return lines
    tight = [_line(e, stuff, *SIZES[-1]) for e in exchanges]
    for first in range(1, len(exchanges) + 1):
        lines = [_more(exchanges[:first]), *tight[first:]]
        if fits("\n".join(lines)):
            return lines
    return []


def bare(exchanges: Sequence[Exchange], cap: int) -> str:
    """One honest line when there is room, or matter, for nothing else."""
    if not exchanges:
        return "Nothing was asked on the side, and nothing found to quote."[:cap]
    line = f"Asked on the side: {' '.join(exchanges[-1].question.split())}"
    return line if len(line) <= cap else f"{line[: max(cap - 1, 0)].rstrip()}…"[:cap]


def shortened(text: str, most: int) -> str:
    """The first words of `text`, on one line."""
    words = text.split()
    return " ".join(words) if len(words) <= most else f"{' '.join(words[:most])}…"


def _more(exchanges: Sequence[Exchange]) -> str:
    turns = [e.turn for e in exchanges if e.turn is not None]
    span = f"{turns[0]}–{turns[-1]}" if len(turns) > 1 else "".join(map(str, turns))
    answered = sum(verdict_of(e.reply) == "answered" for e in exchanges)
    many = f"{len(exchanges)} question{'s' if len(exchanges) > 1 else ''}"
    return f"[{span}] {many}, {answered} answered"


def told(lines: Sequence[str]) -> str:
    """What such lines tell: their answers, without the questions."""
    return "\n".join(line if line[:1] == "[" else line.partition(" – [")[2] for line in lines)


def _line(
    exchange: Exchange, stuff: Material, asked: int, answered: int, *, bare: bool = False
) -> str:
    question = shortened(exchange.question, asked)
    verdict = verdict_of(exchange.reply)
    if verdict is None:
        return f"[{exchange.turn}] {question}"
    if verdict == "not found":
        return f"{question} – not found"
    best = _best(exchange, stuff, answered) if verdict == "answered" else None
    if best is not None:
        quoted = f"[{best[0]}] {shortened(best[1], answered)}"
        return quoted if bare else f"{question} – {quoted}"
    turns = dict.fromkeys(quote.turn or quote.after for quote in quotes_of(exchange.reply))
    weak = "weak match, " if verdict == "weak" else ""
    return f"{question} – {weak}see {', '.join(f'[{turn}]' for turn in turns)}"


def _best(exchange: Exchange, stuff: Material, most: int) -> tuple[int, str] | None:
    """The turn and the words, of the quotes shown, that answer best: a sentence that has words of
    the question, or follows one that has, and the kind of thing asked for."""
    question = read(exchange.question)
    in_turn: dict[int | None, frozenset[str]] = {}
    for quote in quotes_of(exchange.reply):
        its = in_turn.get(quote.turn, frozenset())
        in_turn[quote.turn] = its | frozenset(stems(quote.text)) & question.heavy
    best: tuple[float, Entry, Span] | None = None
    before, about = (-1, frozenset[str]()), (-1, frozenset[str]())
    for entry, span, counts in stuff.sentences:
        text = entry.text[span.start : span.stop]
        if entry.turn not in in_turn or text not in exchange.reply:
            continue
        held = frozenset(stems(text)) & question.heavy
        context = held | (before[1] if before[0] == entry.place else frozenset[str]())
        context |= about[1] if about[0] == entry.after else frozenset[str]()
        before = (entry.place, held)
        if entry.speaker == "user" and (asks(text) or len(text.split()) <= TERSE):
            about = (entry.after, held)
        if asks(text) or text.endswith(":"):
            continue
        score = counts * (
            _telling(held, stuff)
            + IN_CONTEXT * _telling(context - held, stuff)
            + IN_TURN * _telling(in_turn.get(entry.turn, frozenset()), stuff)
            + _answers(question, text)
            + (0.2 if entry.speaker == "assistant" else 0.0)
        )
        if best is None or score >= best[0]:
            best = (score, entry, span)
    return None if best is None else (best[1].after, _cut(question, best[1], best[2], most))


def _telling(held: frozenset[str], stuff: Material) -> float:
    return sum(1 / (1 + math.log(max(stuff.said.get(s, 1), 1))) for s in held)


def _answers(question: Question, text: str) -> float:
    """How much a piece looks like an answer: the kind of thing asked for, or names and figures that
    the question lacks."""
    if question.want not in ("any", "open"):
        return GIVES if gives(question, [Said(text, question.heavy, False)]) else 0.0
    new = sum(any(c.isdigit() for c in term) for term in terms(text) - question.heavy)
    return 0.1 * min(new, 3)


def _cut(question: Question, entry: Entry, sentence: Span, most: int) -> str:
    """The sentence, or if it is longer than `most` words the run of its clauses that answers."""
    whole = entry.text[sentence.start : sentence.stop]
    if len(whole.split()) <= most:
        return whole
    pieces = [entry.text[s.start : s.stop] for s in runs(entry.text, sentence, most)]

    def worth(piece: str) -> float:
        held = frozenset(stems(piece)) & question.heavy
        return len(held) + _answers(question, piece) + 0.02 * len(piece.split())

    return max(pieces, key=worth, default=whole)
