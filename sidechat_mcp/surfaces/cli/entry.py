"""One command, from its words to its exit code. Every error ends here, as one sentence.

Heavy modules are imported where a command needs them: `--help` must not wait for a database."""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from types import FrameType
from typing import TYPE_CHECKING, cast

from sidechat_mcp.errors import NewerSchema, SidechatError
from sidechat_mcp.surfaces.cli.arguments import parse
from sidechat_mcp.surfaces.cli.terminal import INTERRUPTED, Terminal

if TYPE_CHECKING:
    from sidechat_mcp.sidechat.service import Sidechat
    from sidechat_mcp.surfaces.cli.commands import Desk

Open = Callable[[], AbstractAsyncContextManager["Sidechat"]]
ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
REPORT = "Please report it: set SIDECHAT_DEBUG=1 to see the details."


def run(argv: Sequence[str], *, open: Open | None = None, terminal: Terminal | None = None) -> int:
    """Carry out `argv` and answer the exit code: 0; 2 InvalidRequest; 3 Conflict; 4 beyond our
    walls or unexpected; 130 interrupted. `open` gives the feature (else the configured one)."""
    alone = terminal is None
    if terminal is None:
        terminal = Terminal.of_process()
        _end_like_ctrl_c(terminal)
    terminal.json = "--json" in argv
    try:
        status = _carried_out(parse(argv), open or configured, terminal)
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 0
    except BaseException as error:
        if alone and isinstance(_innermost(error), KeyboardInterrupt):
            _heed_no_more()
        status = _failed(terminal, error)
    status = terminal.close(status)
    if alone and status == INTERRUPTED:
        # All is closed; a thread that is stuck in a read must not keep the process.
        os._exit(status)
    return status


def configured() -> AbstractAsyncContextManager[Sidechat]:
    """The feature over the store that environment and file name."""
    from sidechat_mcp.bootstrap import open_sidechat
    from sidechat_mcp.config import load

    return open_sidechat(load(os.environ))


def _carried_out(args: Namespace, open: Open, terminal: Terminal) -> int:
    match args.command:
        case "serve":
            from sidechat_mcp.surfaces.cli.serving import serve

            return serve(args, terminal)
        case "setup":
            from sidechat_mcp.surfaces.cli.setting_up import setup

            return setup(args, terminal)
        case "chat":
            from sidechat_mcp.surfaces.cli.chat import chat

            return chat(open, args, terminal)
        case "doctor":
            from sidechat_mcp.surfaces.cli.doctor import doctor

            return doctor(args, terminal)
        case "demo":
            from sidechat_mcp.surfaces.cli.demo import demo

            return demo(args, terminal)
        case None:
            return _carried_out(parse(["--help"]), open, terminal)
        case _:
            return _asked(args, open, terminal)


def _asked(args: Namespace, open: Open, terminal: Terminal) -> int:
    import anyio

    from sidechat_mcp.sidechat.reports import Caller
    from sidechat_mcp.surfaces.cli import commands

    by_name: dict[str, Callable[[Desk, Namespace], Awaitable[int]]] = {
        "fork": commands.fork,
        "ask": commands.ask,
        "merge": commands.merge,
        "sessions": commands.sessions,
        "show": commands.show,
        "log": commands.log,
        "forget": commands.forget,
        "replay": commands.replay,
    }

    async def journey() -> int:
        async with open() as sidechat:
            terminal.leave = sidechat.leave
            if isinstance(sidechat.unwritable, NewerSchema):
                terminal.tell(str(sidechat.unwritable))
            desk = commands.Desk(sidechat, Caller(cwd=os.getcwd()), terminal)
            return await by_name[args.command](desk, args)

    commands.listen(args, terminal)
    return anyio.run(journey)


def _heed_no_more() -> None:
    """We are leaving already: one more signal must not meet us in the middle of that."""
    for name in ENDINGS:
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_IGN)


def _end_like_ctrl_c(terminal: Terminal) -> None:
    """A request to end closes what is open, as Ctrl-C does."""

    def end(number: int, frame: FrameType | None) -> None:
        terminal.leaving = True
        terminal.leave()
        signal.raise_signal(signal.SIGINT)

    for name in ENDINGS[1:]:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def _failed(terminal: Terminal, error: BaseException) -> int:
    inner = _innermost(error)
    if os.environ.get("SIDECHAT_DEBUG"):
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    match inner:
        case SidechatError():
            return terminal.fail(inner)
        case KeyboardInterrupt():
            return terminal.refuse("interrupted", "Interrupted.", "", INTERRUPTED)
        case _:
            what = f"Something unexpected went wrong ({type(inner).__name__}: {inner})."
            return terminal.refuse("unexpected", what, REPORT, 4)


def _innermost(error: BaseException) -> BaseException:
    """What a task group was left for: our own error, else an interrupt, else the first one."""
    leaves = list(_leaves(error))
    for kind in (SidechatError, KeyboardInterrupt):
        for leaf in leaves:
            if isinstance(leaf, kind):
                return leaf
    return leaves[0]


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for one in cast("BaseExceptionGroup[BaseException]", error).exceptions:
        yield from _leaves(one)
