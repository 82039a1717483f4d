"""What our server adds to the SDK's: the same bytes asked of ours and of a bare one, by turns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from benchmarks.conversation import conversation
from benchmarks.figures import Figure, at_most
from benchmarks.ground import Ground
from benchmarks.house import CALLER, House, house
from benchmarks.pipe import BARE, OURS, Pipe, piped
from benchmarks.plan import Plan
from benchmarks.timing import alternate
from sidechat_mcp.core.ids import SessionId

FEW, MANY = 50, 10_000
TURNS = 10


async def serving(ground: Ground, plan: Plan) -> Sequence[Figure]:
    home = ground.fresh("serving")
    asked = await _filled(home)
    canned, figures = home / "canned.json", list[Figure]()
    with piped(OURS, home) as ours:
        answers = [ours.modern(one.method, one.params) for one in asked]
        results = {one.method: _result(line) for one, line in zip(asked, answers, strict=True)}
        canned.write_text(json.dumps(results))
        with piped((*BARE, str(canned)), home) as bare:
            for one, answer in zip(asked, answers, strict=True):
                found = bare.modern(one.method, one.params)
                assert found == answer, f"not the same bytes: {found!r} {answer!r}"
                mine, other = await alternate(
                    plan.times(400), partial(_ask, ours, one), partial(_ask, bare, one)
                )
                figures.append(at_most(f"{one.title} / a bare server's", mine, other, one.bar))
    return figures


@dataclass(frozen=True, slots=True)
class Asked:
    title: str
    method: str
    params: Mapping[str, Any]
    bar: float


LIST = Asked("list of 50", "resources/list", {}, 1.6)


async def _filled(home: Path) -> Sequence[Asked]:
    """Fifty side sessions, one of them with ten turns of its own; what is asked of them."""
    said = conversation(TURNS)
    asked = [message.text for message in said if message.role == "user"]
    answered = [message.text for message in said if message.role == "assistant"]
    async with house(home, *answered) as made:
        parent = await made.session(TURNS)
        await _sessions(made, parent, FEW - 1)
        await made.fork(parent)
        child = made.made[-1]
        for text in asked:
            await made.sidechat.converse(CALLER, text, session=child)
    reading = {"session": child, "from": TURNS + 1, "limit": TURNS}
    prompt = {"name": "fork", "arguments": {"parent": parent}}
    return (
        Asked("prompt", "prompts/get", prompt, 1.2),
        LIST,
        Asked("read of 10 turns", "resources/read", {"uri": f"sidechat://sessions/{child}"}, 1.6),
        Asked("tool's read of 10 turns", "tools/call", _call("read_session", reading), 1.6),
    )


def _call(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"name": tool, "arguments": arguments}


def _result(line: bytes) -> Mapping[str, Any]:
    """A result without what the SDK writes into each by itself."""
    return {name: value for name, value in json.loads(line)["result"].items() if name != "_meta"}


async def listing(ground: Ground, plan: Plan) -> Sequence[Figure]:
    """A page of a long list costs what a page of a short one costs."""
    homes = {count: ground.fresh(f"list-{count}") for count in (FEW, MANY)}
    for count, home in homes.items():
        async with house(home) as made:
            await _sessions(made, await made.session(TURNS), count)
    with piped(OURS, homes[FEW]) as few, piped(OURS, homes[MANY]) as many:
        short, long = await alternate(
            plan.times(400), partial(_ask, few, LIST), partial(_ask, many, LIST)
        )
    return [at_most("list at 10,000 sessions / at 50", long, short, 1.1)]


async def _ask(pipe: Pipe, one: Asked) -> None:
    pipe.modern(one.method, one.params)


async def _sessions(made: House, parent: SessionId, count: int) -> None:
    for start in range(0, count, 100):
        async with anyio.create_task_group() as tasks:
            for _ in range(min(100, count - start)):
                tasks.start_soon(made.fork, parent)
