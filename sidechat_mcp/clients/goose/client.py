"""Goose as a client: finds its sessions and reads them; never writes to its files."""

from __future__ import annotations

from collections.abc import Mapping

from sidechat_mcp.clients.goose.places import Places
from sidechat_mcp.clients.kept import Kept


def opened(environ: Mapping[str, str]) -> Kept:
    """`environ` says where the client keeps its files (`GOOSE_PATH_ROOT`, `XDG_DATA_HOME`)."""
    return Kept(Places(environ))
