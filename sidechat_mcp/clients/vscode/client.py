"""VS Code's Copilot Chat as a client: finds its conversations and reads them; never writes to its
files."""

from __future__ import annotations

from collections.abc import Mapping

from sidechat_mcp.clients.kept import Kept
from sidechat_mcp.clients.vscode.places import Places


def opened(environ: Mapping[str, str]) -> Kept:
    """`environ` says where the client keeps its files (`VSCODE_PORTABLE`, `HOME`)."""
    return Kept(Places(environ))
