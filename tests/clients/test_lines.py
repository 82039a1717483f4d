"""Bytes → JSON objects, whatever the bytes."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from sidechat_mcp.clients import jsonl as lines
from sidechat_mcp.clients.claude_code.records import SHAPE
from sidechat_mcp.clients.jsonl import Tally, objects
from sidechat_mcp.clients.values import compact
from tests.behaviours import behaviour
from tests.clients.scribe import line


def read(text: bytes) -> tuple[list[dict[str, Any]], dict[str, int], dict[str, int]]:
    tally = Tally()
    found = list(objects(io.BytesIO(text), SHAPE, tally))
    return found, dict(tally.unreadable), dict(tally.ignored)


def record(n: int, **members: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": f"u{n}", "sessionId": "s", **members}


@behaviour("clients:lines-end-at-newline")
@pytest.mark.parametrize("separator", [*"\u2028\u2029\u0085\x0b\x0c\x1c\x1d\x1e"])
def test_only_a_newline_ends_a_line(separator: str) -> None:
    # Raw controls are no JSON; a lenient writer's escapes of them are.
    raw = separator if separator > "\x1f" else f"\\u{ord(separator):04x}"
    text = f'{{"type":"user","text":"before{raw}after"}}\n'.encode()
    assert read(text + line(record(1))) == (
        [{"type": "user", "text": f"before{separator}after"}, record(1)],
        {},
        {},
    )


def test_lines_may_end_as_on_windows_and_blank_ones_say_nothing() -> None:
    text = b"\xef\xbb\xbf" + line(record(1)).rstrip() + b"\r\n\r\n \n" + line(record(2))
    assert read(text) == ([record(1), record(2)], {}, {})


@behaviour("clients:half-a-line")
def test_an_unfinished_last_line_is_left_for_later() -> None:
    whole = line(record(1)) + line(record(2, text="many bytes: äöü€😀"))
    for stop in range(len(line(record(1))) + 1, len(whole) - 1):
        assert read(whole[:stop]) == ([record(1)], {}, {"unfinished last line": 1})
    assert len(read(whole[:-1])[0]) == 2, "a whole record needs no newline behind it"


@behaviour("clients:torn-record")
def test_whole_records_glued_to_a_torn_one_are_read() -> None:
    a, b, c = (line(record(n, text="some words")).rstrip() for n in range(3))
    torn = a[: len(a) * 6 // 10]
    assert read(torn + b + b"\n" + c + b"\n") == (
        [record(1, text="some words"), record(2, text="some words")],
        {"torn record": 1},
        {},
    )
    assert read(a + b + c + b"\n")[0] == [record(n, text="some words") for n in range(3)]
    assert read(b + torn + b"\n")[:2] == ([record(1, text="some words")], {"torn record": 1})
    assert read(torn + b"\n" + b + b"\n")[:2] == (
        [record(1, text="some words")],
        {"not JSON": 1},
    )


def test_a_part_of_a_torn_record_is_no_record() -> None:
    inner = {"type": "user", "uuid": "inner", "message": {"content": "x"}}
    torn = line(record(1, progress=inner, rest="…")).rstrip()[:-4]
    assert read(torn + b"\n") == ([], {"not JSON": 1}, {})


@behaviour("clients:deep-nesting")
@pytest.mark.parametrize("depth", [200, 1000, 5000, 100_000])
@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_however_deep_a_line_is_nested_the_others_are_read(depth: int, pair: str) -> None:
    opening = "[" if pair == "[]" else '{"a":'
    deep = '{"type":"user","x":' + opening * depth + "1" + pair[1] * depth + "}\n"
    found, unreadable, _ = read(deep.encode() + line(record(2)))
    assert found[-1] == record(2)
    assert len(found) == 2 or unreadable == {"nested too deeply": 1}
    if depth >= 100_000:
        assert unreadable == {"nested too deeply": 1}


def test_numbers_that_python_or_json_cannot_take_are_kept_as_text() -> None:
    text = f'{{"n":{"9" * 5000},"x":1e999,"y":NaN,"z":1.5}}\n'.encode()
    found, unreadable, _ = read(text)
    assert found == [{"n": "9" * 5000, "x": "1e999", "y": None, "z": 1.5}]
    assert unreadable == {}
    json.loads(compact(found[0]))


def test_a_number_that_is_too_large_leaves_as_text() -> None:
    found, _, _ = read(b'{"x":[1e999,{"y":-1e999}],"z":1.5}\n')
    assert compact(found[0]) == '{"x":["inf",{"y":"-inf"}],"z":1.5}'


@behaviour("clients:skipped-is-shown")
def test_what_is_no_object_or_no_text_is_counted() -> None:
    text = b'"text"\n42\n[1]\nnull\n\x00\x00\x00\n{"type":"user","t":"\xff\xfe"}\n'
    assert read(text) == (
        [{"type": "user", "t": "\ufffd\ufffd"}],
        {"not an object": 4, "not JSON": 1, "not UTF-8, shown as U+FFFD": 1},
        {},
    )


@behaviour("clients:large-files")
def test_an_over_long_line_is_skipped_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST", 1000)
    long = line(record(1, text="x" * 5000))
    assert read(long + line(record(2))) == ([record(2)], {"line too long": 1}, {})
    exact = line(record(3, text="x" * (999 - len(line(record(3, text=""))))))
    assert len(exact) == 999
    assert len(read(exact)[0]) == 1
