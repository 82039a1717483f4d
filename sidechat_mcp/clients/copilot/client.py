"""Copilot CLI as a client: finds its sessions and reads them; never writes to its files."""

from __future__ import annotations

from collections.abc import Mapping

from sidechat_mcp.clients.copilot.places import Places
from sidechat_mcp.clients.kept import PATIENCE, Kept


def opened(environ: Mapping[str, str], patience: float = PATIENCE) -> Kept:
    """`environ` says where the client keeps its files (`COPILOT_HOME`, `HOME`)."""
    return Kept(Places(environ), patience)
