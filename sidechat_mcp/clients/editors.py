"""Where VS Code and what is built from it keep a person's things."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sidechat_mcp.clients import files
from sidechat_mcp.clients.values import mapping, word

EDITIONS = ("Code", "Code - Insiders", "VSCodium")
SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscode-remote")
"""Where it keeps them on a machine that is worked on from another one."""

_DRIVE = re.compile(r"/[A-Za-z]:")


def users(environ: Mapping[str, str]) -> Sequence[Path]:
    """The folders `User` that there are."""
    home = files.home(environ)
    if sys.platform == "darwin":
        support = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        support = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        support = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    named = environ.get("VSCODE_PORTABLE")
    portable = [Path(named) / "user-data" / "User"] if named else []
    local = [support / edition / "User" for edition in EDITIONS]
    remote = [home / server / "data" / "User" for server in SERVERS]
    return [folder for folder in (*portable, *local, *remote) if folder.is_dir()]


def folder_of(storage: Path) -> str | None:
    """The folder that a workspace's storage belongs to, by what stands in it."""
    about = mapping(files.document(files.peek(storage / "workspace.json", 64 * 1024)))
    address = word(about.get("folder"))
    if address is None:
        return None
    path = unquote(urlsplit(address).path)
    return path[1:] if _DRIVE.match(path) else path or None
