"""How Chat Completions are spoken to, at OpenAI's and everybody else's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.providers.exchange.speech import Wire, bearer
from sidechat_mcp.providers.openai_chat.answer import Incoming
from sidechat_mcp.providers.openai_chat.request import WIRE, encode
from sidechat_mcp.providers.wire.pieces import spell

FORM = "1"
"""To be raised with any change of the bytes that a context gives."""


def wire(who: str, model: str, defaults: Mapping[str, Any] | None = None) -> Wire:
    """`defaults` are call settings where a session's own do not say."""

    def answer(_: Context) -> Incoming:
        return Incoming(who)

    return Wire(
        WIRE,
        "/chat/completions",
        partial(encode, model=model, defaults=defaults),
        answer,
        bearer,
        f"{FORM} {spell(defaults).decode()}" if defaults else FORM,
    )
