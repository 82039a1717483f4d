"""How a kind of provider is spoken to, and where and with what key one of them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.providers.exchange.endpoint import Endpoint
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.wire.answering import Answer
from sidechat_mcp.providers.wire.pieces import Request


@dataclass(frozen=True, slots=True)
class Wire:
    """How a kind of provider is spoken to. `headers` are those beside the usual ones; the key is
    None where none is needed. `form` names all that decides a body's bytes beside the context and
    the agent's name: under the same form the same context gives the same bytes, for ever."""

    name: str
    path: str
    encode: Callable[[Context], Request]
    answer: Callable[[Context], Answer]
    headers: Callable[[Context, Secret | None], Mapping[str, str]]
    form: str
    models: str = "/models"
    """Where the server describes its models, the way `path` is meant."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where and with what key; `key` looks it up when it is first needed and may block."""

    who: str
    endpoint: Endpoint
    key: Callable[[], Secret | None] = field(repr=False)
    missing: str = ""
    """What to do when there is no key; empty where none is needed."""


def bearer(context: Context, key: Secret | None) -> Mapping[str, str]:
    """The key as OpenAI and those who speak like it want it."""
    return {"authorization": f"Bearer {key.reveal()}"} if key is not None else {}
