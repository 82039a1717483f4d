"""Connections on which no request comes to its end: somebody sends it byte by byte, or not at all.
The web server gives up only those that are silent after an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PATIENCE = 10.0
"""Seconds that a request's head has to come in."""
PAUSE = 2.0
"""Seconds between two looks."""


class Loiterers:
    """`since` when each connection waits, behind which of its requests."""

    def __init__(self) -> None:
        self._since: dict[Any, tuple[float, Any]] = {}

    def give_up(self, connections: Iterable[Any], now: float) -> None:
        """Close those that have been waiting for a request for too long. A connection is one of
        the web server's protocols; what it does not show of itself is taken for being at work."""
        waiting: dict[Any, tuple[float, Any]] = {}
        for connection in connections:
            request = getattr(connection, "cycle", _BUSY)
            if request is not None and not getattr(request, "response_complete", False):
                continue
            since, before = self._since.get(connection, (now, request))
            if before is not request:
                since = now
            if now - since < PATIENCE:
                waiting[connection] = since, request
            else:
                connection.transport.close()
        self._since = waiting


_BUSY = object()
