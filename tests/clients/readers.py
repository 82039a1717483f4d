"""The other clients by the name of the folder that their real files lie in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sidechat_mcp.clients.cline.client import opened as cline
from sidechat_mcp.clients.continue_dev.client import opened as continue_dev
from sidechat_mcp.clients.copilot.client import opened as copilot
from sidechat_mcp.clients.cursor.client import opened as cursor
from sidechat_mcp.clients.gemini.client import opened as gemini
from sidechat_mcp.clients.goose.client import opened as goose
from sidechat_mcp.clients.kept import Kept
from sidechat_mcp.clients.qwen.client import opened as qwen
from sidechat_mcp.clients.vscode.client import opened as vscode
from sidechat_mcp.clients.zed.client import opened as zed

OPENED: Mapping[str, Callable[[Mapping[str, str]], Kept]] = {
    "cline": cline,
    "continue": continue_dev,
    "copilot-cli": copilot,
    "cursor": cursor,
    "gemini": gemini,
    "qwen": qwen,
    "vscode": vscode,
    "goose": goose,
    "zed": zed,
}


def client(name: str, environ: Mapping[str, str] | None = None) -> Kept:
    return OPENED[name](environ or {})
