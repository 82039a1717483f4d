"""What the server says of itself: short lines on stderr, never a request's words, and never
waited for, because a client may have stopped reading them."""

from __future__ import annotations

import logging
import os
import select
from types import TracebackType

LONGEST = 2000
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\n", " ⏎ ")[:LONGEST]

    def formatException(self, ei: ExcInfo) -> str:
        """Only what kind it was and where: an exception's words may be somebody's."""
        kind, _, where = ei
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        place = where.tb_frame.f_code.co_qualname if where is not None else "?"
        return f"({kind.__name__ if kind else '?'} in {place})"


class _Stderr(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._ready = select.poll()
        self._ready.register(2, select.POLLOUT)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self._ready.poll(0):
                line = self.format(record).encode("utf-8", "backslashreplace")
                os.write(2, line[: select.PIPE_BUF - 1] + b"\n")
        except Exception:
            pass  # Nobody is there to hear it.


def to_stderr() -> None:
    """Send warnings and worse of the whole process to stderr."""
    handler = _Stderr()
    handler.setFormatter(_Line("sidechat: %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
