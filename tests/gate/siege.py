"""An attack on a session, run as a program of its own that is watched from its first call on:
`siege.py PLAN`, where PLAN is the JSON of a `Plan`. It tells what it heard of itself."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import anyio

from sidechat_mcp.bootstrap import assemble_parts, open_tools
from sidechat_mcp.clients.claude_code.drafting import NAME
from sidechat_mcp.config import Config, load
from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.core.events import ToolResult
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.harness import loop
from sidechat_mcp.providers.scripted import Line, Scripted
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.memory import MemoryStore
from tests.feature.workshop import Shelf, shelved
from tests.gate.attack import Call, Ground, attack
from tests.gate.meddling import BROKEN, MEDDLING
from tests.gate.watch import Watch

A_REQUEST = 100
"""Calls in one answer of the model."""
A_HANG = 0.002
"""Seconds that a gate may take here."""


@dataclass(frozen=True)
class Plan:
    """`of` is `child`, `parent`, or `adopted` for a child of a client's conversation. The log of
    what was attacked is written to `log` at the end, when nothing is watched any more."""

    root: str
    of: str
    count: int
    log: str


@dataclass
class Told:
    """By what stood in the way: how many calls were made and how many were carried out."""

    calls: dict[str, int] = field(default_factory=dict[str, int])
    carried_out: dict[str, int] = field(default_factory=dict[str, int])
    heard: list[str] = field(default_factory=list[str])


class Obeying(Scripted):
    """A model that makes every call it is given, and then ends its turn."""

    def __init__(self) -> None:
        super().__init__("Yes.")

    def obey(self, calls: Sequence[Call]) -> None:
        lines: list[Line] = [
            # Every seventh call has the id of the one before it.
            [ToolUse(f"c{n - (n % 7 == 6)}", name, given) for n, (name, given) in enumerate(part)]
            for part in _parts(calls, A_REQUEST)
        ]
        self._lines = [*lines, "Done."]


def _parts(calls: Sequence[Call], size: int) -> list[Sequence[Call]]:
    return [calls[start : start + size] for start in range(0, len(calls), size)]


@asynccontextmanager
async def besieged(config: Config, model: Obeying, cwd: str) -> AsyncGenerator[Sidechat]:
    told = replace(shelved(("What?", "This.")), client=NAME, cwd=cwd)
    clients = {NAME: Shelf({"r1": told}, name=NAME)}
    async with open_tools(config) as tools:
        yield assemble_parts(
            config, MemoryStore(), {}, provider=lambda _: model, clients=clients, tools=tools
        )


async def parent_of(sidechat: Sidechat, caller: Caller, of: str) -> str:
    if of == "adopted":
        return f"{NAME}:r1"
    native = (await sidechat.native(caller, tools=True)).id
    await sidechat.converse(caller, "Hello.", session=native)
    return native


async def siege(plan: Plan, config: Config, told: Told, watch: Watch) -> None:
    model, ground = Obeying(), Ground(Path(plan.root))
    caller = Caller(cwd=str(ground.project))
    async with besieged(config, model, str(ground.project)) as sidechat:
        parent = await parent_of(sidechat, caller, plan.of)
        agents, seams = sidechat.parts.agents, sidechat.parts.agents.seams
        ways = {name: replace(seams, pre_execute=each) for name, each in MEDDLING.items()}
        ways |= {f"gate {name}": replace(seams, gate=gate) for name, gate in BROKEN.items()}
        if plan.of == "parent":
            ways = {"nothing": seams}
        logs: list[str] = []
        calls = attack(ground, plan.count, plan.of == "adopted")
        shares = _parts(calls, -(-plan.count // len(ways)))
        for (way, around), calls in zip(ways.items(), shares, strict=True):
            agents.seams = seams
            session = SessionId(parent)
            if plan.of != "parent":
                session = (await sidechat.fork(caller, parent=parent)).session
            model.obey(calls)
            agents.seams = around
            await sidechat.converse(caller, "Obey.", session=session)
            row = await sidechat.parts.store.row(session)
            events = await sidechat.parts.store.read(session, row.header.seed_length)
            results = [event.body for event in events if isinstance(event.body, ToolResult)]
            told.calls[way] = len(results)
            told.carried_out[way] = sum(event.body.kind == "tool/call" for event in events)
            logs.append(await sidechat.ndjson(caller, session))
        watch.deaf = True
    Path(plan.log).write_text("\n".join(logs))


def main() -> None:
    plan = Plan(**json.loads(sys.argv[1]))
    root, told = Path(plan.root), Told()
    config = load({"SIDECHAT_HOME": str(root / "home")})
    loop.GATE = loop.GATE if plan.of == "parent" else A_HANG
    watch = Watch(
        told.heard.append,
        [(one.command, *one.args) for one in config.servers if one.command is not None],
        [int(one.url.split(":")[2].split("/")[0]) for one in config.servers if one.url is not None],
        f"{root}/",
        f"{root}/project/",
    )
    # The HTTP client loads it where it is there, and loading it runs a program.
    importlib.import_module("trio")
    watch.start()
    anyio.run(siege, plan, config, told, watch)
    sys.stdout.write(json.dumps(asdict(told)))


if __name__ == "__main__":
    main()
