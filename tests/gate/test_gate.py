"""The gate and what stands around it: seen by interceptors, undone by none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sidechat_mcp.core.content import ToolUse, plain, text
from sidechat_mcp.core.events import Header, ToolCall, ToolResult
from sidechat_mcp.core.ids import SessionId, TurnId
from sidechat_mcp.errors import OutsideError
from sidechat_mcp.harness import loop
from sidechat_mcp.ports.tool import Outcome, Tool
from sidechat_mcp.providers.scripted import Line, Scripted
from sidechat_mcp.seams import Attempt, Gate, GateSeam
from sidechat_mcp.sidechat.gate import read_only
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.tools.box import Box
from tests.behaviours import behaviour
from tests.feature.workshop import workshop
from tests.gate.meddling import BROKEN, MEDDLING

ME = Caller()
CHILD = Header(SessionId("c"), 0, "sidechat", "local", "x", SessionId("p"), 3)
NATIVE = Header(SessionId("p"), 0, "native", "local", "x")


@dataclass
class Lamp:
    """A tool that says what it was given. `name` may be one that side sessions may call."""

    name: str = "read_file"
    read_only: Any = True
    says: Any = None
    description: str = "Shines."
    schema: dict[str, Any] = field(default_factory=dict[str, Any])
    given: list[str] = field(default_factory=list[str])

    async def run(self, input: str, session: Header) -> Any:
        self.given.append(input)
        return Outcome(text(f"lit {input}")) if self.says is None else self.says


@dataclass
class Shelf:
    """Tools by name; `sought` is what was looked for."""

    tools: Sequence[Lamp]
    sought: list[str] = field(default_factory=list[str])

    async def find(self, name: str, session: Header) -> Tool | None:
        self.sought.append(name)
        return next((tool for tool in self.tools if tool.name == name), None)

    async def offered(self) -> Sequence[Tool]:
        return self.tools


def calls(*names: str, given: str = '{"a":1}') -> list[ToolUse]:
    return [ToolUse(f"c{n}", name, given) for n, name in enumerate(names)]


class Model(Scripted):
    def say(self, *lines: Line) -> None:
        self._lines = list(lines)


@dataclass
class Room:
    """A native parent with lamps, its child, and the model that answers in both."""

    sidechat: Sidechat
    model: Model
    parent: str
    child: str

    async def results(self, session: str, *lines: Line) -> list[tuple[bool, str]]:
        """What the calls of one turn came to, after which the turn was completed."""
        self.model.say(*lines, "Done.")
        answer = await self.sidechat.converse(ME, "Go on.", session=session)
        assert answer.reason == "completed"
        events = await self.sidechat.parts.store.read(answer.session)
        turn = getattr(events[-1].body, "turn", None)
        found = [event.body for event in events if isinstance(event.body, ToolResult)]
        return [(one.is_error, plain(one.content)) for one in found if one.turn == turn]

    def around(self, *pre_execute: GateSeam, gate: Gate | None = None) -> None:
        agents = self.sidechat.parts.agents
        agents.seams = replace(
            agents.seams, pre_execute=pre_execute, gate=gate or agents.seams.gate
        )


async def room(*lamps: Lamp, tools: bool = True) -> Room:
    model = Model("Hello.")
    sidechat = workshop(agents={"speaker": model}, tools=Shelf(lamps))
    parent = (await sidechat.native(ME, tools=tools)).id
    await sidechat.converse(ME, "Hi.", session=parent)
    return Room(sidechat, model, parent, (await sidechat.fork(ME, parent=parent)).session)


@behaviour("gate:both")
@pytest.mark.parametrize(
    ("name", "declared", "passes"),
    [
        ("allowed", True, True),
        ("allowed", False, False),
        ("allowed", None, False),
        ("allowed", "yes", False),
        ("other", True, False),
        ("gone", True, False),
        ("Allowed", True, False),
        ("allowed ", True, False),
        ("аllowed", True, False),
    ],
)
async def test_a_call_passes_if_its_tool_is_read_only_and_on_the_list(
    name: str, declared: Any, passes: bool
) -> None:
    shelf = Shelf([Lamp("allowed", declared), Lamp("other", declared), Lamp(name, declared)])
    shelf.tools = [tool for tool in shelf.tools if tool.name != "gone"]
    judge = read_only(shelf, lambda _: frozenset({"allowed", "gone"}))
    call = ToolCall(TurnId("t"), "c", name, "{}")
    outcome = await judge(Attempt(CHILD, call))
    assert (outcome is None) is passes
    assert outcome is None or (outcome.is_error and "read-only" in plain(outcome.content))
    assert await judge(Attempt(NATIVE, call)) is None
    assert shelf.sought == [name] * (name in ("allowed", "gone"))


@behaviour("gate:errors")
async def test_a_gate_that_cannot_look_a_tool_up_denies_it() -> None:
    class Torn(Shelf):
        async def find(self, name: str, session: Header) -> Tool | None:
            raise OutsideError("It is torn.")

    made = await room(Lamp())
    made.around(gate=read_only(Torn([]), lambda _: frozenset({"read_file"})))
    assert await made.results(made.child, calls("read_file")) == [
        (True, "The call was not allowed: OutsideError.")
    ]


@behaviour("gate:errors")
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("session", ["parent", "child"])
async def test_whatever_goes_wrong_in_the_gate_is_a_deny_that_the_model_can_read(
    broken: str, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "GATE", 0.01)
    lamp = Lamp()
    made = await room(lamp)
    made.around(gate=BROKEN[broken])
    (result,) = await made.results(getattr(made, session), calls("read_file"))
    assert (result[0], lamp.given) == (True, [])
    assert result[1].startswith("The call was not allowed: ")


@behaviour("gate:last")
@pytest.mark.parametrize("meddling", MEDDLING)
async def test_no_interceptor_gets_a_denied_call_through(meddling: str) -> None:
    lamp, hammer = Lamp(), Lamp("hammer", read_only=False)
    made = await room(lamp, hammer)
    made.around(*MEDDLING[meddling])
    await made.results(made.child, calls("hammer", "hammer"))
    assert (hammer.given, lamp.given) == ([], [])
    assert made.sidechat.parts.agents.seams.pre_execute == MEDDLING[meddling]


@behaviour("gate:last")
async def test_a_call_is_carried_out_as_the_model_made_it_whatever_is_passed_on() -> None:
    lamp = Lamp()
    made = await room(lamp)
    for each in ("renaming", "rewriting", "relabelling", "overwriting", "passing"):
        made.around(*MEDDLING[each])
        assert await made.results(made.child, calls("read_file")) == [(False, 'lit {"a":1}')]
    assert lamp.given == ['{"a":1}'] * 5
    header = (await made.sidechat.parts.store.row(SessionId(made.child))).header
    assert header.origin == "sidechat"


@behaviour("gate:seen")
async def test_interceptors_see_every_call_in_order_and_the_first_is_outermost() -> None:
    seen: list[str] = []

    def noting(label: str) -> GateSeam:
        async def note(
            attempt: Attempt, following: Callable[[Attempt], Awaitable[Outcome | None]]
        ) -> Outcome | None:
            seen.append(f"{label} {attempt.session.origin} {attempt.call.name}")
            return await following(attempt)

        return note

    made = await room(Lamp(), Lamp("hammer", read_only=False))
    made.around(noting("outer"), noting("inner"))
    await made.results(made.child, calls("read_file", "hammer", "nothing"))
    assert seen == [
        f"{label} sidechat {name}"
        for name in ("read_file", "hammer", "nothing")
        for label in ("outer", "inner")
    ]


@behaviour("gate:seen")
@pytest.mark.parametrize("session", ["parent", "child"])
async def test_an_interceptor_may_answer_for_a_tool_which_is_then_not_called(session: str) -> None:
    lamp = Lamp()
    made = await room(lamp)
    made.around(*MEDDLING["answering"])
    assert await made.results(getattr(made, session), calls("read_file")) == [(False, "done")]
    made.around(*MEDDLING["raising"])
    assert await made.results(getattr(made, session), calls("read_file")) == [
        (True, "The call was not allowed: RuntimeError.")
    ]
    assert lamp.given == []


@behaviour("gate:stored")
async def test_the_child_of_a_child_is_held_to_the_same_and_the_parent_stays_free() -> None:
    lamp, hammer = Lamp(), Lamp("hammer", read_only=False)
    made = await room(lamp, hammer)
    await made.results(made.child)
    grandchild = (await made.sidechat.fork(ME, parent=made.child)).session
    results = await made.results(grandchild, calls("read_file", "hammer"))
    assert [error for error, _ in results] == [False, True]
    results = await made.results(made.parent, calls("read_file", "hammer"))
    assert [error for error, _ in results] == [False, False]
    assert (len(lamp.given), len(hammer.given)) == (2, 1)


@behaviour("gate:parents-tools")
async def test_a_child_has_no_tool_that_its_parents_head_does_not_list() -> None:
    lamp = Lamp()
    made = await room(lamp, tools=False)
    for session in (made.parent, made.child):
        assert await made.results(session, calls("read_file")) == [
            (True, "There is no tool 'read_file' here.")
        ]
    assert lamp.given == []


@behaviour("gate:no-call")
async def test_a_denied_call_leaves_a_result_and_no_record_of_a_call() -> None:
    made = await room(Lamp(), Lamp("hammer", read_only=False))
    await made.results(made.child, calls("hammer", "read_file", "nothing"))
    _, own = await made.sidechat.side(ME, made.child)
    assert [event.body.name for event in own if isinstance(event.body, ToolCall)] == ["read_file"]


@pytest.mark.parametrize("says", ["words", 7, Outcome("words"), Outcome((1,))])  # type: ignore[arg-type]
async def test_a_tool_that_answers_with_something_else_spoils_nothing(says: Any) -> None:
    made = await room(Lamp(says=says))
    ((error, words),) = await made.results(made.parent, calls("read_file"))
    assert error
    assert words.startswith("read_file failed: a ")
    assert {one.verdict for one in await made.sidechat.replay(ME)} == {"verified"}


async def test_a_session_of_a_client_means_no_tool_of_ours() -> None:
    header = replace(CHILD, client="codex")
    assert await Box().find("read_file", header) is None
    assert await Box().find("read_file", CHILD) is not None
