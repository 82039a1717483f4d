"""Cursor as a client: finds its agents' transcripts and reads them; never writes to its files."""

from __future__ import annotations

from collections.abc import Mapping

from sidechat_mcp.clients.cursor.places import Places
from sidechat_mcp.clients.kept import Kept


def opened(environ: Mapping[str, str]) -> Kept:
    """`environ` says where the client keeps its files (`HOME`)."""
    return Kept(Places(environ))
