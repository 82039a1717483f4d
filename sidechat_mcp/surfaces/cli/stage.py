"""Where the demo plays: a temporary folder with a client's home, a conversation in it, and a log
of ours. Nothing outside it is read but the transcript, and nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sidechat_mcp.config import Config
from sidechat_mcp.errors import InvalidRequest

SHIPPED = Path(__file__).with_name("demo.jsonl")
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_LONGEST_KEY = 200
_LOOKED_AT = 200
"""Lines that are looked at for the conversation's id and folder."""


@dataclass(frozen=True, slots=True)
class Stage:
    folder: Path
    ref: str
    """The client's own id of the conversation."""

    @property
    def environ(self) -> Mapping[str, str]:
        """What a process on this stage sees of the world."""
        kept = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT")
        return {name: os.environ[name] for name in kept if name in os.environ} | {
            "HOME": str(self.folder),
            "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
            "SIDECHAT_HOME": str(self.folder / "sidechat"),
            "SIDECHAT_AGENT": "quoting",
        }

    @property
    def config(self) -> Config:
        home = self.folder / "sidechat"
        return Config(home, str(home / "log.db"), "quoting")


@contextmanager
def staged(transcript: Path) -> Generator[Stage]:
    """Put a copy of `transcript` where a fresh Claude Code would keep it.

    Raises: InvalidRequest when it cannot be read."""
    try:
        content = transcript.read_bytes()
    except OSError as error:
        raise InvalidRequest(
            f"The transcript {str(transcript)!r} cannot be read.", then="Name another one."
        ) from error
    ref, cwd = _told(content, "sessionId"), _told(content, "cwd")
    if ref is None or not _REF.fullmatch(ref):
        ref = "demo-conversation"
    key = re.sub(r"[^A-Za-z0-9]", "-", cwd or "demo")[:_LONGEST_KEY]
    with tempfile.TemporaryDirectory(prefix="sidechat-demo-") as made:
        folder = Path(made).resolve()
        project = folder / "claude" / "projects" / key
        project.mkdir(parents=True)
        (project / f"{ref}.jsonl").write_bytes(content)
        yield Stage(folder, ref)


def _told(content: bytes, name: str) -> str | None:
    """The first text that a record says under `name`."""
    for record in _records(content):
        if isinstance(value := record.get(name), str) and value:
            return value
    return None


def _records(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.splitlines()[:_LOOKED_AT]:
        try:
            record: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield cast("dict[str, Any]", record)
