"""Side sessions for AI assistants: fork, converse, merge back.

`open()` gives a `Sidechat` over the configured store; everything else is reached through it.
Importing this package loads nothing heavy: what answers is imported when it is opened."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sidechat_mcp.core.ids import EventId, SessionId, TurnId
from sidechat_mcp.errors import Conflict, InvalidRequest, OutsideError, SidechatError

if TYPE_CHECKING:
    from sidechat_mcp.sidechat.service import Sidechat

__all__ = [
    "Conflict",
    "EventId",
    "InvalidRequest",
    "OutsideError",
    "SessionId",
    "SidechatError",
    "TurnId",
    "__version__",
    "open",
]

__version__ = "0.1.0"


@asynccontextmanager
async def open(environ: Mapping[str, str] | None = None) -> AsyncGenerator[Sidechat]:
    """The feature with the settings of `environ` (default: this process's environment).

    Raises: InvalidRequest (a setting), StoreError, NewerSchema."""
    from sidechat_mcp import bootstrap, config

    given = os.environ if environ is None else environ
    async with bootstrap.open_sidechat(config.load(given), environ=given) as sidechat:
        yield sidechat
