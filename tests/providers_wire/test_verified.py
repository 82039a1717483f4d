"""`replay --verify` makes the bytes that went over a wire again, and says where it could not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.ports.provider import Provider
from sidechat_mcp.providers.anthropic import wire as anthropic
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.providers.wire.pieces import Request
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.memory import MemoryStore
from tests.behaviours import behaviour
from tests.feature.workshop import workshop
from tests.providers_wire.loopback import loopback, stream
from tests.providers_wire.test_recorded import Bench, parent
from tests.providers_wire.wires import SPOKEN, Spoken

EACH = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
ME = Caller()
Change = Callable[[Request], Request]


def respelled(spoken: Spoken, change: Change, form: str | None = None) -> Wired:
    """The same agent, whose requests are spelled another way; under the same form unless given."""
    provider = spoken.at("http://127.0.0.1:1")

    def encode(context: Context) -> Request:
        return change(spoken.wire.encode(context))

    provider.speech = replace(provider.speech, encode=encode, form=form or provider.speech.form)
    return provider


async def told(store: MemoryStore, provider: Provider) -> list[tuple[str, str | None]]:
    sidechat = workshop(store, agents={"speaker": provider})
    return [(one.verdict, one.wire) for one in await sidechat.replay(ME)]


async def forked(store: MemoryStore, spoken: Spoken) -> None:
    async with loopback(stream(*spoken.long), stream(*spoken.plain)) as server:
        sidechat = workshop(store, agents={"speaker": spoken.at(server.url)}, tools=Bench())
        native = await parent(sidechat)
        await sidechat.fork(ME, parent=native, question="Why?")


CHANGES: Mapping[str, tuple[Change, str]] = {
    "a byte of the head": (
        lambda made: replace(made, head=made.head.replace(b"true", b"false", 1)),
        "head and body",
    ),
    "a byte of what is inherited": (
        lambda made: replace(
            made,
            pieces=[replace(made.pieces[0], body=b"x" + made.pieces[0].body), *made.pieces[1:]],
        ),
        "body",
    ),
    "a byte behind the conversation": (lambda made: replace(made, tail=made.tail + b" "), "body"),
}


@EACH
@pytest.mark.parametrize("what", CHANGES)
@behaviour("replay:wire")
async def test_bytes_that_differ_on_the_wire_alone_fail_the_verification(
    spoken: Spoken, what: str
) -> None:
    store = MemoryStore()
    await forked(store, spoken)
    assert await told(store, spoken.at("http://127.0.0.1:1")) == [("verified", "verified")] * 2
    change, named = CHANGES[what]
    sidechat = workshop(store, agents={"speaker": respelled(spoken, change)})
    child, native = await sidechat.replay(ME)
    assert (child.verdict, native.verdict) == ("failed", "failed")
    assert f"the rebuilt {named} on the wire differ from what was sent." in native.why
    assert child.seq is not None


@EACH
@behaviour("replay:wire")
async def test_breakpoints_are_part_of_what_is_compared(spoken: Spoken) -> None:
    store = MemoryStore()
    await forked(store, spoken)
    bare = respelled(spoken, lambda made: replace(made, marked=()))
    marks = spoken.name == "anthropic"
    expected = ("failed", None) if marks else ("verified", "verified")
    assert await told(store, bare) == [expected] * 2


async def nobody(sidechat: Sidechat) -> Any:
    def gone(agent: str) -> Provider:
        raise InvalidRequest("m.gguf is no GGUF file.", then="Give another.")

    sidechat.parts.agents.provider = gone
    sidechat = Sidechat(sidechat.parts)
    return await sidechat.replay(ME)


@EACH
@behaviour("replay:wire-not-checked")
async def test_where_an_agent_is_not_there_any_more_the_wire_is_not_called_verified(
    spoken: Spoken,
) -> None:
    store = MemoryStore()
    await forked(store, spoken)
    found = await nobody(workshop(store, agents={"speaker": spoken.at("http://127.0.0.1:1")}))
    assert [(one.verdict, one.wire, one.why) for one in found] == [
        ("verified", "not checked", "m.gguf is no GGUF file.")
    ] * 2


@behaviour("replay:wire-not-checked")
async def test_where_the_settings_make_other_bytes_the_wire_is_not_called_failed() -> None:
    store, spoken = MemoryStore(), SPOKEN[0]
    await forked(store, spoken)
    elsewhere = replace(spoken, make=partial(anthropic.wire, compared=False))
    assert (
        await told(store, elsewhere.at("http://127.0.0.1:1")) == [("verified", "not checked")] * 2
    )
    newer = respelled(spoken, lambda made: replace(made, tail=made.tail + b" "), "2")
    assert await told(store, newer) == [("verified", "not checked")] * 2


async def test_what_went_over_no_wire_says_nothing_of_one() -> None:
    sidechat = workshop()
    await sidechat.fork(ME, parent="shelf:r1", question="Why?")
    assert {(one.verdict, one.wire) for one in await sidechat.replay(ME)} == {("verified", None)}
