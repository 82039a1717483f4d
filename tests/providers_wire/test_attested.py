"""A child's first request names its parent's last response; what its provider found when it
compared the two is kept and shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from sidechat_mcp.core.events import Draft, Usage
from sidechat_mcp.core.ids import EventId, TurnId
from sidechat_mcp.sidechat.reports import Caller
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, shelved, workshop
from tests.providers_wire import streams
from tests.providers_wire.loopback import loopback, stream
from tests.providers_wire.wires import SPOKEN

ME = Caller()
ANTHROPIC = SPOKEN[0]
OPENAI = replace(SPOKEN[1], model="gpt-5.6")


def anthropic(said: Mapping[str, Any]) -> list[bytes]:
    start = json.loads(streams.ANTHROPIC_PLAIN[0].split(b"data: ")[1])
    start["message"] |= {"diagnostics": said.get("miss")}
    return [*streams.named(start), *streams.ANTHROPIC_PLAIN[1:]]


def openai(said: Mapping[str, Any]) -> list[bytes]:
    ended = streams.ended("completed", prompt_cache_diagnostics=said)
    return [*streams.RESPONSES_PLAIN[:-1], *streams.named(ended)]


MISS = {"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 9}}
SAME = (
    "The provider compared that request with the response before it: it begins as the one before."
)
OTHER = (
    "The provider compared that request with the response before it: not the same (tools_changed)."
)


@pytest.mark.parametrize(
    ("spoken", "answer", "said", "shown"),
    [
        (ANTHROPIC, anthropic, {}, SAME),
        (ANTHROPIC, anthropic, {"miss": MISS}, OTHER),
        (ANTHROPIC, anthropic, {"miss": {"cache_miss_reason": None}}, ""),
        (OPENAI, openai, {"type": "cache_hit"}, SAME),
        (OPENAI, openai, {"type": "cache_miss", "reason": "tools_changed"}, OTHER),
        (OPENAI, openai, {}, ""),
    ],
)
@behaviour("wire:attested")
async def test_what_the_provider_says_of_the_prefix_is_kept_and_shown(
    spoken: Any, answer: Callable[[Any], list[bytes]], said: Mapping[str, Any], shown: str
) -> None:
    async with loopback(stream(*spoken.long), stream(*spoken.plain)) as server:
        sidechat = workshop(agents={"speaker": spoken.at(server.url)})
        native = await sidechat.native(ME)
        server.script[:] = [stream(*spoken.plain)]
        await sidechat.converse(ME, "Hi?", session=native.id)
        server.script[:] = [stream(*answer(said))]
        report = await sidechat.fork(ME, parent=native.id, question="And?")
        page = await sidechat.markdown(ME, report.session)
    child = json.loads(server.asked[-1].body)
    last = {"anthropic": "msg_1", "openai": "resp_1"}[spoken.name]
    named = child.get("diagnostics") or child["prompt_cache_options"]
    assert list(named.values()) == [last]
    assert ("The provider compared" in page) is bool(shown)
    assert shown in page


@behaviour("wire:attested")
async def test_a_response_of_another_provider_is_not_named_to_this_one() -> None:
    told = shelved(("Q?", "A."))
    spent = Draft(EventId("r1:u"), 0, Usage(TurnId("t1"), 9, 1, ids={"response": "resp_theirs"}))
    shelf = Shelf({"r1": replace(told, drafts=[*told.drafts[:-1], spent, told.drafts[-1]])})
    async with loopback(stream(*ANTHROPIC.plain)) as server:
        sidechat = workshop(agents={"speaker": ANTHROPIC.at(server.url)}, shelf=shelf)
        await sidechat.fork(ME, parent="shelf:r1", question="And?")
    assert b"resp_theirs" not in server.asked[0].body
    assert b'"diagnostics":{"previous_message_id":null}' in server.asked[0].body
