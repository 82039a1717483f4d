"""A terminal with a program on it, and somebody who types and reads."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

PATIENCE = 20.0
# The program must own its terminal, so that a typed Ctrl-C becomes a signal.
_OWN = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
)


@dataclass
class Typist:
    """`seen` is everything the screen showed so far."""

    process: subprocess.Popen[bytes]
    screen: int
    seen: str = ""
    _read: int = 0
    _half: bytes = field(default=b"")

    def types(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def reads(self, wanted: str) -> str:
        """Wait until the screen shows `wanted` (after what was read before); answers what it
        showed up to there."""
        until = time.monotonic() + PATIENCE
        while (place := self.seen.find(wanted, self._read)) < 0:
            if not self._more(until - time.monotonic()):
                raise AssertionError(f"never shown: {wanted!r}; shown: {self.seen!r}")
        start, self._read = self._read, place + len(wanted)
        return self.seen[start : self._read]

    def insists(self, act: Callable[[], object], wanted: str) -> None:
        """`act` until the screen shows `wanted`. Python's line editing does not notice a signal
        that comes while it looks at a key; it then waits for the next key or signal."""
        for _ in range(int(PATIENCE)):
            act()
            until = time.monotonic() + 1
            while self.seen.find(wanted, self._read) < 0 and self._more(until - time.monotonic()):
                pass
            if self.seen.find(wanted, self._read) >= 0:
                break
        self.reads(wanted)

    def leaves(self) -> int:
        """Wait for the program to end; answers its exit code."""
        until = time.monotonic() + PATIENCE
        while self._more(until - time.monotonic()):
            pass
        return self.process.wait(PATIENCE)

    def _more(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.screen], [], [], max(seconds, 0))
        try:
            piece = os.read(self.screen, 4096) if ready else b""
        except OSError:  # Linux says so when the program has left its terminal.
            piece = b""
        whole = self._half + piece
        text = whole.decode("utf-8", "ignore")
        self._half = whole[len(text.encode()) :]
        self.seen += text.replace("\r\n", "\n")
        return bool(piece)


@contextmanager
def terminal(
    *argv: str, environ: Mapping[str, str] | None = None, cwd: str | None = None
) -> Generator[Typist]:
    """`python ARGV…` on a terminal of its own, ended with the context."""
    ours, theirs = os.openpty()
    plain = {**os.environ, "TERM": "dumb", "PYTHONUTF8": "1", **(environ or {})}
    process = subprocess.Popen(
        [sys.executable, "-c", _OWN, *argv],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=plain,
        cwd=cwd,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Typist(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
