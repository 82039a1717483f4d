"""Starting a client of our own accord: its environment, and that it never outlives us."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, cast

import anyio
from anyio.abc import Process

GUARD = "SIDECHAT_HOSTED"
"""Set for whatever we start, so that our own server inside it refuses every call (law 15)."""

PARTING = 1.0
"""Seconds that a program may take to end by itself."""

_SCRUBBED = ("CLAUDE_CODE_MESSAGING_", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_LAUNCHED_BY")

# Ends with us, however we end: the kernel sends the signal when the thread that started it is
# gone, and end of input tells it everywhere else.
_DYING = (
    "import ctypes,os,sys;"
    "ctypes.CDLL(None).prctl(1,9);"
    "os.getppid()==int(sys.argv[1]) or os._exit(1);"
    "os.execvpe(sys.argv[2],sys.argv[2:],os.environ)"
)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` for a client that we start: guarded, and without what speaks for the session
    that started us."""
    kept = {name: value for name, value in environ.items() if not name.startswith(_SCRUBBED)}
    return {**kept, GUARD: "1"}


async def start(argv: Sequence[str], cwd: str | None, environ: Mapping[str, str]) -> Process:
    """A process with its input and output piped, in a group of its own, errors dropped."""
    command = list(argv)
    if sys.platform == "linux":
        command = [sys.executable, "-c", _DYING, str(os.getpid()), *command]
    return await anyio.open_process(
        command,
        cwd=cwd if cwd is not None and await anyio.Path(cwd).is_dir() else None,
        env=environment(environ),
        stderr=DEVNULL,
        start_new_session=True,
    )


def end(process: Process) -> None:
    """Kill it and everything it started, at once."""
    if process.returncode is not None:
        return
    started = _below(process.pid)
    try:
        os.killpg(process.pid, 9)
    except (ProcessLookupError, PermissionError):
        process.kill()
    for pid in started:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, 9)


def _below(pid: int) -> list[int]:
    """What a process started, and what that started: a client may put its servers into groups of
    their own. Nothing where the system does not tell."""
    found: list[int] = []
    tasks = f"/proc/{pid}/task"
    with suppress(OSError):  # It may end while we look.
        for task in os.listdir(tasks):
            with suppress(OSError, ValueError):
                for child in map(int, Path(tasks, task, "children").read_text().split()):
                    found += [child, *_below(child)]
    return found


async def leave(process: Process) -> None:
    """Tell it that there is nothing more to come, and kill it only when it does not end soon: what
    it keeps of its own while it runs, it can then take away."""
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        if process.stdin is not None:
            await process.stdin.aclose()
    with anyio.move_on_after(PARTING):
        await process.wait()
    if process.returncode is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, 9)  # What it left behind of its group.
    await gone(process)


async def gone(process: Process) -> None:
    """Kill it and wait until nothing of it is left, also when we are being cancelled."""
    end(process)
    with anyio.CancelScope(shield=True):
        await process.aclose()


def fields(found: object) -> dict[str, Any]:
    """A JSON object's fields; of anything else, none."""
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def private(folder: Path) -> None:
    """Make `folder`, and what is missing above it, for its owner alone."""
    if not folder.is_dir():
        private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
