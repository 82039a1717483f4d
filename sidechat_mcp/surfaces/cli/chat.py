"""A conversation with one side session, line by line.

The person's side runs in the main thread, where the terminal's line editing and Ctrl-C work as
everywhere; the session's side runs in an event loop beside it."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeVar

from anyio import CancelScope
from anyio.from_thread import BlockingPortal, start_blocking_portal

from sidechat_mcp.errors import InvalidRequest, SidechatError
from sidechat_mcp.sidechat.reports import Caller, Note
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces import shapes
from sidechat_mcp.surfaces.cli import words
from sidechat_mcp.surfaces.cli.commands import (
    LONGEST,
    SHORTER,
    Desk,
    code_of,
    forked,
    merged,
    streamed,
)
from sidechat_mcp.surfaces.cli.terminal import Styled, Terminal

T = TypeVar("T")
_COMMAND = re.compile(r"(/[a-z]+)(?:\s+(.*))?", re.DOTALL)
_SHOWN = 32
"""How much of a title fits into a prompt."""
HELP = (
    "  /merge       take one note of this talk back to the parent",
    "  /note        only show that note; /note TEXT takes back your own words",
    "  /quit        leave, as Ctrl-D does; the side session stays",
    "  Ctrl-C       stop an answer; a line that ends with \\ goes on in the next one",
)


class Stopped(Exception):
    """The person stopped what was running; it has been closed."""


class Left(Exception):
    """The person wants to leave."""


def chat(
    open: Callable[[], AbstractAsyncContextManager[Sidechat]],
    args: Namespace,
    terminal: Terminal,
) -> int:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open()) as sidechat,
    ):
        terminal.leave = sidechat.leave
        desk = Desk(sidechat, Caller(cwd=os.getcwd()), terminal)
        # One document at the end and a talk on the screen do not go together.
        typed = sys.stdin.isatty() and not terminal.json
        return Talk(portal, desk, typed).through(args.session)


@dataclass(slots=True)
class Talk:
    """`typed` says that a person types; else a program writes lines into a pipe, and the first
    line that fails ends the talk with its exit code. A turn that the model's side ended is no such
    line, but a talk that ends with one is no success either."""

    portal: BlockingPortal
    desk: Desk
    typed: bool
    session: str = ""
    title: str = ""
    failed: int = 0
    """The exit code of the last turn."""
    said: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Answers and notes, for the document of `--json`."""

    def through(self, session: str | None) -> int:
        terminal = self.desk.terminal
        self._begin(session)
        status = 0
        with suppress(Left):
            while (status == 0 or self.typed) and not terminal.lost:
                status = self._one(self._line())
        if terminal.json and status == 0:
            terminal.document({"session": self.session, "said": self.said})
        return (0 if self.typed else status) or self.failed

    def _begin(self, session: str | None) -> None:
        """Find the session that is meant; where there is none yet, fork one."""
        desk = self.desk
        try:
            self._turn_to(session)
            if session is None and not self.typed and not desk.terminal.json:
                desk.terminal.tell(words.chosen(self.title, self.session))
        except InvalidRequest:
            if session is not None:
                raise
            report = self._wait(lambda: forked(desk, Namespace(parent=None, file=None)))
            desk.terminal.tell(*words.fork(report), "")
            self._turn_to(report.session)
        if self.typed:
            hint = Styled("/merge takes a note back, /help says more, Ctrl-D leaves.", "dim")
            desk.terminal.tell(("Side session ", Styled(self.session, "bold"), "."), (hint,))

    def _turn_to(self, session: str | None) -> None:
        desk = self.desk
        self.session, self.title = self._wait(lambda: desk.sidechat.meant(desk.caller, session))

    def _line(self) -> str:
        """What is said next; `\\` at the end of a typed line joins the next one to it."""
        lines: list[str] = []
        while True:
            try:
                line = self._read("… " if lines else f"{self._shown_title()} › ")
            except EOFError:
                if self.typed:
                    self.desk.terminal.tell("")
                raise Left from None
            except KeyboardInterrupt:
                if not self.typed or self.desk.terminal.leaving:
                    raise
                self.desk.terminal.tell("", (Styled("Ctrl-D leaves.", "dim"),))
                return ""
            if not (self.typed and line.endswith("\\")):
                return "\n".join([*lines, line])
            lines.append(line[:-1])

    def _shown_title(self) -> str:
        return self.title if len(self.title) <= _SHOWN else self.title[: _SHOWN - 1] + "…"

    def _read(self, prompt: str) -> str:
        """One line without its end. Raises EOFError when there is none."""
        styled = Styled(prompt, "cyan")
        if self.typed and sys.stdout.isatty():
            # input() edits lines once this module is there; not every Python has it.
            with suppress(ImportError):
                importlib.import_module("readline")
            return input(self.desk.terminal.prompt(styled))
        if self.typed:
            self.desk.terminal.ask(styled)
        line = sys.stdin.readline(LONGEST + 1)
        if not line:
            raise EOFError
        if len(line) > LONGEST:
            raise InvalidRequest(f"A line is too long (over {LONGEST:,} characters).", then=SHORTER)
        return line.rstrip("\r\n")

    def _one(self, line: str) -> int:
        """Carry out one line; answers the exit code it would have as a command."""
        terminal = self.desk.terminal
        try:
            found = _COMMAND.fullmatch(line)
            if found is not None:
                self._command(found[1], (found[2] or "").strip())
            elif line.strip():
                self._say(line.strip())
        except Stopped:
            terminal.tell((Styled("Stopped; that turn is closed.", "yellow"),))
            if not self.typed or terminal.leaving:
                raise KeyboardInterrupt from None
        except KeyboardInterrupt:
            # It came when the answer was there already.
            if not self.typed or terminal.leaving:
                raise
        except SidechatError as error:
            return terminal.fail(error)
        return 0

    def _say(self, text: str) -> None:
        desk = self.desk
        if desk.terminal.json:
            answer = self._wait(
                lambda: desk.sidechat.converse(desk.caller, text, session=self.session)
            )
            self.said.append(shapes.answered(answer))
        else:
            answer = self._wait(lambda: streamed(desk, text, self.session))
            desk.terminal.tell(*words.answered(answer), "")
        self.failed = code_of(answer)
        self._turn_to(self.session)

    def _command(self, name: str, text: str) -> None:
        match name, text:
            case "/quit", "":
                raise Left
            case "/help", "":
                self.desk.terminal.tell(*HELP)
            case "/note", "":
                self._noted(self._merge(draft=True))
            case "/note", own:
                self._noted(self._merge(own))
            case "/merge", "":
                self._merge_asked()
            case _:
                raise InvalidRequest(
                    f"There is no command {name!r} like that.",
                    then="/help lists them; a space before the / makes it part of a question.",
                )

    def _merge_asked(self) -> None:
        """Show the note before it is taken back, where there is somebody to look at it."""
        if self.typed:
            report = self._merge(draft=True)
            self.desk.terminal.say(report.text)
            self.desk.terminal.tell(f"Take this note back to {report.parent_name}?")
            try:
                answer = self._read("[Y/n] ")
            except (EOFError, KeyboardInterrupt):
                answer = "n"
                self.desk.terminal.tell("")
            if answer.strip().lower() not in ("", "y", "yes"):
                self.desk.terminal.tell("Kept as a draft; nothing was merged.")
                return
            self.desk.terminal.tell(*words.note(self._merge(), words.TAKE_IN_CHAT), "")
        else:
            self._noted(self._merge())

    def _merge(self, own: str | None = None, *, draft: bool = False) -> Note:
        desk = self.desk
        return self._wait(lambda: merged(desk, self.session, own, draft=draft))

    def _noted(self, report: Note) -> None:
        if self.desk.terminal.json:
            self.said.append(shapes.merged(report))
        else:
            self.desk.terminal.say(report.text)
            self.desk.terminal.tell(*words.note(report, words.TAKE_IN_CHAT), "")

    def _wait(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run `work` in the loop. Ctrl-C cancels it once and waits until it has closed what it
        opened (raises Stopped, unless it was done by then); a second Ctrl-C does not wait."""
        scopes: list[CancelScope] = []
        stopped = False

        async def run() -> T:
            with CancelScope() as scope:
                scopes.append(scope)
                if not stopped:
                    return await work()
            raise Stopped

        async def cancel() -> None:
            for scope in scopes:
                scope.cancel()

        def stop(number: int, frame: FrameType | None) -> None:
            nonlocal stopped
            if stopped:
                self.desk.terminal.leaving = True
                raise KeyboardInterrupt
            stopped = True
            self.portal.start_task_soon(cancel)

        # An exception out of a signal could come before there is anything to cancel.
        before = signal.signal(signal.SIGINT, stop)
        try:
            return self.portal.start_task_soon(run).result()
        finally:
            signal.signal(signal.SIGINT, before)
