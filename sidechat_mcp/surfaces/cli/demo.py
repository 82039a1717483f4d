"""`demo`: the whole journey on an example, played by the real server and an ordinary client of
its, in a temporary place that is gone afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from sidechat_mcp.bootstrap import open_sidechat
from sidechat_mcp.errors import OutsideError
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.cli import scenes, words
from sidechat_mcp.surfaces.cli.curiosity import Told, questions
from sidechat_mcp.surfaces.cli.stage import SHIPPED, Stage, staged
from sidechat_mcp.surfaces.cli.terminal import Line, Styled, Terminal
from sidechat_mcp.surfaces.mcp.visitor import Visitor, visiting

INTRODUCTION: Sequence[Line] = (
    (
        Styled("sidechat", "bold"),
        " forks a conversation, lets you ask on the side, and takes one note back. Here is",
    ),
    "the whole journey, over MCP, in a temporary place, with quoting as the agent: no model,",
    "no key, no network.",
)


def demo(args: Namespace, terminal: Terminal) -> int:
    with staged(args.transcript or SHIPPED) as stage:
        return anyio.run(_played, stage, terminal)


async def _played(stage: Stage, terminal: Terminal) -> int:
    complaints = sys.stderr if os.environ.get("SIDECHAT_DEBUG") else open(os.devnull, "w")  # noqa: SIM115, ASYNC230
    async with (
        open_sidechat(stage.config, environ=stage.environ) as sidechat,
        visiting(stage.environ, stage.folder, complaints) as visitor,
    ):
        play = Play(stage, terminal, visitor, sidechat)
        play.show(*INTRODUCTION)
        await play.adopted()
        await play.native()
    verdict = await play.verified()
    if terminal.json:
        terminal.document(play.document)
    return 0 if verdict == "verified" else 4


@dataclass(slots=True)
class Play:
    stage: Stage
    terminal: Terminal
    visitor: Visitor
    sidechat: Sidechat
    document: dict[str, Any] = field(default_factory=dict[str, Any])

    def show(self, *lines: Line) -> None:
        if not self.terminal.json:
            self.terminal.say(*lines)

    async def adopted(self) -> None:
        """A conversation of Claude Code's: forked, asked twice, given a note."""
        name = f"claude-code:{self.stage.ref}"
        fork = await self.visitor.call("fork", parent=name)
        turns = await self._told(fork["parent"])
        said = [(turn.number, turn.user) for turn in turns]
        self.show(*scenes.title(1, "A conversation", "in Claude Code's own transcript"))
        self.show(*scenes.conversation(name, said, fork["cut"]))

        self.show(*scenes.title(2, "Fork", "the tool `fork`"))
        self.show(*scenes.forked(name, fork))

        self.show(*scenes.title(3, "Ask on the side", "the tool `converse`; the parent goes on"))
        answers = [await self._asked(fork["session"], text) for text in questions(turns)]

        self.show(*scenes.title(4, "Take one note back", "the tool `merge`"))
        note = await self.visitor.call("merge", session=fork["session"])
        log = await self.sidechat.ndjson(Caller(cwd=str(self.stage.folder)), note["parent"])
        source = scenes.provenance(log, note["note"])
        self.show(*scenes.receipt(note, source))

        self.show(*scenes.title(5, "What Claude Code's model is handed", "at the next prompt"))
        handed = scenes.handed(await self.visitor.told("pending_notes", session_id=self.stage.ref))
        self.show(*scenes.label(handed, note["text"]))
        self.document |= {
            "child": fork["uri"],
            "fork": fork,
            "answers": answers,
            "note": {**note, "provenance": source},
            "handed": handed,
        }

    async def native(self) -> None:
        """A session of our own as parent: where the note stands in its next request."""
        caller = Caller(cwd=str(self.stage.folder))
        told = await self._told(self.document["fork"]["parent"])
        parent = (await self.sidechat.native(caller)).id

        async def goes_on(message: str) -> None:
            await self.sidechat.converse(caller, message, session=parent)

        asked, later = questions(told[:1])
        await goes_on(words.brief(f"{told[0].user} {told[0].assistant}", 400))
        before = scenes.messages(await self.sidechat.next_request(caller, parent))
        fork = await self.visitor.call("fork", parent=parent)
        await self.visitor.call("converse", session=fork["session"], message=asked)
        await goes_on(asked)
        note = await self.visitor.call("merge", session=fork["session"])
        await goes_on(later)
        lines = await self.sidechat.next_request(caller, parent)
        how = "of a session of our own, which went on before and after the merge"
        self.show(*scenes.title(6, "The next request", how), *scenes.request(lines, len(before)))
        self.document["native"] = {"note": note, "messages": scenes.messages(lines)}

    async def verified(self) -> str:
        """Every request rebuilt from the log alone, in a process of its own."""
        done = await anyio.run_process(
            [sys.executable, "-m", "sidechat_mcp", "replay", "--verify", "--json"],
            env=dict(self.stage.environ),
            cwd=self.stage.folder,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        try:
            found: Mapping[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise OutsideError("The replay check gave no answer.", then="Try again.") from None
        verdict = str(found.get("verdict", "failed"))
        requests = sum(one["requests"] for one in found.get("sessions", ()))
        rebuilt = f"{words.count(requests, 'request')} rebuilt from the log alone"
        self.show(*scenes.title(7, "Check", rebuilt), f"replay: {verdict}")
        self.document["replay"] = verdict
        return verdict

    async def _asked(self, session: str, question: str) -> dict[str, Any]:
        answer = await self.visitor.call("converse", session=session, message=question)
        self.show(*scenes.exchange(question, answer))
        return {"question": question, **answer}

    async def _told(self, session: str) -> Sequence[Told]:
        """The turns of a session, as the server reads them out."""
        said: dict[int, dict[str, list[str]]] = {}
        start: int | None = 1
        while start is not None:
            arguments = {"session": session, "from": start, "limit": 100}
            page = await self.visitor.call("read_session", **arguments)
            for one in page["turns"]:
                if one["turn"] is not None:
                    said.setdefault(one["turn"], {}).setdefault(one["role"], []).append(one["text"])
            start = page["next"]
        return [
            Told(number, "\n".join(one.get("user", [])), "\n".join(one.get("assistant", [])))
            for number, one in sorted(said.items())
        ]
