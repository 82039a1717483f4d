"""What was asked on the side, for a note: each question with the piece that answered it best, as
short as the room demands. A weak match gives only the turns to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sidechat_mcp.providers.quoting.history import Exchange
from sidechat_mcp.providers.quoting.pick import Material, Piece
from sidechat_mcp.providers.quoting.questions import read
from sidechat_mcp.providers.quoting.reply import quotes_of, verdict_of
from sidechat_mcp.providers.quoting.wants import Said, gives

SIZES = ((14, 14), (10, 12), (8, 10), (8, 8))
"""Most words of a question and of its answer, from roomy to tight."""


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


def _line(exchange: Exchange, stuff: Material, asked: int, answered: int) -> str:
    question = shortened(exchange.question, asked)
    verdict = verdict_of(exchange.reply)
    if verdict is None:
        return f"[{exchange.turn}] {question}"
    if verdict == "not found":
        return f"{question} – not found"
    best = _best(exchange, stuff) if verdict == "answered" else None
    if best is not None:
        return f"{question} – [{best.entry.after}] {shortened(best.text, answered)}"
    turns = dict.fromkeys(quote.turn or quote.after for quote in quotes_of(exchange.reply))
    weak = "weak match, " if verdict == "weak" else ""
    return f"{question} – {weak}see {', '.join(f'[{turn}]' for turn in turns)}"


def _best(exchange: Exchange, stuff: Material) -> Piece | None:
    """The piece of the quotes shown that answers best: it has words of the question and the kind
    of thing asked for, and counts for something in the dialogue."""
    question = read(exchange.question)
    wanted = frozenset(question.stems)
    shown = {quote.turn for quote in quotes_of(exchange.reply)}
    best: tuple[float, Piece] | None = None
    for piece in stuff.pieces:
        if piece.entry.turn not in shown or piece.text not in exchange.reply:
            continue
        given = question.want != "any" and gives(
            question, [Said(piece.text, question.heavy, False)]
        )
        new = 0.1 * len(piece.terms - wanted)
        explains = 0.5 * (piece.entry.speaker == "assistant")
        score = (len(wanted & piece.terms) + 1.5 * given + new + explains) * piece.factor**0.25
        if best is None or score >= best[0]:
            best = (score, piece)
    return None if best is None else best[1]
