"""Decoded logs are kept up to a bound, and only what joins on to what is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sidechat_mcp.core.events import Event
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.stores.sqlite.reads import Piece, Stretch
from sidechat_mcp.stores.sqlite.recent import Recent
from sidechat_mcp.testing.samples import draft


def piece(session: str, start: int, stop: int, *, row: int = 1, first: int = 10) -> Piece:
    return Piece(row, SessionId(session), first, start, stop)


def stretch(of: Piece, *, size: int = 100) -> Stretch:
    made = [(seq, draft(f"{of.session}{seq}")) for seq in range(of.start, of.stop)]
    return Stretch([Event(of.session, seq, d.id, d.at, d.body) for seq, d in made], size)


@pytest.fixture
def recent() -> Recent:
    recent = Recent(300)
    recent.keep(piece("a", 10, 14), stretch(piece("a", 10, 14)))
    return recent


@pytest.mark.parametrize(
    ("start", "stop", "here", "missing"),
    [
        (10, 14, range(10, 14), None),
        (11, 13, range(11, 13), None),
        (12, 17, range(12, 14), (14, 17)),
        (14, 15, [], (14, 15)),
        (16, 17, [], (16, 17)),
    ],
)
def test_what_is_here_is_given_and_what_is_missing_is_named(
    recent: Recent, start: int, stop: int, here: range, missing: tuple[int, int] | None
) -> None:
    events, rest = recent.look(piece("a", start, stop))
    assert [event.seq for event in events] == list(here)
    assert rest == (None if missing is None else piece("a", *missing))


def test_a_log_grows_at_its_end_and_never_with_a_gap(recent: Recent) -> None:
    recent.keep(piece("a", 15, 16), stretch(piece("a", 15, 16)))
    assert recent.look(piece("a", 14, 16)) == ([], piece("a", 14, 16))
    recent.keep(piece("a", 14, 16), stretch(piece("a", 14, 16)))
    assert recent.look(piece("a", 10, 16)) == (stretch(piece("a", 10, 16)).events, None)


def test_the_least_lately_used_log_goes_first(recent: Recent) -> None:
    recent.keep(piece("b", 10, 11), stretch(piece("b", 10, 11)))
    recent.keep(piece("c", 10, 11), stretch(piece("c", 10, 11)))
    recent.look(piece("a", 10, 11))
    recent.keep(piece("d", 10, 11), stretch(piece("d", 10, 11)))
    here = [name for name in "abcd" if recent.look(piece(name, 10, 11))[1] is None]
    assert here == ["a", "c", "d"]


def test_what_is_larger_than_the_bound_is_not_kept(recent: Recent) -> None:
    recent.keep(piece("b", 10, 11), stretch(piece("b", 10, 11), size=301))
    assert recent.look(piece("b", 10, 11))[1] is not None
    assert recent.look(piece("a", 10, 11))[1] is None


def test_another_session_in_the_same_name_is_read_anew(recent: Recent) -> None:
    other = replace(piece("a", 10, 11), row=2)
    assert recent.look(other) == ((), other)
    recent.keep(other, stretch(other))
    assert recent.look(other)[1] is None
    assert recent.look(piece("a", 10, 11))[1] is not None
    recent.drop(SessionId("a"))
    assert recent.look(other)[1] is not None
