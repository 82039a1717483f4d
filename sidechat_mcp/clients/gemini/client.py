"""Gemini CLI as a client: finds its sessions and reads them; never writes to its files."""

from __future__ import annotations

from collections.abc import Mapping

from sidechat_mcp.clients.gemini.places import Places
from sidechat_mcp.clients.kept import Kept


def opened(environ: Mapping[str, str]) -> Kept:
    """`environ` says where the client keeps its files (`GEMINI_CLI_HOME`, `HOME`)."""
    return Kept(Places(environ))
