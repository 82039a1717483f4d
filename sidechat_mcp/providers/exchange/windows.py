"""Asks a server how many tokens a request to it may have: in bounded time, at the configured host
only, and nothing that costs. A server that does not say is not waited for and not guessed about."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import anyio
import anyio.to_thread
import httpx2

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.providers.exchange.letter import client
from sidechat_mcp.providers.exchange.speech import Access, Wire
from sidechat_mcp.providers.wire import windows

PATIENCE = 3.0
"""Seconds for all of it, the key included."""
AGAIN = 60.0
"""Seconds for which a server that did not say is not asked again."""
MOST = 16 * 1024 * 1024
"""Bytes of an answer that are read."""
_NOTHING = Context(RequestHeader(), ())


@dataclass(slots=True)
class Window:
    """What one model's server said, once it has. `patience` as PATIENCE."""

    patience: float = PATIENCE
    _known: int | None = None
    _asked: float | None = None

    async def ask(self, speech: Wire, access: Access, model: str) -> int | None:
        """Tokens of one request; None when nobody says. Raises nothing."""
        if self._known is not None:
            return self._known
        if self._asked is not None and time.monotonic() < self._asked + AGAIN:
            return None
        self._asked = time.monotonic()
        with anyio.move_on_after(self.patience):
            self._known = await _said(speech, access, model)
        return self._known


async def _said(speech: Wire, access: Access, model: str) -> int | None:
    key = await anyio.to_thread.run_sync(access.key, abandon_on_cancel=True)
    if key is None and access.missing:
        return None
    headers = dict(speech.headers(_NOTHING, key))
    where = access.endpoint
    try:
        async with client(where) as asking:
            found = await _got(asking, where.url + speech.models, headers)
            if (tokens := windows.listed(found, model)) is not None:
                return tokens
            if (place := windows.elsewhere(found, model)) is None:
                return None
            path, read = place
            root = where.url.removesuffix("/v1")
            return read(await _got(asking, root + path, headers), model) or None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
        return None


async def _got(
    asking: httpx2.AsyncClient, url: str, headers: Mapping[str, str]
) -> Mapping[str, Any]:
    """The JSON object that is there; an empty one for anything else."""
    async with asking.stream("GET", url, headers=dict(headers)) as response:
        raw = b""
        async for piece in response.aiter_bytes():
            raw += piece
            if len(raw) > MOST:
                return {}
    try:
        found = json.loads(raw) if response.status_code == 200 else None
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
