"""What becomes of a history that some provider would refuse."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import Block, Content, Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.providers.anthropic.request import encode
from sidechat_mcp.providers.wire.turns import (
    BEGINNING,
    EMPTY,
    GO_ON,
    NO_RESULT,
    Result,
    Taste,
    Turn,
    same_model,
    turns,
)
from tests.behaviours import behaviour
from tests.providers_wire.histories import NOTES, PDF, PICTURE, REFERENCE, png

TASTE = Taste("anthropic", "claude-m", lambda block, value: bool(value.get("signature")))
HI = Message("user", (Text("Hi"),))


def said(*content: Block) -> Message:
    return Message("assistant", content, model="claude-m")


def result(call: str, *content: Block) -> Message:
    return Message("tool", content, call)


def of(*messages: Message, taste: Taste = TASTE) -> list[tuple[str, Content]]:
    found = turns(Context(RequestHeader(), messages), taste)
    return [(turn.role, turn.parts) for turn in found]  # type: ignore[misc]


def call(id: str, name: str = "read", input: str = "{}") -> ToolUse:
    return ToolUse(id, name, input)


A, B, C = call("a"), call("b"), call("c")
MISSING = (Text(NO_RESULT),)
DONE = (Text("done"),)


@pytest.mark.parametrize(
    ("messages", "results"),
    [
        ((said(A, B, C), result("b", *DONE)), [("a", MISSING), ("b", DONE), ("c", MISSING)]),
        ((said(A), result("a", *DONE), result("a", Text("again"))), [("a", DONE)]),
        ((said(A), HI, result("a", *DONE)), [("a", DONE)]),
        ((result("a", *DONE), said(A)), [("a", MISSING)]),
        ((result("x", *DONE), said(A), result("a")), [("a", (Text(EMPTY),))]),
    ],
    ids=["one of three", "twice", "late", "before its call", "without a call"],
)
@behaviour("wire:repaired")
def test_every_call_has_one_result_right_behind_it(
    messages: Sequence[Message], results: list[tuple[str, Content]]
) -> None:
    found = turns(Context(RequestHeader(), (HI, *messages)), TASTE)
    at = next(n for n, turn in enumerate(found) if turn.role == "assistant")
    given = [(r.call, r.content) for r in found[at + 1].parts if isinstance(r, Result)]
    assert given == results
    assert all(not isinstance(r, Result) for turn in found[at + 2 :] for r in turn.parts)


def test_the_same_id_used_again_gets_its_own_results() -> None:
    one, two = (Text("one"),), (Text("two"),)
    found = turns(
        Context(RequestHeader(), (HI, said(A), result("a", *one), said(A), result("a", *two))),
        TASTE,
    )
    results = [part for turn in found for part in turn.parts if isinstance(part, Result)]
    assert results == [Result("a", one), Result("a_2", two)]


def test_ids_and_names_that_some_provider_refuses_are_replaced_alike_each_time() -> None:
    odd = call("functions.read:0", "mcp.files/read file")
    found = turns(Context(RequestHeader(), (HI, said(odd), result("functions.read:0"))), TASTE)
    (made,), (answer,) = found[1].parts, found[2].parts
    assert isinstance(made, ToolUse)
    assert isinstance(answer, Result)
    assert (made.name, made.id) == ("mcp_files_read_file", answer.call)
    assert made.id.startswith("call_")


@behaviour("wire:begins-and-ends")
def test_a_request_begins_and_ends_with_a_user_who_says_something() -> None:
    assert of(said(Text("So."))) == [
        ("user", (Text(BEGINNING),)),
        ("assistant", (Text("So."),)),
        ("user", (Text(GO_ON),)),
    ]
    assert of() == [("user", (Text(GO_ON),))]
    assert of(Message("user", (Text(" \n"),))) == [("user", (Text(EMPTY),))]
    assert of(HI, Message("context", (Text(""),))) == [("user", (Text("Hi"),))]


def test_empty_blocks_and_empty_answers_are_left_out() -> None:
    assert of(HI, said(Text(""), Text("  ")), HI) == [("user", (Text("Hi"),))] * 2
    assert of(HI, said(Text(" "), Text("x ")), HI)[1] == ("assistant", (Text("x "),))


def thought(text: str = "mm", wire: str = "anthropic", **fields: str) -> Thinking:
    kept = json.dumps({"type": "thinking", "thinking": text, **fields})
    return Thinking(text, wire, kept)


SIGNED = thought(signature="c2ln")


@pytest.mark.parametrize(
    ("block", "model", "kept"),
    [
        (SIGNED, "claude-m", True),
        (SIGNED, "claude-m-20260101", True),
        (SIGNED, "claude-m-2", False),
        (SIGNED, None, False),
        (thought(signature=""), "claude-m", False),
        (thought("", signature="c2ln"), "claude-m", False),
        (thought(wire="openai", signature="c2ln"), "claude-m", False),
        (Thinking("mm", "anthropic", "{cut"), "claude-m", False),
        (Thinking("mm", "anthropic"), "claude-m", False),
        (Thinking("", "anthropic", '{"type":"redacted_thinking","data":"eA=="}'), "claude-m", True),
        (Thinking("", "anthropic", '{"type":"redacted_thinking"}'), "claude-m", False),
    ],
)
@pytest.mark.parametrize("before", [Text("So."), call("a")])
@behaviour("wire:reasoning")
def test_reasoning_goes_back_whole_to_who_wrote_it_or_not_at_all(
    block: Thinking, model: str | None, kept: bool, before: Block
) -> None:
    messages = [HI, Message("assistant", (block, before), model=model), HI]
    body = encode(Context(RequestHeader(model="claude-m"), messages), "claude-m").body
    found = json.loads(body)["messages"][1]["content"]
    assert [b["type"] for b in found if "thinking" in b["type"]] == (
        [json.loads(block.verbatim or "")["type"]] if kept else []
    )
    assert not kept or (block.verbatim or "").encode() in body, "byte for byte"


def test_reasoning_that_led_to_nothing_is_not_sent() -> None:
    assert of(HI, said(SIGNED), HI) == [("user", (Text("Hi"),))] * 2
    assert of(HI, said(Text("So."), SIGNED), HI)[1] == ("assistant", (Text("So."),))
    assert of(HI, said(SIGNED, Text("So.")), HI)[1] == ("assistant", (SIGNED, Text("So.")))


@pytest.mark.parametrize(
    ("wrote", "model", "same"),
    [
        ("claude-sonnet-4", "claude-sonnet-4", True),
        ("claude-sonnet-4-20250514", "claude-sonnet-4", True),
        ("claude-sonnet-4", "claude-sonnet-4-20250514", True),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4", True),
        ("anthropic/claude-sonnet-4@20250514", "claude-sonnet-4", True),
        ("gpt-5.6-2026-08-01", "gpt-5.6", True),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4", False),
        ("gpt-5.6-mini", "gpt-5.6", False),
        ("my-claude-sonnet-4", "claude-sonnet-4", False),
        (None, "claude-sonnet-4", False),
    ],
)
def test_a_model_is_known_by_its_dated_and_hosted_names(
    wrote: str | None, model: str, same: bool
) -> None:
    assert same_model(wrote, model) is same


@behaviour("wire:media")
def test_images_and_documents_are_sent_or_said_in_words() -> None:
    (_, parts), *_ = of(Message("user", (PICTURE, REFERENCE, PDF, NOTES)))
    assert parts == (
        PICTURE,
        Text(
            "[image: image/png, 2048 bytes, sha256 cdcdcdcdcdcdcdcd;"
            " only a reference to it is kept]"
        ),
        PDF,
        Text("[document]\nfrüh"),
    )


def image(width: int, height: int = 10, extra: int = 0) -> Media:
    return Media("image", "image/png", "ab" * 32, 1, png(width, height, extra))


def sent(*images: Media) -> list[bool]:
    (_, parts), *_ = of(Message("user", images))
    return [isinstance(part, Media) for part in parts]


@behaviour("wire:media")
def test_an_image_over_a_bound_becomes_words_and_the_others_stay() -> None:
    assert sent(image(2162), image(9000), image(10, 10, 20 << 20), image(10)) == [
        True,
        False,
        False,
        True,
    ]
    assert sent(Media("image", "image/png", "", 1, "AAAA"), image(0)) == [False, False]
    assert sent(*[image(10)] * 120) == [True] * 100 + [False] * 20
    assert sent(*[image(10)] * 30, image(2162)) == [True] * 30 + [False], "a large one in a crowd"
    assert sent(image(2162), *[image(10)] * 30) == [True] * 20 + [False] * 11


def test_what_was_sent_of_a_history_does_not_change_as_it_grows() -> None:
    pictures = [image(10, 10, 1 << 20) for _ in range(40)]
    before: list[Turn] = []
    for n in range(1, 41):
        messages = [Message("user", (picture,)) for picture in pictures[:n]]
        found = list(turns(Context(RequestHeader(), messages), TASTE))
        assert found[: n - 1] == before
        before = found


def test_blocks_without_a_word_here_go_back_where_they_came_from_only() -> None:
    own, other = Verbatim("anthropic", '{"type":"odd"}'), Verbatim("openai", '{"type":"odd"}')
    words = Text("[odd: not sent, this provider has no such thing]")
    assert of(Message("user", (own, other)))[0] == ("user", (own, words))
