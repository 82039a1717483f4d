"""Server-sent events out of bytes that are cut anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.providers.wire import sse
from sidechat_mcp.providers.wire.sse import Decoder, ServerEvent

SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c"


def decoded(*chunks: bytes) -> list[ServerEvent]:
    decoder = Decoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_end_with_any_of_the_three_ends(end: str) -> None:
    text = end.join(
        ["event: a", "data: 1", "data:2", "id: 7", ": comment", "data", "", "data: 3", "", ""]
    )
    assert decoded(text.encode()) == [ServerEvent("a", "1\n2\n"), ServerEvent("message", "3")]


def test_nothing_else_ends_a_line() -> None:
    assert decoded(f"data: a{SEPARATORS}b\n\n".encode()) == [
        ServerEvent("message", f"a{SEPARATORS}b")
    ]


def test_a_byte_order_mark_is_passed_over_at_the_start_only() -> None:
    text = "\ufeffdata: 1\n\n\ufeffdata: 2\n\ndata: 3\n\n"
    assert decoded(text.encode()) == [ServerEvent("message", "1"), ServerEvent("message", "3")]


def test_an_event_without_its_blank_line_never_happened() -> None:
    assert decoded(b"data: 1\n\ndata: 2\n") == [ServerEvent("message", "1")]


def test_an_event_without_data_is_none() -> None:
    assert decoded(b"event: ping\n\ndata: 1\n\n") == [ServerEvent("message", "1")]


LINES = st.lists(
    st.tuples(
        st.sampled_from(["data: ", "data:", "event: ", ": ", "id: ", "", "data"]),
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=6),
        st.sampled_from(["\n", "\r", "\r\n"]),
    ),
    max_size=12,
)


@given(LINES, st.data())
def test_it_does_not_matter_where_the_bytes_are_cut(
    lines: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    raw = "".join(map("".join, lines)).encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=8)))
    chunks = [raw[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert decoded(*chunks) == decoded(raw)
    assert decoded(*(raw[n : n + 1] for n in range(len(raw)))) == decoded(raw)


def test_an_endless_event_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MOST", 1000)
    line = b"data: " + b"x" * 50 + b"\n"
    assert decoded(line * 5) == []
    with pytest.raises(ValueError, match="larger than"):
        decoded(*[line] * 100)
