"""Cline as a client: finds its conversations and reads them; never writes to its files."""

from __future__ import annotations

from collections.abc import Mapping

from sidechat_mcp.clients.cline.places import Places
from sidechat_mcp.clients.kept import Kept


def opened(environ: Mapping[str, str]) -> Kept:
    """`environ` says where the client keeps its files (`CLINE_DIR`, `HOME`)."""
    return Kept(Places(environ))
