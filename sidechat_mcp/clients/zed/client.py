"""Zed as a client: finds its threads and reads them; never writes to its files."""

from __future__ import annotations

from collections.abc import Mapping

from sidechat_mcp.clients.kept import Kept
from sidechat_mcp.clients.zed.places import Places


def opened(environ: Mapping[str, str]) -> Kept:
    """`environ` says where the client keeps its files (`XDG_DATA_HOME`, `HOME`)."""
    return Kept(Places(environ))
