"""The note of a condense turn: quoted pieces under a budget, grouped, each with its turn.

What was asked on the side comes first and has up to half of the room; the rest goes to what the
inherited conversation decided, found out and left open. Nothing in it is in our own words but the
headings. Earlier notes are not quoted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sidechat_mcp.providers.quoting.asked import FEW, asked_lines, bare, told
from sidechat_mcp.providers.quoting.history import Entry, Exchange, Order
from sidechat_mcp.providers.quoting.language.sentences import Span
from sidechat_mcp.providers.quoting.pick import Group, Material, Piece, material, terms
from sidechat_mcp.providers.quoting.reply import verdict_of

WORDS = 120
"""Most words of a note, headings and turn numbers included."""
SIDE_WORDS, MANY_WORDS = 46, 42
"""Most of them for what was asked on the side: if it was little, and else."""
SAME_TURN = 0.5
"""What a second piece of the same turn counts, against 1 for the first."""
LEAST = 0.15
"""A piece that brings less per word is not worth its room."""
SHORTER = 0.75
"""After an order to shorten: that share of what is allowed, or of what was too long."""
NEAR = 6
"""Characters between two pieces that are written as one."""
LEAD = "Quotes by [turn]:"
GROUPS: tuple[Group, ...] = ("Decisions", "Facts", "Open")


@dataclass(frozen=True, slots=True)
class Room:
    """How much may still be written."""

    words: int
    characters: int

    def holds(self, text: str) -> bool:
        return len(text.split()) <= self.words and len(text) <= self.characters


def write(entries: Sequence[Entry], exchanges: Sequence[Exchange], order: Order) -> str:
    """A note of at most `WORDS` words and `order.cap` characters, or the shortest honest line."""
    cap = order.cap
    for _ in range(order.again):
        cap = int(min(cap, order.last or cap) * SHORTER)
    room = Room(WORDS, cap)
    shown = "\n".join(e.reply for e in exchanges if verdict_of(e.reply) == "answered")
    stuff = material(entries, shown)
    side = asked_lines(exchanges, stuff, _side_room(len(exchanges), cap).holds)
    chosen = _choose(stuff, side, room)
    text = _text(side, chosen)
    if (side or chosen) and room.holds(text):
        return text
    return bare(exchanges, cap)


def _side_room(questions: int, cap: int) -> Room:
    return Room(SIDE_WORDS if questions <= FEW else MANY_WORDS, cap * 2 // 3)


def _choose(stuff: Material, side: Sequence[str], room: Room) -> list[Piece]:
    """The pieces that bring most for their length, one open item first, as long as they fit."""
    chosen: list[Piece] = []
    held = terms(told(side))
    left = list(stuff.pieces)
    first = [p for p in left if p.group == "Open"]
    while left:
        best = _next(first or left, side, chosen, held, stuff, room)
        if best is not None:
            chosen.append(best)
            held |= best.terms
        elif not first:
            break
        first = list[Piece]()
        words = room.words - len(_text(side, chosen).split())
        left = [p for p in left if p is not best and p.length < words]
    return chosen


def _next(
    pool: Sequence[Piece],
    side: Sequence[str],
    chosen: Sequence[Piece],
    held: frozenset[str],
    stuff: Material,
    room: Room,
) -> Piece | None:
    worth = [_worth(piece, chosen, held, stuff) for piece in pool]
    for at in sorted(range(len(pool)), key=lambda i: (-worth[i], -i)):
        if worth[at] < LEAST:
            return None
        if room.holds(_text(side, [*chosen, pool[at]])):
            return pool[at]
    return None


def _worth(piece: Piece, chosen: Sequence[Piece], held: frozenset[str], stuff: Material) -> float:
    gain = sum(stuff.weight.get(t, 0.0) for t in piece.terms if t not in held)
    for other in chosen:
        if other.overlaps(piece):
            return 0.0
        if other.entry.after == piece.entry.after:
            gain *= SAME_TURN
    return gain * piece.factor / (piece.length + 5)


def _text(side: Sequence[str], chosen: Sequence[Piece]) -> str:
    lines = [LEAD]
    if side:
        lines += ["Asked on the side:", *side]
    for group in GROUPS:
        its = _joined([p for p in chosen if p.group == group])
        if its:
            lines += [f"{group}:", *(f"[{p.entry.after}] {p.text}" for p in its)]
    return "\n".join(lines)


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces in their order; neighbours in one message become one piece again."""
    found: list[Piece] = []
    for piece in sorted(pieces, key=lambda p: (p.entry.place, p.span.start)):
        last = found[-1] if found else None
        gap = piece.span.start - last.span.stop if last and last.entry is piece.entry else None
        if last is not None and gap is not None and gap <= NEAR:
            found[-1] = replace(last, span=Span(last.span.start, piece.span.stop))
        else:
            found.append(piece)
    return found
