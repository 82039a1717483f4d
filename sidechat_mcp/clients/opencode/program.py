"""opencode's program: the one that started us, or the one on the path."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

PROGRAM = "opencode"
PID = "OPENCODE_PID"
DOORS = "SIDECHAT_DOORS"
"""Lists the clients whose live conversations a note may be written into."""


def executable(environ: Mapping[str, str]) -> str | None:
    """The absolute path of opencode. The running one comes first: another version might change
    the database under it."""
    running = _running(environ.get(PID, ""))
    found = running or shutil.which(PROGRAM, path=environ.get("PATH", ""))
    return os.path.abspath(found) if found is not None else None


def listed(environ: Mapping[str, str], name: str) -> bool:
    """Whether a setting that lists clients, separated by commas, names this one."""
    return PROGRAM in (word.strip() for word in environ.get(name, "").split(","))


def _running(pid: str) -> str | None:
    if not (pid.isascii() and pid.isdecimal()):
        return None
    try:
        path = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None
    # Run from its sources, the program is another one, with the sources as an argument.
    return path if Path(path).name.startswith(PROGRAM) and os.access(path, os.X_OK) else None
