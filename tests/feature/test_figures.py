"""What a history adds up to, counted whole and in stretches."""

from __future__ import annotations

import pytest

from sidechat_mcp.core.assemble import assemble
from sidechat_mcp.core.content import ToolUse, text
from sidechat_mcp.core.digest import messages_digest
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextCompacted,
    Draft,
    Event,
    Header,
    Part,
    RequestHeader,
    ToolResult,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, SessionId, TurnId
from sidechat_mcp.core.tokens import estimate
from sidechat_mcp.harness.sessions import Sessions
from sidechat_mcp.sidechat import figures
from sidechat_mcp.sidechat.figures import Counting, Figures
from sidechat_mcp.stores.memory import MemoryStore

HEAD = RequestHeader(Part(text="Be brief."), Part(text="[]"), "model-1")


def turn(number: int, *first: Body) -> list[Body]:
    id = TurnId(f"t{number}")
    call = ToolUse(f"c{number}", "look", "{}")
    return [
        TurnStart(id, "turn", number),
        *first,
        UserMessage(id, text(f"Question {number}, and why?")),
        AssistantMessage(id, (call,), "model-1"),
        ToolResult(id, call.id, text("nothing"), synthetic="NOT_STARTED" if number == 2 else None),
        AssistantMessage(id, text(f"Answer {number}."), "model-1"),
        Usage(id, 100 * number, 7),
        TurnEnd(id, "completed"),
    ]


SUMMARY = ContextCompacted(text("In short: nothing."), 2)
TURNS = [[HEAD, *turn(1)], turn(2), turn(3, SUMMARY), turn(4), turn(5, RequestHeader())]


def placed(turns: list[list[Body]], start: int = 0) -> list[Event]:
    bodies = [body for one in turns for body in one]
    return [
        Event(SessionId("s"), seq, EventId(f"e{seq}"), 0, body)
        for seq, body in enumerate(bodies, start)
    ]


def told(of: Figures) -> tuple[object, ...]:
    return (
        *(of.length, of.header, of.turns, of.repaired, of.compacted),
        *(of.tokens, of.reported, of.head_digest, of.prefix_digest),
    )


@pytest.mark.parametrize("stop", range(1, len(TURNS) + 1))
@pytest.mark.parametrize("at", range(len(TURNS)))
def test_a_history_counted_in_two_stretches_is_the_history_counted_at_once(
    at: int, stop: int
) -> None:
    whole = placed(TURNS[:stop])
    first = placed(TURNS[: min(at, stop)])

    assert told(Figures().after(first).after(whole[len(first) :])) == told(Figures().after(whole))


def test_they_are_what_the_context_adds_up_to() -> None:
    events = placed(TURNS[:4])
    context = assemble(events)

    of = Figures().after(events)

    assert of.prefix_digest == messages_digest(context.messages)
    assert (of.tokens, of.header) == (estimate(context.messages), HEAD)
    assert (of.turns, of.repaired, of.compacted) == (4, 1, 2)
    assert of.reported == 407


async def test_a_long_history_is_counted_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    id = SessionId("s")
    events = placed(TURNS)
    drafts = [Draft(event.id, event.at, event.body) for event in events]
    await store.create(Header(id, 1, "native", "local", "scripted"), drafts)
    row = await store.row(id)
    at_once = await Counting(Sessions(store)).of(row, row.head)
    monkeypatch.setattr(figures, "PIECE", 10)
    sessions = Sessions(store)

    assert told(await Counting(sessions).of(row, row.head)) == told(at_once)
    kept = await sessions.passing(row, 0, row.head)
    assert list(kept) == events
