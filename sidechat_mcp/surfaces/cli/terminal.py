"""The only place that writes to the terminal. Nothing leaves it that could deceive: every piece
of text is made harmless first and coloured afterwards, so that no caller can forget it."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from sidechat_mcp.errors import Conflict, InvalidRequest, OutsideError, SidechatError

Style = Literal["bold", "dim", "green", "yellow", "red", "cyan"]
_CODES: Mapping[str, str] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of a line with a style, which is left out where colours are."""

    text: str
    style: Style


Piece = str | Styled
Line = str | tuple[Piece, ...]

_DECEIVING = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
_BEYOND_ASCII = re.compile("[^\x00-\x7e]")


def exit_code(error: SidechatError) -> int:
    """2 InvalidRequest, 3 Conflict, 4 everything beyond our walls."""
    match error:
        case InvalidRequest():
            return 2
        case Conflict():
            return 3
        case _:
            return 4


def unwritten(error: OSError) -> OutsideError:
    """An answer that its reader's side did not take, for a reason other than having left."""
    why = error.strerror or type(error).__name__
    return OutsideError(
        f"The answer could not be written ({why}).",
        then="Let it go where there is room, then try again.",
    )


def escaped(text: str, *, ascii: bool = False) -> str:
    """JSON text in which every code point that could deceive a reader (with `ascii`: every one
    beyond ASCII) is spelled `\\uXXXX`. The JSON value stays the same."""

    def spell(found: re.Match[str]) -> str:
        code = ord(found[0])
        if code <= 0xFFFF:
            return f"\\u{code:04x}"
        return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"

    return (_BEYOND_ASCII if ascii else _DECEIVING).sub(spell, text)


class Terminal:
    """Answers go to `out`, everything said about them to `err`. A reader that has left (a broken
    pipe) is no error: writing goes on into nothing. So it does where an answer cannot be written,
    but `close` tells of that."""

    def __init__(
        self, out: TextIO, err: TextIO, environ: Mapping[str, str], *, json: bool = False
    ) -> None:
        self._out, self._err, self._environ = out, err, environ
        self.json = json
        self.leaving = False
        """A signal asked the whole process to end, not only what runs now."""
        self.leave: Callable[[], None] = _nothing
        """Called before that."""
        self.lost: OutsideError | None = None
        """Something of an answer could not be written."""

    @classmethod
    def of_process(cls) -> Terminal:
        """Over the process's own streams, which no text can break whatever the locale."""
        # Started with a stream closed, Python has None there: what is written goes nowhere.
        sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
        sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr, sys.stdin):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="replace" if stream is sys.stdin else "backslashreplace")
        return cls(sys.stdout, sys.stderr, os.environ)

    def say(self, *lines: Line) -> None:
        """Lines of the answer."""
        self._write(self._out, "".join(self._spelled(self._out, line) + "\n" for line in lines))

    def tell(self, *lines: Line) -> None:
        """Lines about the answer: notices, where it went, what comes next."""
        self._write(self._err, "".join(self._spelled(self._err, line) + "\n" for line in lines))

    def ask(self, *pieces: Piece) -> None:
        """A question about the answer, whose own line goes on."""
        self._write(self._err, self._spelled(self._err, pieces))

    def stream(self, text: str) -> None:
        """A piece of an answer as it arrives."""
        self._write(self._out, self._spelled(self._out, text))

    def document(self, value: Any) -> None:
        """The one JSON document of a call with `--json`."""
        text = json.dumps(value, ensure_ascii=False, indent=2 if self._out.isatty() else None)
        self._write(self._out, self._json(text) + "\n")

    def records(self, text: str) -> None:
        """JSON lines, as they are."""
        self._write(self._out, self._json(text))

    def show(self, value: Any, *lines: Line) -> None:
        """`value` with `--json`, else `lines`."""
        if self.json:
            self.document(value)
        else:
            self.say(*lines)

    def fail(self, error: SidechatError) -> int:
        """Say what went wrong and what to do next; answers the exit code."""
        return self.refuse(error.code, error.message, error.then, exit_code(error))

    def refuse(self, code: str, message: str, then: str, status: int) -> int:
        if self.json:
            self.document({"error": {"code": code, "message": message, "next": then}})
        if not self.json or self.lost:
            self.tell((Styled(message, "red"), f" {then}" if then else ""))
        return status

    def prompt(self, *pieces: Piece) -> str:
        """`pieces` for `input()`, whose line editing must not count the colours' width."""
        return self._spelled(self._out, pieces, ("\x01", "\x02"))

    def close(self, status: int = 0) -> int:
        """Flush; what a reader that left did not take is dropped. Answers the exit code: an answer
        that could not be written is no success."""
        for stream in (self._out, self._err):
            self._write(stream, "")
        if status or self.lost is None:
            return status
        return self.fail(self.lost)

    def _json(self, text: str) -> str:
        return escaped(text, ascii=not _speaks_utf8(self._out))

    def _colours(self, stream: TextIO) -> bool:
        return (
            stream.isatty()
            and not self._environ.get("NO_COLOR")
            and self._environ.get("TERM") != "dumb"
        )

    def _spelled(self, stream: TextIO, line: Line, around: tuple[str, str] = ("", "")) -> str:
        # core.redact compiles its rules on import; `--help` must not wait for that.
        from sidechat_mcp.core.redact import harmless

        colours = self._colours(stream)
        begin, end = around
        spelled: list[str] = []
        for piece in (line,) if isinstance(line, str) else line:
            if isinstance(piece, str):
                spelled.append(harmless(piece))
            elif colours and piece.text:
                on, off = f"\x1b[{_CODES[piece.style]}m", "\x1b[0m"
                spelled.append(f"{begin}{on}{end}{harmless(piece.text)}{begin}{off}{end}")
            else:
                spelled.append(harmless(piece.text))
        return "".join(spelled)

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            if text:  # Even of nothing some files say that they are full.
                stream.write(text)
            stream.flush()
        except OSError as error:
            _drop(stream)
            if stream is self._out and not isinstance(error, BrokenPipeError):
                self.lost = unwritten(error)


def _drop(stream: TextIO) -> None:
    """Send what is left into nothing: Python would fail once more on it at exit."""
    with suppress(io.UnsupportedOperation):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


def _nothing() -> None:
    return None


def _speaks_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
