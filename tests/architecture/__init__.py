"""The house itself under test: rooms, sizes, files, documents, what is shipped."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
PACKAGE = TOP / "sidechat_mcp"


def tracked() -> Sequence[Path]:
    """Every file that git keeps."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True
    )
    return [TOP / name for name in listed.stdout.split("\0") if name and (TOP / name).is_file()]


def modules() -> Sequence[Path]:
    """Every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))
