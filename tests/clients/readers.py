"""The other clients by the name of the folder that their real files lie in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sidechat_mcp.clients.cline.client import opened as cline
from sidechat_mcp.clients.continue_dev.client import opened as continue_dev
from sidechat_mcp.clients.cursor.client import opened as cursor
from sidechat_mcp.clients.gemini.client import opened as gemini
from sidechat_mcp.clients.kept import Kept

OPENED: Mapping[str, Callable[[Mapping[str, str]], Kept]] = {
    "cline": cline,
    "continue": continue_dev,
    "cursor": cursor,
    "gemini": gemini,
}


def client(name: str, environ: Mapping[str, str] | None = None) -> Kept:
    return OPENED[name](environ or {})
