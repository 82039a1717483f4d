"""pi's program: the one on the path."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

PROGRAM = "pi"


def program(environ: Mapping[str, str]) -> str | None:
    """The absolute path of pi, or None where there is none. It is started with the session's own
    model; switches that shape a prompt are written down nowhere, so they cannot be repeated."""
    found = shutil.which(PROGRAM, path=environ.get("PATH", ""))
    return os.path.abspath(found) if found is not None else None
