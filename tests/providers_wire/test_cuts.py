"""Every point at which a recorded stream can be cut, through the whole of a turn: no turn is
completed without the terminal event, its half is kept as what it is, and the next turn works."""

from __future__ import annotations

import json

import pytest

from sidechat_mcp.core.content import plain
from sidechat_mcp.core.events import AssistantMessage, TurnEnd
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.harness.reply import CUT
from sidechat_mcp.providers.exchange.pace import Pace
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from tests.behaviours import behaviour
from tests.feature.workshop import workshop
from tests.providers_wire.loopback import Loopback, Say, loopback, stream
from tests.providers_wire.test_recorded import Bench
from tests.providers_wire.validators import check
from tests.providers_wire.wires import SPOKEN, Spoken, fold

EACH = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
ME = Caller()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def cut_turn(sidechat: Sidechat, session: SessionId) -> tuple[str, list[str], str]:
    """How a turn ended, the texts of its answers, and what its caller was told."""
    row = await sidechat.parts.store.row(session)
    answer = await sidechat.converse(ME, "Look.", session=session)
    events = await sidechat.parts.store.read(session, row.head)
    bodies = [event.body for event in events]
    assert not [body for body in bodies if body.kind == "tool/call"], "nothing was carried out"
    kept = [body for body in bodies if isinstance(body, AssistantMessage)]
    assert [body.stop for body in kept] == [CUT] * len(kept)
    (end,) = (body.reason for body in bodies if isinstance(body, TurnEnd))
    return end, [plain(body.content) for body in kept], answer.answer


async def next_turn(sidechat: Sidechat, session: SessionId, server: Loopback, wire: str) -> None:
    answer = await sidechat.converse(ME, "Again?", session=session)
    assert (answer.reason, answer.answer) == ("completed", "Yes.")
    check(wire, json.loads(server.asked[-1].body))


@EACH
@pytest.mark.parametrize("how", ["broken off", "ended"])
@behaviour("wire:cut-everywhere")
async def test_a_turn_cut_at_any_event_is_no_completed_one_and_the_next_works(
    spoken: Spoken, how: str
) -> None:
    async with loopback(stream(*spoken.plain)) as server:
        sidechat = workshop(agents={"speaker": spoken.at(server.url)}, tools=Bench())
        session = (await sidechat.native(ME, tools=True)).id
        await sidechat.converse(ME, "Hello.", session=session)
        for kept in range(len(spoken.long)):
            half = spoken.long[:kept]
            _, _, heard = fold(spoken.answer(), half)
            server.script[:] = [Say(pieces=half, cut=how == "broken off")]
            ended = await cut_turn(sidechat, session)
            assert ended == ("error", [heard] if heard else [], heard), kept
            server.script[:] = [stream(*spoken.plain)]
            await next_turn(sidechat, session, server, spoken.name)
        assert {one.verdict for one in await sidechat.replay(ME)} == {"verified"}


@EACH
@behaviour("wire:cut-everywhere")
async def test_a_turn_cut_at_bytes_all_over_is_no_completed_one(spoken: Spoken) -> None:
    raw, once = b"".join(spoken.plain), Pace(attempts=1)
    async with loopback(stream(*spoken.plain)) as server:
        sidechat = workshop(agents={"speaker": spoken.at(server.url, pace=once)})
        for place in range(0, len(raw), 2):
            session = (await sidechat.native(ME)).id
            server.script[:] = [Say(pieces=[raw[:place]])]
            end, texts, heard = await cut_turn(sidechat, session)
            assert (end, texts) == ("error", [heard] if heard else []), place
            assert "Yes.".startswith(heard)
        server.script[:] = [stream(raw)]
        session = (await sidechat.native(ME)).id
        assert (await sidechat.converse(ME, "All?", session=session)).reason == "completed"
