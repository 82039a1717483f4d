"""What every agent owes that a client answers itself (`ports.client.Hosted`), as tests against a
program that plays the client.

Derive a class from `HostedContract` and give it the fixture `stage`. Linux only: processes are
looked up in /proc."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio

from sidechat_mcp.clients.briefing import EARLIER
from sidechat_mcp.clients.waiting import MOST
from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.core.framing import FRAMING, SOURCE
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.client import Hosted

PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Stage:
    """`hosted` is the agent, `gone` waits until nothing is left of what was closed. `started` gives
    the pids of all forks that it started so far, `told` all that they were asked, in order; a fork
    answers its Nth question `said N: WORDS`. `left` names what forks keep on disk of ours."""

    hosted: Hosted
    gone: Callable[[], Awaitable[None]]
    started: Callable[[], Sequence[int]]
    told: Callable[[], Sequence[str]]
    left: Callable[[], Sequence[str]] = lambda: ()

    @property
    def alive(self) -> list[int]:
        """Of those that were started, the ones of which anything is left, a zombie too."""
        return [pid for pid in self.started() if Path(f"/proc/{pid}").exists()]

    async def ask(self, session: str, *said: str) -> str:
        """The answer to the last of `said`, in which person and agent take turns."""
        reply = Reply(TurnId("t"))
        with anyio.fail_after(PATIENCE):
            async with self.hosted.stream(side(session, *said)) as chunks:
                async for chunk in chunks:
                    reply.fold(chunk)
        return reply.text


def side(session: str, *said: str) -> Context:
    """A side session's context: one inherited turn, the framing, then what was said."""
    own = [Message("context", text(FRAMING), source=SOURCE)]
    for place, words in enumerate(said):
        role: Literal["assistant", "user"] = "assistant" if place % 2 else "user"
        own.append(Message(role, text(words)))
    inherited = [Message("user", text("Q?")), Message("assistant", text("A."))]
    return Context(RequestHeader(), [*inherited, *own], 2, session)


class HostedContract:
    """How many forks wait, what is left of the others, and how one comes back."""

    async def test_only_so_many_forks_wait_and_the_ones_that_were_talked_with_last(
        self, stage: Stage
    ) -> None:
        for n in range(MOST):
            await stage.ask(f"s{n}", "One?")
        assert len(stage.alive) == MOST
        first, second, *_ = stage.started()
        await stage.ask("s0", "One?", "said 1: One?", "Two?")  # Now `s1` is the one to go.
        await stage.ask("another", "One?")
        assert len(stage.started()) == MOST + 1
        assert first in stage.alive
        assert second not in stage.alive
        assert len(stage.alive) == MOST

    async def test_a_fork_that_was_put_away_left_nothing_and_comes_back_with_what_was_said(
        self, stage: Stage
    ) -> None:
        await stage.ask("s0", "One?")
        one = len(stage.left())
        for n in range(MOST):
            await stage.ask(f"other{n}", "One?")
        assert len(stage.left()) == one * MOST
        assert await stage.ask("s0", "One?", "said 1: One?", "Two?") == "said 1: Two?"
        told = stage.told()[-1]
        assert EARLIER in told
        assert told.startswith(FRAMING)
        assert told.endswith("user: One?\n\nassistant: said 1: One?\n\nTwo?")

    async def test_two_answers_to_one_session_at_once_leave_one_fork(self, stage: Stage) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(stage.ask, "s0", "One?")
        assert len(stage.told()) == 2
        assert len(stage.alive) == 1

    async def test_closing_ends_all_that_wait(self, stage: Stage) -> None:
        await stage.ask("s0", "One?")
        await stage.ask("s1", "One?")
        stage.hosted.close()
        with anyio.fail_after(PATIENCE):
            await stage.gone()
        assert (stage.alive, list(stage.left())) == ([], [])
