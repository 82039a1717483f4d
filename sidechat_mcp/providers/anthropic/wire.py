"""How the Messages API is spoken to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import quote

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.providers.anthropic.answer import Incoming
from sidechat_mcp.providers.anthropic.request import WIRE, encode
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.exchange.speech import Wire

VERSION = "2023-06-01"
FORM = "1"
"""To be raised with any change of the bytes that a context gives."""


def wire(who: str, model: str, *, compared: bool = True) -> Wire:
    """`compared`: the host can say what kept it from using an earlier response's prefix."""

    def answer(context: Context) -> Incoming:
        return Incoming(who, compared and context.last_response is not None)

    return Wire(
        WIRE,
        "/v1/messages",
        partial(encode, model=model, compared=compared),
        answer,
        _headers,
        f"{FORM} compared" if compared else FORM,
        # Others' servers list their models, and do not describe one.
        "/v1/models/" + quote(model, safe="") if compared else "/v1/models",
    )


def _headers(context: Context, key: Secret | None) -> Mapping[str, str]:
    found = {"anthropic-version": VERSION}
    match context.header.settings.get("betas"):
        case [*betas] if betas:
            found["anthropic-beta"] = ",".join(map(str, betas))
        case _:
            pass
    return found | ({"x-api-key": key.reveal()} if key is not None else {})
