"""What comes in: every way a stream can be cut, end, or be refused, in all three formats."""

from __future__ import annotations

import contextlib
import json

import pytest

from sidechat_mcp.core.content import Text, Thinking, ToolUse
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.errors import AnswerCut, Overloaded, ProviderError, RateLimited
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.provider import Delta, Done, Spent, Whole
from sidechat_mcp.providers.wire.sse import Decoder
from tests.behaviours import behaviour
from tests.providers_wire import streams
from tests.providers_wire.wires import SPOKEN, Spoken, fold

pytestmark = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
each = pytest.mark.parametrize


def anthropic(spoken: Spoken) -> bool:
    return spoken.name == "anthropic"


@behaviour("wire:whole-answer")
def test_a_whole_stream_gives_every_block_byte_for_byte(spoken: Spoken) -> None:
    chunks, reply, heard = fold(spoken.answer(), spoken.long)
    blocks, spent, model = streams.whole(spoken.name)
    assert reply.content == blocks
    assert [chunk for chunk in chunks if isinstance(chunk, Spent)][-1] == spent
    assert chunks[-1] == Done("tool_use", model)
    assert heard == streams.WORDS


@behaviour("wire:cut-at-event")
def test_a_stream_cut_at_any_event_is_never_done(spoken: Spoken) -> None:
    for kept in range(len(spoken.long)):
        chunks, reply, heard = fold(spoken.answer(), spoken.long[:kept])
        assert not any(isinstance(chunk, Done) for chunk in chunks), kept
        assert reply.calls == ()
        assert reply.text == heard, "the half answer is kept as what was heard of it"
        assert streams.WORDS.startswith(heard)
        assert reply.ending()[0] == "error"


@behaviour("wire:cut-at-byte")
def test_a_stream_cut_at_any_byte_is_never_done(spoken: Spoken) -> None:
    raw = b"".join(spoken.long)
    answer, decoder, reply, heard = spoken.answer(), Decoder(), Reply(TurnId("t")), ""
    for place in range(len(raw)):
        # What has been taken in so far is the stream cut here.
        assert (answer.ended, reply.done, reply.calls, reply.text) == (False, None, (), heard)
        for event in decoder.feed(raw[place : place + 1]):
            heard += "".join(map(reply.fold, answer.take(event)))
    assert (answer.ended, len(reply.calls)) == (True, 2)


def test_pieces_of_any_size_give_the_same_chunks(spoken: Spoken) -> None:
    raw = b"".join(spoken.long)
    expected = fold(spoken.answer(), [raw])[0]
    for size in (1, 2, 3, 7, 64, 1000):
        pieces = (raw[n : n + size] for n in range(0, len(raw), size))
        assert fold(spoken.answer(), pieces)[0] == expected


@behaviour("wire:refused")
def test_a_refusal_says_so_and_leaves_nothing_to_be_sent_again(spoken: Spoken) -> None:
    chunks, reply, _ = fold(spoken.answer(), spoken.refused)
    done = chunks[-1]
    assert isinstance(done, Done)
    assert done.stop == "refusal"
    assert (done.detail or "").startswith("The model refused to answer (")
    assert reply.content == ()
    assert reply.ending() == ("blocked", done.detail)


def test_an_error_inside_the_stream_is_raised_by_its_name(spoken: Spoken) -> None:
    with pytest.raises(Overloaded) as raised:
        fold(spoken.answer(), spoken.overloaded)
    assert raised.value.retryable


def test_what_comes_after_the_end_counts_for_nothing(spoken: Spoken) -> None:
    expected = fold(spoken.answer(), spoken.long)[0]
    assert fold(spoken.answer(), [*spoken.long, *spoken.overloaded])[0] == expected


def test_what_is_no_json_is_passed_over(spoken: Spoken) -> None:
    noise = [b"data: {not json\n\n", b": comment\n\n", b"data: [1]\n\n", b"event: x\n\n"]
    expected = fold(spoken.answer(), spoken.plain)[0]
    assert fold(spoken.answer(), [*noise, *spoken.plain])[0] == expected


def cut_by_limit(spoken: Spoken, *, words: bool, call: bool) -> list[bytes]:
    """An answer that ends at its token limit, with or without text and a call before."""
    if anthropic(spoken):
        text = streams.ANTHROPIC[7:11] if words else []
        calls = streams.ANTHROPIC[11:16] if call else []
        stop = streams.named(
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}},
            {"type": "message_stop"},
        )
        return [streams.ANTHROPIC[0], *text, *calls, *stop]
    if spoken.name == "openai":
        text = streams.RESPONSES[3:7] if words else []
        calls = streams.RESPONSES[7:10] if call else []
        why = {"incomplete_details": {"reason": "max_output_tokens"}}
        return [
            streams.RESPONSES[0],
            *text,
            *calls,
            *streams.named(streams.ended("incomplete", **why)),
        ]
    text = streams.CHAT[3:5] if words else []
    calls = streams.CHAT[5:7] if call else []
    return [*text, *calls, *streams.unnamed(streams.chunk(finish="length"), "[DONE]")]


@behaviour("wire:limit")
def test_a_call_of_an_answer_cut_by_its_limit_is_not_carried_out(spoken: Spoken) -> None:
    chunks, reply, _ = fold(spoken.answer(), cut_by_limit(spoken, words=True, call=True))
    assert reply.content == (Text(streams.WORDS),)
    assert isinstance(done := chunks[-1], Done)
    assert (done.stop, "inside a tool call" in (done.detail or "")) == ("max_tokens", True)
    assert reply.ending()[0] == "max_tokens"


@behaviour("wire:empty")
def test_a_limit_spent_before_any_text_is_an_error_with_advice(spoken: Spoken) -> None:
    _, reply, _ = fold(spoken.answer(), cut_by_limit(spoken, words=False, call=False))
    assert reply.ending() == (
        "error",
        "The answer's token limit was spent before any text: raise max_tokens, or ask for less.",
    )


def saying(spoken: Spoken, text: str | None) -> list[bytes]:
    """A finished answer of just this text, or of no content at all."""
    if anthropic(spoken):
        blocks = (
            []
            if text is None
            else [
                {
                    "type": "content_block_start",
                    "index": 0,
                    "content_block": {"type": "text", "text": ""},
                },
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": text},
                },
                {"type": "content_block_stop", "index": 0},
            ]
        )
        return [streams.ANTHROPIC[0], *streams.named(*blocks), *streams.ANTHROPIC_PLAIN[-2:]]
    if spoken.name == "openai":
        output = (
            []
            if text is None
            else [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": text}],
                }
            ]
        )
        return streams.named(streams.ended("completed", output=output))
    delta = {} if text is None else {"content": text}
    return streams.unnamed(streams.chunk(delta), streams.chunk(finish="stop"), "[DONE]")


@behaviour("wire:empty")
@each("text", [None, "", " \n\t"])
def test_an_empty_answer_is_told_and_nothing_of_it_is_kept(
    spoken: Spoken, text: str | None
) -> None:
    chunks, reply, _ = fold(spoken.answer(), saying(spoken, text))
    assert isinstance(done := chunks[-1], Done)
    assert done.stop == "empty"
    assert reply.content == ()
    assert reply.ending() == ("error", "The model gave an empty answer; ask it again.")


def test_an_answer_said_only_at_the_end_is_whole(spoken: Spoken) -> None:
    _, reply, heard = fold(spoken.answer(), saying(spoken, "Yes."))
    assert (reply.content, heard, reply.ending()[0]) == ((Text("Yes."),), "Yes.", "completed")


def without_end(spoken: Spoken) -> list[bytes]:
    """The terminal event without the reason that belongs to it."""
    if anthropic(spoken):
        return [*streams.ANTHROPIC_PLAIN[:-2], streams.ANTHROPIC_PLAIN[-1]]
    return [spoken.plain[0], spoken.plain[-1]]


def test_an_end_without_a_reason_is_a_cut_answer(spoken: Spoken) -> None:
    if spoken.name == "openai":
        failed = streams.named(streams.ended("failed", error={"code": "rate_limit_exceeded"}))
        with pytest.raises(RateLimited):
            fold(spoken.answer(), failed)
        return
    with pytest.raises(AnswerCut):
        fold(spoken.answer(), without_end(spoken))


def test_no_event_whatever_is_in_it_breaks_the_reader(spoken: Spoken) -> None:
    strange = [None, 1, "x", [], {}, [1], {"type": 1}]
    for event in map(json.loads, (e.split(b"data: ")[1] for e in spoken.long if b"DONE" not in e)):
        for name in event:
            for value in strange:
                answer = spoken.answer()
                changed = {**event, name: value}
                with contextlib.suppress(ProviderError):
                    fold(answer, [b"data: %b\n\n" % json.dumps(changed).encode(), *spoken.long])


def test_the_answer_says_when_it_has_begun(spoken: Spoken) -> None:
    answer = spoken.answer()
    assert not answer.begun
    fold(answer, spoken.long)
    assert (answer.begun, answer.ended) == (True, True)


def test_blocks_come_after_all_that_is_heard(spoken: Spoken) -> None:
    chunks, _, _ = fold(spoken.answer(), spoken.long)
    kinds = [type(chunk) for chunk in chunks]
    assert kinds.index(Whole) > max(n for n, kind in enumerate(kinds) if kind is Delta)
    blocks = [type(chunk.block) for chunk in chunks if isinstance(chunk, Whole)]
    assert blocks == [Thinking, Text, ToolUse, ToolUse]
