"""What goes out: a child's body begins with its parent's last one, in all three formats."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import Text, ToolUse
from sidechat_mcp.core.events import Part, RequestHeader
from sidechat_mcp.providers.anthropic.request import encode as anthropic
from sidechat_mcp.providers.openai_chat.request import encode as openai_chat
from sidechat_mcp.providers.openai_responses.request import encode as openai
from sidechat_mcp.providers.wire.pieces import Request, joined
from tests.behaviours import behaviour
from tests.providers_wire.histories import MODELS, Log, child, last_request, parents
from tests.providers_wire.validators import check

ENCODE = {"anthropic": anthropic, "openai": openai, "openai-chat": openai_chat}
WIRES = pytest.mark.parametrize("wire", ENCODE)
some = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def encoded(wire: str, context: Context) -> Request:
    return ENCODE[wire](context, MODELS[wire])


def conversation(request: Request) -> bytes:
    """Head and conversation up to its end, the last container left open."""
    return request.head + joined(request.pieces, closed=False)


@WIRES
@some
@given(data=st.data())
@behaviour("wire:prefix")
def test_a_childs_body_begins_with_its_parents_last_body(wire: str, data: st.DataObject) -> None:
    log: Log = data.draw(parents(wire))
    parent = encoded(wire, last_request(log))
    first = encoded(wire, child(log, "What was decided?"))
    assert first.head == parent.head, "system prompt, tools, model and settings"
    assert first.unmarked.startswith(conversation(parent))
    # The framing stands behind all that is inherited, the question behind the framing.
    inherited = first.head + first.prefix
    assert inherited.startswith(conversation(parent))
    assert b"read-only advisor" not in inherited
    assert first.unmarked[len(inherited) :].count(b"read-only advisor") == 1


@WIRES
@some
@given(data=st.data())
@behaviour("wire:marks")
def test_bodies_differ_from_their_unmarked_form_in_the_listed_marks_alone(
    wire: str, data: st.DataObject
) -> None:
    log: Log = data.draw(parents(wire))
    for context in (last_request(log), child(log, "Why?"), child(log, "Why?", "And then?")):
        request = encoded(wire, context)
        assert (request.mark == b"") == (wire == "openai-chat"), "its model takes none"
        if request.mark:
            mark = b"," + request.mark
            assert request.body.replace(mark, b"") == request.unmarked.replace(mark, b"")
            extra = request.body.count(mark) - request.head.count(mark)
            assert extra == len(request.marked) > 0
            assert request.body.count(mark) <= 4
        assert json.loads(request.body) is not None


@WIRES
@some
@given(data=st.data())
def test_later_requests_of_a_child_begin_with_the_earlier_ones(
    wire: str, data: st.DataObject
) -> None:
    log: Log = data.draw(parents(wire))
    said = ["One?", "Two?", "Three?"]
    requests = [encoded(wire, child(log, *said[: n + 1])) for n in range(3)]
    for earlier, later in pairwise(requests):
        assert later.unmarked.startswith(conversation(earlier))
        told = [request.digests(wire, "1") for request in (earlier, later)]
        assert [told[0][part] == told[1][part] for part in ("head", "prefix", "body")] == [
            True,
            True,
            False,
        ]


@WIRES
@some
@given(data=st.data())
@behaviour("wire:valid")
def test_every_request_is_one_that_a_strict_validator_takes(wire: str, data: st.DataObject) -> None:
    log: Log = data.draw(parents(wire))
    for context in (last_request(log), child(log, "Why?")):
        check(wire, json.loads(encoded(wire, context).body))


BLOCKS = st.builds(Text, st.text(max_size=4)) | st.builds(
    ToolUse, st.sampled_from("abc"), st.sampled_from(["read", ""]), st.sampled_from(["{}", "{"])
)
MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["user", "context", "assistant", "tool"]),
        st.lists(BLOCKS, max_size=4).map(tuple),
        st.sampled_from(["a", "b", "c", None]),
        st.booleans(),
    ),
    max_size=10,
)


@WIRES
@some
@given(messages=MESSAGES)
@behaviour("wire:repaired")
def test_whatever_is_broken_in_a_history_its_request_is_valid(
    wire: str, messages: list[Message]
) -> None:
    request = encoded(wire, Context(RequestHeader(model=MODELS[wire]), messages))
    check(wire, json.loads(request.body))
    assert encoded(wire, Context(RequestHeader(model=MODELS[wire]), messages)).body == request.body


@WIRES
def test_a_parents_settings_go_out_as_they_are_and_never_reach_the_conversation(wire: str) -> None:
    given: dict[str, Any] = {"zeta": {"b": 1, "a": [2.50, None]}, "alpha": "é"}
    given |= {"messages": "no", "input": "no"}
    header = RequestHeader(Part("Be brief."), Part("[]"), "model-x", given)
    body = encoded(wire, Context(header, [Message("user", (Text("Hi"),))])).body
    found = cast("dict[str, Any]", json.loads(body))
    assert (found["model"], found["alpha"], found["stream"]) == ("model-x", "é", True)
    assert b'"zeta":{"b":1,"a":[2.5,null]}' in body
    assert found.get("input", found.get("messages")) != "no"


# Whoever changes these bytes raises the wire's FORM, so that what was sent before is not called
# wrong by `replay --verify`.
GOLDEN = {
    "anthropic": (
        b'{"model":"claude-m","max_tokens":8192,"stream":true,"system":[{"type":"text",'
        b'"text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":'
        b'[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}],'
        b'"diagnostics":{"previous_message_id":"r1"}}'
    ),
    "openai": (
        b'{"model":"gpt-5.6","include":["reasoning.encrypted_content"],'
        b'"prompt_cache_key":"sidechat-55bfbc5e9dd3c26709eb7b9c33346830","store":false,'
        b'"stream":true,"instructions":"S","input":[{"type":"message","role":"user","content":'
        b'[{"type":"input_text","text":"Hi","prompt_cache_breakpoint":{"mode":"explicit"}}]}],'
        b'"prompt_cache_options":{"comparison_response_id":"r1"}}'
    ),
    "openai-chat": (
        b'{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":['
        b'{"role":"system","content":"S"},{"role":"user","content":"Hi"}]}'
    ),
}


@WIRES
def test_the_smallest_request_of_each_wire(wire: str) -> None:
    context = Context(
        RequestHeader(Part("S")), [Message("user", (Text("Hi"),))], last_response="r1"
    )
    assert encoded(wire, context).body == GOLDEN[wire]


KEYED = [(openai, "gpt-m"), (openai, "gpt-5.6"), (openai_chat, "openai/gpt-5.6")]


@pytest.mark.parametrize(("encode", "model"), KEYED)
@given(data=st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@behaviour("wire:cache-root")
def test_all_that_is_forked_from_a_conversation_has_its_cache_key(
    encode: Any, model: str, data: st.DataObject
) -> None:
    def key(context: Context) -> Any:
        return json.loads(encode(context, model).body).get("prompt_cache_key")

    log: Log = data.draw(parents("openai"))
    log.bodies[0] = RequestHeader(Part("S"), Part("[]"), model)
    parent = last_request(log)
    assert key(parent) == key(child(log, "Why?")) == key(child(log, "Why?", "And?"))
    assert len(key(parent)) <= 64
    named = RequestHeader(Part("S"), Part("[]"), model, {"prompt_cache_key": "own"})
    assert key(Context(named, parent.messages)) == "own"
    other = Context(RequestHeader(Part("T"), Part("[]"), model), parent.messages)
    elsewhere = Context(parent.header, [Message("user", (Text("Else?"),)), *parent.messages])
    assert len({key(one) for one in (parent, other, elsewhere)}) == 3


def test_who_may_not_know_the_name_is_sent_no_cache_key() -> None:
    for model in ("m", "anthropic/claude-m", "gpt-5.4"):
        context = Context(RequestHeader(), [Message("user", (Text("Hi"),))])
        assert b"prompt_cache_key" not in openai_chat(context, model).body


OWN = '{"type":"text","text":"%s",  "cache_control":{"type":"ephemeral","ttl":"1h"}}'


@pytest.mark.parametrize("own", [1, 2, 3, 4])
@behaviour("wire:own-marks")
def test_a_parents_own_breakpoints_stay_and_ours_are_within_the_four(own: int) -> None:
    system = "[" + ", ".join(OWN % n for n in range(own)) + "]"
    messages = [Message("user", (Text("Hi"),)), Message("assistant", (Text("So."),))]
    context = Context(RequestHeader(Part(system)), [*messages, *messages[:1]], 2)
    request = anthropic(context, "claude-m")
    assert b'"system":' + system.encode() in request.body, "byte for byte"
    assert request.body.count(b'"cache_control"') == 4
    assert request.marked == {1: (0, 1, 2), 2: (1, 2), 3: (2,), 4: ()}[own]


@pytest.mark.parametrize(
    ("wire", "tools", "same"),
    [
        ("anthropic", '[{"name":"a",  "input_schema":{}}]', True),
        ("anthropic", '[{"name":"a","inputSchema":{}}]', False),
        ("openai", '[{"type":"function","name":"a",  "parameters":{}}]', True),
        ("openai", '[{"name":"a","description":"d","input_schema":{"type":"object"}}]', False),
        ("openai-chat", '[{"type":"function",  "function":{"name":"a"}}]', True),
        ("openai-chat", '[{"name":"a","description":"d","input_schema":{"type":"object"}}]', False),
    ],
)
def test_tool_schemas_in_the_wires_own_form_go_out_byte_for_byte(
    wire: str, tools: str, same: bool
) -> None:
    context = Context(RequestHeader(tools=Part(tools)), [Message("user", (Text("Hi"),))])
    body = encoded(wire, context).body
    assert (b'"tools":' + tools.encode() in body) is same
    (tool,) = json.loads(body)["tools"]
    assert (tool.get("name") or tool["function"]["name"]) == "a"
    assert "inputSchema" not in tool


def test_calls_of_unknown_tools_stand_beside_schemas_that_cannot_be_called() -> None:
    call = Message("assistant", (ToolUse("c", "grep", "{}"),))
    context = Context(RequestHeader(settings={"tool_choice": {"type": "auto"}}), [call])
    body = json.loads(anthropic(context, "claude-m").body)
    assert body["tools"] == [{"name": "grep", "input_schema": {"type": "object"}}]
    assert body["tool_choice"] == {"type": "none"}
