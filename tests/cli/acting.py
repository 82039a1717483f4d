"""A Sidechat that says its lines, and ways to run the command line over it.

`python -m tests.cli.acting ARGS…` is the command line in a process of its own over an actor; one
whose answers begin and never end when SIDECHAT_ACTING is `waiting`, or `stuck` in a thread."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest

from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import InvalidRequest, OutsideError, SessionNotFound, SidechatError
from sidechat_mcp.ports.client import Found
from sidechat_mcp.sidechat.reports import (
    AgentReport,
    Answer,
    Caller,
    ForkReport,
    Listed,
    Listing,
    Note,
    Reading,
    Replayed,
    Said,
    SpentReport,
    UsageReport,
)
from sidechat_mcp.sidechat.service import Emit, Sidechat
from sidechat_mcp.surfaces.cli.entry import run
from sidechat_mcp.surfaces.cli.terminal import Terminal

CHILD, PARENT = SessionId("child"), SessionId("parent")
FORKED = ForkReport(
    session=CHILD,
    uri="sidechat://sessions/child",
    title="Why WAL?",
    parent=PARENT,
    parent_name="claude-code:one",
    fork_seq=143,
    seed_length=144,
    turns=12,
    tokens=3214,
    tokens_method="code points / 4",
    cut_turns=1,
    cut_events=3,
    repaired=2,
    compacted=4,
    agent=AgentReport("quoting", None, "costs nothing", "reads this log only"),
    head="identical",
    head_digest="ab" * 32,
    prefix_digest="cd" * 32,
    skipped={"broken line": 1},
    notice="Answers are quotes.",
)
ANSWERED = Answer(
    CHILD, 13, "Because readers never wait.", "completed", "answered", None, "not reported"
)
SPENT = UsageReport(1200, 34, 1100, None)
NOTE = Note(
    note="n1",
    session=CHILD,
    parent=PARENT,
    parent_name="claude-code:one",
    text="WAL: readers never wait.",
    chars=24,
    cap=2000,
    seq=150,
    revision=1,
    delivery="pending",
    wrapped="<note>",
)
DRAFT = Note("", CHILD, PARENT, "claude-code:one", NOTE.text, 24, 2000, None, 0, "none")
LISTED = Listed(
    CHILD,
    FORKED.uri,
    "Why WAL?",
    PARENT,
    "claude-code:one",
    1_700_000_000_000,
    1_700_000_060_000,
    2,
    True,
)
LISTING = Listing((LISTED,), None)


@dataclass
class Actor:
    """What each verb answers, or raises; `calls` remembers what it was asked."""

    forks: Sequence[ForkReport | SidechatError] = (FORKED,)
    answer: Answer | BaseException = ANSWERED
    pieces: Sequence[str] = ()
    note: Note | SidechatError = NOTE
    titles: Mapping[str, str] = field(default_factory=lambda: {"child": "Why WAL?"})
    listing: Listing = LISTING
    found: Sequence[Found] = ()
    log: str = '{"seq":0}\n'
    replays: Sequence[Replayed] | SidechatError = (Replayed(CHILD, 3, "verified"),)
    calls: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    waiting: bool = False
    stuck: bool = False
    unwritable: OutsideError | None = None

    async def fork(
        self,
        caller: Caller,
        *,
        parent: str | None = None,
        file: Path | None = None,
        compact: bool = False,
    ) -> ForkReport:
        self.calls.append(("fork", parent, file))
        report, *rest = self.forks
        self.forks = rest or [report]
        return _given(report)

    async def converse(
        self, caller: Caller, message: str, *, session: str | None = None, emit: Emit | None = None
    ) -> Answer:
        self.calls.append(("converse", session, message))
        try:
            for piece in self.pieces:
                if emit is not None:
                    await emit(piece)
            if self.waiting:
                await anyio.sleep_forever()
            if self.stuck:
                # As a thread that reads from a disk that does not answer.
                await anyio.to_thread.run_sync(time.sleep, 60)
        except anyio.get_cancelled_exc_class():
            sys.stderr.write("[turn closed]\n")
            raise
        return _given(self.answer)

    async def merge(
        self,
        caller: Caller,
        *,
        session: str | None = None,
        note: str | None = None,
        draft: bool = False,
    ) -> Note:
        self.calls.append(("merge", session, note, draft))
        return DRAFT if draft else _given(self.note)

    async def meant(self, caller: Caller, session: str | None) -> tuple[SessionId, str]:
        if session is None and self.titles:
            session = next(iter(self.titles))
        if session is None:
            raise InvalidRequest("There is no side session to continue here.", then="Fork one.")
        if session not in self.titles:
            raise SessionNotFound(session)
        return SessionId(session), self.titles[session]

    async def parents(self, caller: Caller, limit: int) -> Sequence[Found]:
        return self.found[:limit]

    async def sessions(self, caller: Caller, **asked: Any) -> Listing:
        self.calls.append(("sessions", asked))
        return self.listing

    async def spent(self, caller: Caller, session: str) -> SpentReport:
        if session != "child":
            raise SessionNotFound(session)
        return SpentReport(UsageReport(10, 5, 8, None), "hit 8", "same")

    async def read(
        self, caller: Caller, session: str, *, start: int | None = None, limit: int = 20
    ) -> Reading:
        """Two pages of a turn each."""
        if session not in ("child", "parent"):
            raise SessionNotFound(session)
        said = Said(start, "user", f"Question {start}")
        return Reading(SessionId(session), (said,), 2 if start == 1 else None)

    async def markdown(self, caller: Caller, session: str) -> str:
        if session != "child":
            raise SessionNotFound(session)
        return "# Why WAL?\n"

    async def ndjson(self, caller: Caller, session: str) -> str:
        return self.log

    async def forget(self, caller: Caller, session: str) -> SessionId:
        return SessionId(session)

    async def replay(self, caller: Caller, session: str | None = None) -> Sequence[Replayed]:
        if isinstance(self.replays, SidechatError):
            raise self.replays
        return self.replays

    def leave(self) -> None:
        sys.stderr.write("[leaving]\n")


def _given(answer: Any) -> Any:
    if isinstance(answer, BaseException):
        raise answer
    return answer


@dataclass(frozen=True)
class Done:
    """What a command answered."""

    status: int
    out: str
    err: str


class Screen(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        return True


def command(
    *argv: str,
    actor: Actor | None = None,
    said: str = "",
    screen: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Done:
    """One command in this process, with `said` on stdin, on a pipe or a `screen`."""
    out, err = (Screen(), Screen()) if screen else (io.StringIO(), io.StringIO())
    terminal = Terminal(out, err, environ or {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(said))
        status = run(argv, open=lambda: acted(actor or Actor()), terminal=terminal)
    return Done(status, out.getvalue(), err.getvalue())


@asynccontextmanager
async def acted(actor: Actor) -> AsyncGenerator[Sidechat]:
    await anyio.lowlevel.checkpoint()
    yield cast(Sidechat, actor)


if __name__ == "__main__":
    mood = os.environ.get("SIDECHAT_ACTING")
    lines = Actor(pieces=["Because ", "readers "], waiting=mood == "waiting", stuck=mood == "stuck")
    sys.exit(run(sys.argv[1:], open=lambda: acted(lines)))
