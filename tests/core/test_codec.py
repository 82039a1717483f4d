from __future__ import annotations

import contextlib
import json
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast

import pytest
from hypothesis import given

from sidechat_mcp.core import codec, content
from sidechat_mcp.core.content import Media, Text, ToolUse
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    Draft,
    Header,
    RequestHeader,
    ToolResult,
    TurnEnd,
    TurnStart,
    Unknown,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, SessionId, TurnId
from sidechat_mcp.core.spelling import spell
from tests.behaviours import behaviour
from tests.core import bodies

TURN = TurnId("t1")
LINE_CUTTERS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@behaviour("core:body-round-trip")
@given(bodies.known | bodies.unknown)
def test_a_body_comes_back_as_it_was_written(body: Body) -> None:
    assert codec.load(codec.dump(body)) == body


@given(bodies.headers)
def test_a_header_comes_back_as_it_was_written(header: Header) -> None:
    assert codec.load_header(codec.dump_header(header)) == header


def _plainly(value: Any) -> Any:
    """A dataclass as the JSON object that is stored of it: defaults left out, but for its kind."""
    if not is_dataclass(value):
        items = cast("tuple[Any, ...]", value)
        return [_plainly(item) for item in items] if isinstance(value, tuple) else value
    members = {field: getattr(value, field.name) for field in fields(value)}
    return {
        field.name: _plainly(member)
        for field, member in members.items()
        if field.name in ("kind", "type")
        or (field.default_factory is MISSING and member != field.default)
        or (field.default_factory is not MISSING and member != field.default_factory())
    }


@given(bodies.known | bodies.headers | bodies.objects)
def test_the_quick_way_to_write_gives_what_the_standard_encoder_gives(value: object) -> None:
    written = spell(value)

    standard = json.dumps(_plainly(value), ensure_ascii=False, separators=(",", ":"))
    assert json.dumps(json.loads(written)) == json.dumps(json.loads(standard))


@behaviour("core:one-line")
@given(bodies.known | bodies.unknown)
def test_a_stored_body_is_one_line_for_every_reader(body: Body) -> None:
    written = codec.dump(body).decode()

    assert not set(written) & set(LINE_CUTTERS)
    assert len(written.splitlines()) == 1
    assert json.loads(written)


@given(bodies.known | bodies.unknown)
def test_what_was_read_is_written_in_the_same_bytes(body: Body) -> None:
    written = codec.dump(body)

    assert codec.dump(codec.load(written)) == written


def test_the_stored_spelling_is_fields_in_order_without_defaults() -> None:
    said = AssistantMessage(TURN, (Text("é \u2028"), ToolUse("c1", "read", "{ }")), model="m")

    assert codec.dump(said) == (
        b'{"turn":"t1","content":[{"text":"\xc3\xa9 \\u2028","type":"text"},'
        b'{"id":"c1","name":"read","input":"{ }","type":"tool_use"}],'
        b'"model":"m","kind":"assistant/message"}'
    )
    assert codec.dump(TurnStart(TURN)) == b'{"turn":"t1","kind":"turn/start"}'


def test_a_pair_of_surrogates_side_by_side_is_the_character_it_spells() -> None:
    split, whole = (UserMessage(TURN, content.text(words)) for words in ("\ud83d\ude00", "😀"))

    assert codec.dump(split) == codec.dump(whole)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_cannot_spell_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        codec.dump(RequestHeader(settings={"temperature": number}))


def test_a_value_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="A set cannot be written as JSON"):
        codec.dump(RequestHeader(settings={"stop": {"a"}}))


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b'{"turn":"t1","reason":"complet', "EOF|complete"),
        (b'{"turn":"t1","reason":"complexed","kind":"turn/end"}', "reason"),
        (b'{"reason":"completed","kind":"turn/end"}', "turn"),
        (b'{"turn":7,"reason":"completed","kind":"turn/end"}', "turn"),
        (b'{"turn":"\\ud800","reason":"x","kind":"turn/end"}', "reason"),
        (b'{"turn":"t1","reason":"completed","kind":7}', "kind"),
        (b'{"turn":"t1"}', "kind"),
        (b"[]", "no JSON object"),
        (b'{"turn":"\xff","reason":"completed","kind":"turn/end"}', "unicode|UTF-8"),
        (b'{"settings":{"t":NaN},"kind":"request/header"}', "NaN|value"),
        (b'{"a":"\\ud800","t":NaN,"kind":"later"}', "NaN"),
        (b'{"a":"\\ud800' + b"[" * 100_000 + b'","kind":"later"', ""),
        (b'{"a":' + b"[" * 100_000 + b'"\\ud800","kind":"later"}', "deep|recursion"),
    ],
)
def test_damage_is_refused_with_what_is_wrong(data: bytes, wrong: str) -> None:
    with pytest.raises(ValueError, match=f"(?i){wrong}"):
        codec.load(data)


def test_a_flipped_byte_never_raises_anything_but_value_error() -> None:
    written = codec.dump(ToolResult(TURN, "c1", (Text("é\ud800"), Media("image", "a/b", "d", 3))))

    for place in range(len(written)):
        for flip in (0x01, 0x20, 0x80):
            data = written[:place] + bytes([written[place] ^ flip]) + written[place + 1 :]
            with contextlib.suppress(ValueError):
                codec.load(data)


@behaviour("core:unknown-kept")
@pytest.mark.parametrize("said", [True, False, None, "yes"])
def test_a_kind_of_a_newer_version_is_kept_and_its_mark_read(said: object) -> None:
    whole = {"kind": "turn/paused", "turn": "t1", "ignorable": said, "more": [1, {"a": "\ud800"}]}
    data = json.dumps(whole).encode()

    assert codec.load(data) == Unknown("turn/paused", whole, ignorable=said is True)


def test_a_field_that_a_newer_version_added_does_not_stop_an_older_reader() -> None:
    data = b'{"turn":"t1","reason":"completed","cost":3,"kind":"turn/end"}'

    assert codec.load(data) == TurnEnd(TURN, "completed")


def test_the_kind_may_stand_anywhere() -> None:
    data = b' { "kind" : "turn/end", "turn" : "t1", "reason" : "error", "detail" : "x" } '

    assert codec.load(data) == TurnEnd(TURN, "error", "x")


@behaviour("core:upcast")
def test_an_older_spelling_is_raised_step_by_step_when_it_is_read() -> None:
    def reason_was_outcome(found: dict[str, Any]) -> dict[str, Any]:
        return {"reason" if name == "outcome" else name: value for name, value in found.items()}

    def done_is_completed(found: dict[str, Any]) -> dict[str, Any]:
        return {**found, "reason": "completed"} if found.get("reason") == "done" else found

    steps = {"turn/end": (reason_was_outcome, done_is_completed)}
    data = b'{"turn":"t1","outcome":"done","kind":"turn/end"}'

    assert codec.load(data, upcasts=steps) == TurnEnd(TURN, "completed")


def test_an_upcast_may_rename_a_kind() -> None:
    def closed_is_end(found: dict[str, Any]) -> dict[str, Any]:
        return {**found, "kind": "turn/end"}

    data = b'{"turn":"t1","reason":"completed","kind":"turn/closed"}'

    assert codec.load(data, upcasts={"turn/closed": (closed_is_end,)}) == TurnEnd(TURN, "completed")


@behaviour("core:checksum")
def test_the_checksum_changes_with_everything_that_is_stored_of_an_event() -> None:
    whole = codec.checksum(1, "id", 2, b"body")
    others = [
        codec.checksum(2, "id", 2, b"body"),
        codec.checksum(1, "ie", 2, b"body"),
        codec.checksum(1, "id", 3, b"body"),
        codec.checksum(1, "id", 2, b"bodz"),
        codec.checksum(1, "idb", 2, b"ody"),
        codec.checksum(12, "id", 2, b"body"),
        codec.checksum(1, "\ud800", 2, b"body"),
    ]

    assert len(whole) == 8
    assert len({whole, *others}) == len(others) + 1
    assert codec.checksum(1, "id", 2, b"body") == whole


def test_an_exported_line_names_the_place_and_the_body() -> None:
    draft = Draft(EventId("e1"), 1700, TurnEnd(TURN, "completed"))

    assert codec.export(4, draft, SessionId("s1")) == (
        '{"session":"s1","seq":4,"id":"e1","at":1700,'
        '"body":{"turn":"t1","reason":"completed","kind":"turn/end"}}'
    )
