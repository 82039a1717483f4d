"""A person's home, with one conversation of Claude Code in the folder they stand in."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sidechat_mcp.surfaces.cli.stage import SHIPPED

REF = "5e1d0c7b-8a42-4f39-b6d0-93c1a7e4f210"


def person(root: Path) -> dict[str, str]:
    """The environment they work in; `PWD` is where they stand. No client's program is there."""
    folder = root / "work"
    folder.mkdir()
    project = root / "claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    project.mkdir(parents=True)
    # Only where the client stood; what it was told stays, and with it every digest.
    stood = '"cwd":"/home/mirela/work/shutterbin"'
    text = SHIPPED.read_text("utf-8").replace(stood, f'"cwd":"{folder}"')
    (project / f"{REF}.jsonl").write_text(text, "utf-8")
    (root / "bin").mkdir()
    return {
        **os.environ,
        "TERM": "dumb",
        "HOME": str(root),
        "PATH": str(root / "bin"),
        "CLAUDE_CONFIG_DIR": str(root / "claude"),
        "SIDECHAT_HOME": str(root / "home"),
        "PWD": str(folder),
    }
