"""The connections that only read: one for small questions, answered on the spot, and as many as
there are threads for large ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw
from anyio import to_thread

from sidechat_mcp.core.events import Event
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import DamagedLog
from sidechat_mcp.stores.sqlite import reads
from sidechat_mcp.stores.sqlite.connection import Connection, for_reading, version
from sidechat_mcp.stores.sqlite.faults import closed, newer, outside
from sidechat_mcp.stores.sqlite.files import Files
from sidechat_mcp.stores.sqlite.reads import Piece, Stretch
from sidechat_mcp.stores.sqlite.recent import Recent

T = TypeVar("T")

_OUTSIDE = (apsw.Error, OSError, UnicodeDecodeError)
"""What the file itself is to blame for: also text that is none any more."""
_TROUBLES = (*_OUTSIDE, DamagedLog, LookupError, TypeError, ValueError)
"""What a question may meet; whatever does not fit the schema that this version knows, too."""
AT_ONCE = 300
"""Rows from which a question is asked in a thread: fewer take less time than the handing over."""


class Reader:
    """`reading` gives a connection to the database."""

    def __init__(
        self,
        files: Files,
        connection: Connection,
        *,
        newest: int,
        cache_bytes: int,
        reading: Callable[[Path], Connection] = for_reading,
    ) -> None:
        self._files, self._newest, self._reading = files, newest, reading
        self._connection: Connection | None = connection
        self._idle: list[Connection] = []
        self._closed = False
        self.recent = Recent(cache_bytes)

    def ask(self, question: Callable[..., T], *args: Any) -> T:
        """Raises: what `question` raises, StoreError."""
        if self._closed:
            raise closed()
        try:
            if self._connection is None:
                self._connection = self._reading(self._files.database)
            return question(self._connection, *args)
        except _TROUBLES as error:
            if self._is_newer(self._connection):
                raise newer() from error
            if not isinstance(error, _OUTSIDE):
                raise
            self._drop()
            raise outside(error) from error

    async def ask_in_thread(self, question: Callable[..., T], *args: Any) -> T:
        return await to_thread.run_sync(self._ask_apart, question, args)

    async def log(
        self, session: SessionId, start: int, stop: int | None, *, verify: bool
    ) -> Sequence[Event]:
        """As `LogStore.read`."""
        found = self.ask(reads.pieces, session, start, stop)
        if verify:
            self.ask(reads.verify_headers, found)
            whole: list[tuple[Sequence[Event], Piece | None]] = [((), piece) for piece in found]
        else:
            whole = [self.recent.look(piece) for piece in found]
        missing = [piece for _, piece in whole if piece is not None]
        try:
            read = await self._stretches(missing, verify)
        except DamagedLog:
            # No damage if it was forgotten between our two questions.
            self.ask(reads.row, session)
            raise
        events: list[Event] = []
        for here, piece in whole:
            events += here
            if piece is not None:
                events += read[piece].events
                self.recent.keep(piece, read[piece])
        return events

    def close(self) -> None:
        self._closed = True
        for connection in (self._connection, *self._idle):
            if connection is not None:
                with suppress(apsw.Error):
                    connection.close()
        self._idle.clear()

    async def _stretches(self, missing: Sequence[Piece], verify: bool) -> dict[Piece, Stretch]:
        if sum(piece.stop - piece.start for piece in missing) > AT_ONCE:
            return await self.ask_in_thread(_read_all, missing, verify)
        return self.ask(_read_all, missing, verify) if missing else {}

    def _ask_apart(self, question: Callable[..., T], args: Sequence[Any]) -> T:
        if self._closed:
            raise closed()
        connection: Connection | None = None
        try:
            connection = self._idle.pop() if self._idle else self._reading(self._files.database)
            answer = question(connection, *args)
        except _TROUBLES as error:
            is_newer = self._is_newer(connection)
            if connection is not None:
                connection.close()
            if is_newer:
                raise newer() from error
            if not isinstance(error, _OUTSIDE):
                raise
            raise outside(error) from error
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)
        return answer

    def _is_newer(self, connection: Connection | None) -> bool:
        """Whether a newer version wrote what could not be read: then it is no damage."""
        with suppress(apsw.Error):
            return connection is not None and version(connection) > self._newest
        return False

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()


def _read_all(
    connection: Connection, missing: Sequence[Piece], verify: bool
) -> dict[Piece, Stretch]:
    return {piece: reads.stretch(connection, piece, verify=verify) for piece in missing}
