from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.core.events import Header
from sidechat_mcp.core.ids import SessionId, is_session_id, word
from sidechat_mcp.core.lineage import Span, clip, spans
from tests.behaviours import behaviour


def chain(*seeds: int) -> dict[SessionId, Header]:
    """Sessions s0, s1 … each forked from the one before at `seeds`."""
    found = [Header(SessionId("s0"), 0, "native", "local", "a")]
    for n, seed in enumerate(seeds, 1):
        parent = SessionId(f"s{n - 1}")
        found.append(Header(SessionId(f"s{n}"), 0, "sidechat", "local", "a", parent, seed))
    return {header.id: header for header in found}


def test_a_lineage_is_the_spans_at_which_ancestors_were_left() -> None:
    sessions = chain(5, 8)
    last = sessions[SessionId("s2")]

    assert spans(last, 10, sessions.__getitem__) == [
        Span(SessionId("s0"), 0, 5),
        Span(SessionId("s1"), 5, 8),
        Span(SessionId("s2"), 8, 10),
    ]
    assert spans(last, 8, sessions.__getitem__) == [
        Span(SessionId("s0"), 0, 5),
        Span(SessionId("s1"), 5, 8),
    ]


def test_a_fork_of_what_was_inherited_leaves_the_session_between_out() -> None:
    sessions = chain(5, 3)

    assert spans(sessions[SessionId("s2")], 4, sessions.__getitem__) == [
        Span(SessionId("s0"), 0, 3),
        Span(SessionId("s2"), 3, 4),
    ]


@behaviour("core:lineage-covers")
@given(st.lists(st.integers(0, 9), max_size=5), st.integers(0, 5), st.data())
def test_spans_cover_a_log_without_gap_or_overlap(
    seeds: list[int], more: int, data: st.DataObject
) -> None:
    sessions = chain(*seeds)
    last = list(sessions.values())[-1]
    head = last.seed_length + more
    found = spans(last, head, sessions.__getitem__)
    places = [place for span in found for place in range(span.start, span.stop)]

    assert places == list(range(head))
    start = data.draw(st.integers(0, 12))
    stop = data.draw(st.integers(0, 12))
    clipped = clip(found, start, stop)
    assert [p for span in clipped for p in range(span.start, span.stop)] == list(
        range(start, min(stop, head))
    )


def test_a_word_of_sixteen_bytes_is_a_session_id_of_26_characters() -> None:
    made = word(bytes(range(240, 256)))

    assert len(made) == 26
    assert is_session_id(made)
    assert [is_session_id(text) for text in ("", "-a", "A", "a b", "a" * 129, "a/../b")] == [
        False
    ] * 6
