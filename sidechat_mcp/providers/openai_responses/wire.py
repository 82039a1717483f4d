"""How the Responses API is spoken to."""

from __future__ import annotations

from functools import partial

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.providers.exchange.speech import Wire, bearer
from sidechat_mcp.providers.openai_responses.answer import Incoming
from sidechat_mcp.providers.openai_responses.request import WIRE, encode

FORM = "1"
"""To be raised with any change of the bytes that a context gives."""


def wire(who: str, model: str) -> Wire:
    def answer(_: Context) -> Incoming:
        return Incoming(who)

    return Wire(WIRE, "/responses", partial(encode, model=model), answer, bearer, FORM)
