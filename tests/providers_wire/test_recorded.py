"""The whole way, recorded on the wire: a native parent with tools, reasoning, parallel calls and
an image, its child, and what each of them sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from sidechat_mcp.core.content import Content, Thinking, text
from sidechat_mcp.core.events import Header
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import NothingToFork
from sidechat_mcp.ports.tool import Outcome, Tool
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from tests.behaviours import behaviour
from tests.feature.workshop import workshop
from tests.providers_wire import streams
from tests.providers_wire.histories import PICTURE
from tests.providers_wire.loopback import Loopback, Say, complaint, loopback, stream
from tests.providers_wire.wires import KEY, SPOKEN, Spoken

EACH = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
ME = Caller()


@dataclass(frozen=True)
class Answers:
    """A tool that always says the same."""

    name: str
    says: Content
    description: str = "Reads — “all of it”."
    read_only: bool = True

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"type": "object", "properties": {"path": {"type": "string"}}, "required": []}

    async def run(self, input: str, session: Header) -> Outcome:
        return Outcome(self.says)


class Bench:
    """The tools of a server, as a parent's header lists them."""

    tools = (Answers("read", (*text("Lines."), PICTURE)), Answers("list", ()))

    async def find(self, name: str, session: Header) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    async def offered(self) -> Sequence[Tool]:
        return self.tools


async def parent(sidechat: Sidechat) -> SessionId:
    """A native parent of two turns, the first with two calls."""
    made = await sidechat.native(ME, system="Be careful — “always”.", tools=True)
    await sidechat.converse(ME, "Look at both.", session=made.id)
    await sidechat.converse(ME, "And then?", session=made.id)
    return made.id


MARKS = (
    b',"cache_control":{"type":"ephemeral"}',
    b',"prompt_cache_breakpoint":{"mode":"explicit"}',
)


def unmarked(server: Loopback) -> list[bytes]:
    """The recorded bodies without their breakpoints."""
    found: list[bytes] = []
    for asked in server.asked:
        body = asked.body
        for mark in MARKS:
            body = body.replace(mark, b"")
        found.append(body)
    return found


def common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    differs = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differs, min(len(one), len(other)))


@EACH
@behaviour("wire:recorded")
async def test_a_childs_first_request_continues_its_parents_last_one(spoken: Spoken) -> None:
    async with loopback(stream(*spoken.long), stream(*spoken.plain)) as server:
        sidechat = workshop(agents={"speaker": spoken.at(server.url)}, tools=Bench())
        native = await parent(sidechat)
        report = await sidechat.fork(ME, parent=native, question="Why that one?")
        await sidechat.converse(ME, "And else?", session=report.session)
        assert [row.verdict for row in await sidechat.replay(ME)] == ["verified"] * 2
    assert report.head == "identical"
    first, _, last, child, later = unmarked(server)
    for before, after in ((last, child), (child, later)):
        rest = before[common(before, after) :]
        # All that is left of it closes what it opened, and names the response before it.
        assert re.fullmatch(rb'\](,"diagnostics":\{"previous_message_id":"msg_1"\})?\}', rest), rest
    assert first.startswith(last[: last.index(b"Look at both")])
    places = [child.index(words) for words in (b"Yes.", b"read-only advisor", b"Why that one?")]
    assert places == sorted(places)
    assert b"read-only advisor" not in last
    thought = [block for block in streams.whole(spoken.name)[0] if isinstance(block, Thinking)]
    assert [len(child.split((block.verbatim or "").strip("{}").encode())) for block in thought] == [
        2
    ]


@EACH
@behaviour("wire:half")
async def test_a_turn_cut_in_mid_stream_keeps_its_half_and_the_next_one_works(
    spoken: Spoken,
) -> None:
    half = spoken.long[: next(n for n, e in enumerate(spoken.long) if b"I read " in e) + 1]
    async with loopback(Say(pieces=half, cut=True), stream(*spoken.plain)) as server:
        sidechat = workshop(agents={"speaker": spoken.at(server.url)})
        made = await sidechat.native(ME)
        cut = await sidechat.converse(ME, "Look.", session=made.id)
        then = await sidechat.converse(ME, "Again?", session=made.id)
        assert (cut.reason, cut.answer) == ("error", "I read ")
        assert (then.reason, then.answer, len(server.asked)) == ("completed", "Yes.", 2)
        with pytest.raises(NothingToFork):
            await sidechat.fork(ME, parent=(await only_cut(sidechat, server)).id)


async def only_cut(sidechat: Sidechat, server: Loopback) -> Header:
    """A session whose one turn was cut."""
    server.script.append(server.script[0])
    made = await sidechat.native(ME)
    await sidechat.converse(ME, "Look.", session=made.id)
    return made


@EACH
@behaviour("wire:key-unseen")
async def test_a_key_is_in_no_event_note_or_answer(spoken: Spoken) -> None:
    echo = f'{{"error":{{"message":"Your key {KEY} is fine, the rest is not."}}}}'.encode()
    async with loopback(
        complaint(400, echo), stream(*spoken.plain), stream(*spoken.plain)
    ) as server:
        sidechat = workshop(agents={"speaker": spoken.at(server.url)})
        made = await sidechat.native(ME)
        seen = [repr(await sidechat.converse(ME, "Look.", session=made.id))]
        seen.append(repr(await sidechat.converse(ME, "Again.", session=made.id)))
        report = await sidechat.fork(ME, parent=made.id, question="Why?")
        seen += [repr(report), repr(await sidechat.merge(ME, session=report.session))]
        for session in (made.id, report.session):
            seen.append(await sidechat.ndjson(ME, session))
        seen.append(await sidechat.markdown(ME, report.session))
        assert all(KEY.encode() not in asked.body for asked in server.asked)
    assert "the rest is not" in seen[-3], "the error itself is kept"
    assert [line for line in seen if KEY in line] == []


@EACH
@behaviour("wire:usage")
async def test_tokens_are_kept_as_reported_and_what_was_not_reported_is_not_zero(
    spoken: Spoken,
) -> None:
    async with loopback(stream(*spoken.long), stream(*spoken.plain)) as server:
        sidechat = workshop(agents={"speaker": spoken.at(server.url)}, tools=Bench())
        made = await sidechat.native(ME, tools=True)
        await sidechat.converse(ME, "Look at both.", session=made.id)
        lines = (await sidechat.ndjson(ME, made.id)).splitlines()
    bodies = [json.loads(line)["body"] for line in lines]
    told = [
        {name: body[name] for name in body if name not in ("turn", "kind", "ids")}
        for body in bodies
        if body["kind"] == "usage"
    ]
    whole = {"input": 997, "output": 42, "cache_read": 900, "cache_write": 90}
    assert (
        told
        == {
            "anthropic": [whole, {"input": 5, "output": 2}],
            "openai": [whole, whole],
            "openai-chat": [{name: whole[name] for name in list(whole)[:3]}],
        }[spoken.name]
    )
