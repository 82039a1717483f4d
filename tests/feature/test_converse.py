"""converse: turns, streaming, keys, cancellation, tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidechat_mcp.core.content import Text, ToolUse, plain, text
from sidechat_mcp.core.events import (
    AssistantMessage,
    Header,
    RequestSent,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from sidechat_mcp.errors import (
    AnsweringNow,
    InvalidRequest,
    KeyReused,
    ProviderError,
    SessionNotFound,
)
from sidechat_mcp.ports.provider import Delta, Done, Spent, Whole
from sidechat_mcp.ports.tool import Outcome, Tool
from sidechat_mcp.sidechat.reports import Caller, SpentReport, UsageReport
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.memory import MemoryStore
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, Speaker, shelved, workshop

ME = Caller()


def kinds(events: Any) -> list[str]:
    return [event.body.kind for event in events]


@behaviour("converse:turn")
async def test_a_turn_streams_its_answer_and_stands_whole_in_the_log() -> None:
    sidechat = workshop(agents={"speaker": Speaker(["Because of this."])})
    fork = await sidechat.fork(ME, parent="shelf:r1")
    heard: list[str] = []

    async def listen(words: str) -> None:
        heard.append(words)

    answer = await sidechat.converse(ME, "Why?", session=fork.session, emit=listen)
    assert "".join(heard) == answer.answer == "Because of this."
    assert (answer.turn, answer.reason, answer.usage, answer.cache) == (
        3,
        "completed",
        UsageReport(10, 5, None, None),
        "not reported",
    )
    _, own = await sidechat.side(ME, fork.session)
    assert kinds(own)[-6:] == [
        "turn/start",
        "user/message",
        "request/sent",
        "assistant/message",
        "usage",
        "turn/end",
    ]


async def test_a_session_that_was_not_named_is_chosen_and_named() -> None:
    sidechat = workshop(shelf=Shelf({"r1": shelved(("What?", "This."))}, live="r1"))
    await sidechat.fork(ME, question="First side question?")
    answer = await sidechat.converse(ME, "And?")
    assert answer.chosen == "First side question?"


async def test_nothing_to_say_and_nowhere_to_say_it_are_refused() -> None:
    sidechat = workshop()
    fork = await sidechat.fork(ME, parent="shelf:r1")
    with pytest.raises(InvalidRequest, match="empty"):
        await sidechat.converse(ME, "  \n\u200b\U000e0041", session=fork.session)
    with pytest.raises(InvalidRequest, match="Fork it"):
        await sidechat.converse(ME, "Hi", session=fork.parent)
    with pytest.raises(InvalidRequest, match="`fork` a conversation first"):
        await workshop().converse(ME, "Hi")


@behaviour("converse:key")
async def test_a_repeated_key_answers_from_the_log() -> None:
    speaker = Speaker(["One.", "Two."])
    sidechat = workshop(agents={"speaker": speaker})
    fork = await sidechat.fork(ME, parent="shelf:r1")
    first = await sidechat.converse(ME, "Why?", session=fork.session, key="k")
    await sidechat.converse(ME, "Else?", session=fork.session)
    assert await sidechat.converse(ME, "Why?", session=fork.session, key="k") == first
    assert len(speaker.seen) == 2
    with pytest.raises(KeyReused):
        await sidechat.converse(ME, "What?", session=fork.session, key="k")


@behaviour("converse:while-busy")
async def test_a_second_converse_meets_answering_now_and_the_first_goes_on() -> None:
    speaker = Speaker(["Slow answer."], gate=anyio.Event())
    sidechat = workshop(agents={"speaker": speaker})
    fork = await sidechat.fork(ME, parent="shelf:r1")
    answers: list[str] = []

    async def ask() -> None:
        answers.append((await sidechat.converse(ME, "Why?", session=fork.session)).answer)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await speaker.midway.wait()
            with pytest.raises(AnsweringNow):
                await sidechat.converse(ME, "Hello?", session=fork.session)
            assert speaker.gate is not None
            speaker.gate.set()
    assert answers == ["Slow answer."]


@pytest.mark.parametrize(("leaving", "reason"), [(False, "aborted"), (True, "interrupted")])
@behaviour("converse:cancel")
async def test_a_cancelled_turn_keeps_the_half_answer_and_the_next_one_works(
    leaving: bool, reason: str
) -> None:
    speaker = Speaker(["Half of it."], gate=anyio.Event())
    sidechat = workshop(agents={"speaker": speaker})
    fork = await sidechat.fork(ME, parent="shelf:r1")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await sidechat.converse(ME, "Why?", session=fork.session)

            tasks.start_soon(ask)
            await speaker.midway.wait()
            if leaving:
                sidechat.leave()
            tasks.cancel_scope.cancel()
    _, own = await sidechat.side(ME, fork.session)
    message, end = own[-2].body, own[-1].body
    assert isinstance(message, AssistantMessage)
    assert isinstance(end, TurnEnd)
    assert (plain(message.content), message.stop, end.reason) == ("Hal", "cut", reason)
    speaker.gate = None
    assert (await sidechat.converse(ME, "Again?", session=fork.session)).reason == "completed"


@behaviour("converse:cut-stream")
@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ([Delta("Half"), Spent(3, 1)], "Half"),
        ([Whole(Text("One block.")), Delta("and ha")], "One block.\n\nand ha"),
        (ProviderError("The model is overloaded."), ""),
        ([Done("refusal", detail="policy")], ""),
        ([Whole(Text("  ")), Done()], ""),
        ([], ""),
    ],
)
async def test_an_answer_without_its_end_or_its_text_is_no_completed_turn(
    line: Any, kept: str
) -> None:
    sidechat = workshop(agents={"speaker": Speaker([line, "Now."])})
    fork = await sidechat.fork(ME, parent="shelf:r1")
    answer = await sidechat.converse(ME, "Why?", session=fork.session)
    assert answer.reason in ("error", "blocked")
    assert answer.answer == kept
    assert answer.advice
    assert (await sidechat.converse(ME, "Again?", session=fork.session)).answer == "Now."


@dataclass
class Hammer:
    """A tool that counts how often it was swung."""

    name: str = "hammer"
    read_only: bool = True
    description: str = "Hits."
    schema: dict[str, Any] = field(default_factory=dict[str, Any])
    swung: int = 0

    async def run(self, input: str, session: Header) -> Outcome:
        self.swung += 1
        return Outcome(text(f"hit {input}"))


@dataclass
class Chest:
    tool: Hammer

    async def find(self, name: str, session: Header) -> Tool | None:
        return self.tool if name == self.tool.name else None

    async def offered(self) -> list[Tool]:
        return [self.tool]


def calling(*names: str) -> list[Any]:
    return [
        *(Whole(ToolUse(f"c{n}", name, "{}")) for n, name in enumerate(names)),
        Done("tool_use"),
    ]


async def native_with(speaker: Speaker, chest: Chest, store: MemoryStore) -> tuple[Sidechat, str]:
    sidechat = workshop(store, agents={"speaker": speaker}, tools=chest)
    return sidechat, (await sidechat.native(ME, tools=True)).id


async def test_a_native_session_calls_its_tools_each_durable_before_it_starts() -> None:
    chest = Chest(Hammer())
    sidechat, native = await native_with(
        Speaker([calling("hammer", "hammer"), "Done."]), chest, MemoryStore()
    )
    answer = await sidechat.converse(ME, "Hit twice.", session=native)
    assert (answer.answer, chest.tool.swung) == ("Done.", 2)
    reading = await sidechat.ndjson(ME, native)
    assert [line.split('"kind":"')[1].split('"')[0] for line in reading.splitlines()][1:] == [
        "turn/start",
        "user/message",
        "request/sent",
        "assistant/message",
        "tool/call",
        "tool/result",
        "tool/call",
        "tool/result",
        "request/sent",
        "assistant/message",
        "usage",
        "turn/end",
    ]


@behaviour("converse:tools")
async def test_a_side_sessions_call_becomes_a_result_and_nothing_is_carried_out() -> None:
    chest = Chest(Hammer())
    speaker = Speaker(["Hello.", calling("hammer", "nothing_like_it"), "I may not."])
    sidechat, native = await native_with(speaker, chest, MemoryStore())
    await sidechat.converse(ME, "Hi.", session=native)
    fork = await sidechat.fork(ME, parent=native, question="Hit!")
    assert (chest.tool.swung, fork.first and fork.first.answer) == (0, "I may not.")
    _, own = await sidechat.side(ME, fork.session)
    results = [event.body for event in own if isinstance(event.body, ToolResult)]
    assert [result.is_error for result in results] == [True, True]
    assert not any(isinstance(event.body, ToolCall) for event in own)
    assert "read-only" in plain(results[0].content)


@behaviour("converse:commits")
@pytest.mark.parametrize("rounds", [1, 2, 5])
async def test_a_turn_makes_few_commits(rounds: int) -> None:
    store, chest = MemoryStore(), Chest(Hammer())
    lines: list[Any] = [calling("hammer", "hammer")] * (rounds - 1) + ["Done."]
    sidechat, native = await native_with(Speaker(lines), chest, store)
    before = store.commits
    await sidechat.converse(ME, "Work.", session=native)
    assert chest.tool.swung == 2 * (rounds - 1)
    assert store.commits - before <= 2 + rounds + chest.tool.swung


async def test_who_finds_a_turn_left_open_by_a_dead_holder_closes_it_as_interrupted() -> None:
    store = MemoryStore()
    sidechat = workshop(store)
    fork = await sidechat.fork(ME, parent="shelf:r1", question="Hi?")
    _, own = await sidechat.side(ME, fork.session)
    opening = [event for event in own if not isinstance(event.body, RequestSent)]
    start = next(e for e in opening if isinstance(e.body, TurnStart) and e.body.number)
    said = next(e for e in opening if isinstance(e.body, UserMessage))
    head = (await store.row(fork.session)).head
    from sidechat_mcp.core.events import Draft
    from sidechat_mcp.core.ids import EventId, TurnId

    left = [
        Draft(EventId("x1"), 0, TurnStart(TurnId("dead"), number=4)),
        Draft(EventId("x2"), 0, UserMessage(TurnId("dead"), said.body.content)),  # type: ignore[union-attr]
    ]
    assert start.body
    await store.append(fork.session, left, expect=head)
    answer = await sidechat.converse(ME, "Still there?", session=fork.session)
    state, _ = await sidechat.side(ME, fork.session)
    assert [(t.number, t.reason) for t in state.own_turns] == [
        (3, "completed"),
        (4, "interrupted"),
        (5, "completed"),
    ]
    assert answer.turn == 5


async def test_after_forking_a_file_the_side_session_is_found_where_the_person_stands() -> None:
    me = Caller(cwd="/where/i/stand")
    sidechat = workshop()
    fork = await sidechat.fork(me, file=Path("r1"))
    assert (await sidechat.converse(me, "Hi?")).session == fork.session


async def test_the_resource_shows_the_childs_own_tokens_and_not_its_parents() -> None:
    lines: list[Any] = [[Whole(Text("A.")), Spent(10, 5, 8), Done()], "Later."]
    sidechat = workshop(agents={"speaker": Speaker(["Parent's.", *lines])})
    native = await sidechat.native(ME)
    await sidechat.converse(ME, "Hi?", session=native.id)
    fork = await sidechat.fork(ME, parent=native.id, question="And?")
    shown = await sidechat.markdown(ME, fork.session)
    assert "Its own tokens: 10 in, 5 out; cache on its first request: hit 8." in shown
    spent = await sidechat.spent(ME, fork.session)
    assert spent == SpentReport(UsageReport(10, 5, 8, None), "hit 8", None)
    with pytest.raises(SessionNotFound):
        await sidechat.spent(ME, native.id)
