"""Where the parts are that some tests need and `make test` sets up. Missing → a reason to skip."""

from __future__ import annotations

from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
_BUILD = TOP / ".build"


def node() -> str:
    """The Node of the locks."""
    return _part(_BUILD / "node" / "node", "node")


def npm_program(name: str) -> str:
    """The script of a locked npm program (`conformance`, `mcp-inspector`), to be run by `node`."""
    return _part(_BUILD / "node" / "node_modules" / ".bin" / name, name)


def legacy_python() -> str:
    """A Python that has the protocol's older SDK (`mcp==1.30.0`) and nothing of ours."""
    return _part(_BUILD / "legacy" / "bin" / "python", "the older SDK")


def _part(path: Path, what: str) -> str:
    if not path.exists():
        pytest.skip(f"{what} is not set up: `make test` (or `make parts`) does that")
    return str(path)
