"""The server over the pipes of the client that started it.

Nothing but the standard library is imported before the wire is taken away from stdout, so that no
stray print of anybody's can reach the client. What needs time is imported after that."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sidechat_mcp.surfaces.mcp.piping import Configured

GRACE = 1.7
"""Seconds from the wish to end until the process ends, whatever still holds it."""
ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve(*, environ: Mapping[str, str] | None = None, open: Configured | None = None) -> int:
    """Serve on stdin and stdout until the input ends or a signal asks to end; exit code 0. The
    process ends here: a thread that still waits for something must not keep it. `open` stands in
    for the configured feature."""
    for ending in ENDINGS:
        signal.signal(ending, _leave_at_once)
    reading, writing = _take_wire()
    from sidechat_mcp.surfaces.mcp.piping import configured, serve_pipes

    known = os.environ if environ is None else environ
    try:
        code = serve_pipes(reading, writing, known, open or configured)
    except KeyboardInterrupt:
        code = 0  # One more signal, when we were leaving already.
    sys.stderr.flush()
    os._exit(code)


def end_soon() -> None:
    """From now on the process has GRACE seconds to end in good order."""
    last = threading.Timer(GRACE, os._exit, (0,))
    last.daemon = True
    last.start()


def _take_wire() -> tuple[int, int]:
    """The descriptors of the wire. In their old places stand nothing to read, and stderr."""
    reading = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    writing = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    return reading, writing


def _leave_at_once(number: int, frame: FrameType | None) -> None:
    """Before anything is open there is nothing to close."""
    os._exit(0)
