"""Bytes → server-sent events, however the bytes are cut into chunks. Pure.

As the HTML standard has it: lines end with LF, CR or CRLF and nothing else; an event without its
blank line at the end never happened."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST = 64 * 1024 * 1024
"""Bytes of one event at most; more is refused, so that no stream fills the memory."""
_LINE_END = re.compile(b"[\r\n]")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """`name` is the `event` field (`message` without one), `data` its data lines."""

    name: str
    data: str


@dataclass(slots=True)
class Decoder:
    """Takes chunks and gives the events that they complete."""

    _line: bytearray = field(default_factory=bytearray)
    _after_cr: bool = False
    _first: bool = True
    _name: str = ""
    _data: list[str] = field(default_factory=list[str])
    _size: int = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Raises ValueError for an event of more than 64 MiB."""
        events: list[ServerEvent] = []
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        start = 0
        while found := _LINE_END.search(chunk, start):
            end = found.start()
            self._line += chunk[start:end]
            events += self._take()
            start = end + 1
            if chunk[end] == 0x0D:
                self._after_cr = start == len(chunk)
                start += chunk[start : start + 1] == b"\n"
        self._line += chunk[start:]
        if self._size + len(self._line) > MOST:
            raise ValueError("an event of the stream is larger than 64 MiB")
        return events

    def _take(self) -> list[ServerEvent]:
        line = self._line.decode("utf-8", "replace")
        self._size += len(self._line)
        self._line.clear()
        if self._first:
            self._first = False
            line = line.removeprefix("\ufeff")
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        return []

    def _dispatch(self) -> list[ServerEvent]:
        event = ServerEvent(self._name or "message", "\n".join(self._data))
        happened = bool(self._data)
        self._name, self._size = "", 0
        self._data.clear()
        return [event] if happened else []
