"""Who is calling: the principal, and what is known of the conversation the call comes from."""

from __future__ import annotations

import mcp.types as T
from mcp.server.auth.middleware.auth_context import get_access_token

from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.surfaces.mcp.errors import Context

LOCAL = "local"
CALL_IDS = ("claudecode/toolUseId", "callId")
"""Where clients put their own id of a call in `_meta`: Claude Code, Codex."""


def caller(ctx: Context, cwd: str | None) -> Caller:
    """`cwd` is our own folder where the client started us, and None where it did not."""
    meta = {str(name): value for name, value in (ctx.meta or {}).items()}
    ids = (meta.get(name) for name in CALL_IDS)
    call = next((id for id in ids if isinstance(id, str) and id), None)
    return Caller(principal(), cwd, meta, call, surface="mcp")


def principal() -> str:
    """The authenticated subject of the request, or `local` where nobody had to say who they are."""
    token = get_access_token()
    if token is None:
        return LOCAL
    return token.subject or token.client_id


def client_name(ctx: Context) -> str:
    """The client's own name for itself, or an empty text."""
    told = ctx.session.client_params
    return told.client_info.name if told is not None else ""


def can_ask(ctx: Context) -> bool:
    """Whether the client declared that it can show a form. An empty declaration means forms."""
    able = ctx.session.client_capabilities
    asking: T.ElicitationCapability | None = able.elicitation if able is not None else None
    return asking is not None and (asking.form is not None or asking.url is None)
