"""Asking the person for a missing text with a form, in both eras. Never the only way: who cannot
be asked, declines or cancels has given no order, and is led to the tool instead."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

import anyio
import mcp.types as T
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from sidechat_mcp.surfaces.mcp.caller import can_ask
from sidechat_mcp.surfaces.mcp.errors import Context

PATIENCE = 600.0
"""Seconds a person has to fill in a form of the older era; the newer one keeps nothing open."""


@dataclass(frozen=True, slots=True)
class Form:
    """One text, `name`. The schema carries no titles: there are clients that refuse them."""

    name: str
    message: str
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> T.ElicitRequestedSchema:
        field: dict[str, Any] = {"type": "string", "minLength": 1}
        if self.choices:
            field = {"type": "string", "enum": list(self.choices)}
        return {"type": "object", "properties": {self.name: field}, "required": [self.name]}


@dataclass(frozen=True, slots=True)
class Given:
    """What the person gave, and a word that is the same whenever this answer comes again."""

    text: str
    nonce: str | None


async def ask(
    ctx: Context, params: T.GetPromptRequestParams, form: Form
) -> Given | T.InputRequiredResult | None:
    """The person's text; the round that has to come first; or None when nobody can be asked."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return await _ask_now(ctx, form) if can_ask(ctx) else None
    if params.request_state is not None:
        return _replied(params, form)
    if not can_ask(ctx):
        return None
    wanted = T.ElicitRequest(
        params=T.ElicitRequestFormParams(message=form.message, requested_schema=form.schema)
    )
    return T.InputRequiredResult(
        input_requests={form.name: wanted},
        request_state=json.dumps({"asked": form.name, "nonce": secrets.token_hex(16)}),
    )


def _replied(params: T.GetPromptRequestParams, form: Form) -> Given | None:
    """The answer in a second round. What comes back with it was sealed by us."""
    state = json.loads(params.request_state or "{}")
    reply = (params.input_responses or {}).get(form.name)
    if state.get("asked") != form.name or not isinstance(reply, T.ElicitResult):
        return None
    return _given(reply, form, state["nonce"])


async def _ask_now(ctx: Context, form: Form) -> Given | None:
    reply: T.ElicitResult | None = None
    with anyio.move_on_after(PATIENCE):
        try:
            reply = await ctx.session.elicit_form(
                form.message, form.schema, related_request_id=ctx.request_id
            )
        except (MCPError, ValidationError):
            return None
    return _given(reply, form, None) if reply is not None else None


def _given(reply: T.ElicitResult, form: Form, nonce: str | None) -> Given | None:
    text = (reply.content or {}).get(form.name)
    if reply.action != "accept" or not isinstance(text, str) or not text.strip():
        return None
    return Given(text, nonce)
