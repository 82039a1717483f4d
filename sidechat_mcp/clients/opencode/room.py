"""A folder of ours for one server of opencode's: a shell that refuses, and a lock which tells that
the sessions marked with the folder's name are still in use."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REFUSAL = "This side conversation is read-only: no tool is carried out."
SHELLS = ("bash", "zsh", "sh", "dash", "ksh")
"""Shells that opencode runs commands with; their names stand in its tool's description."""


@dataclass(frozen=True, slots=True)
class Room:
    """`lock` is held as long as the room is used."""

    path: Path
    lock: int

    @property
    def word(self) -> str:
        """What sessions of this room's server are marked with."""
        return self.path.name

    @property
    def shell(self) -> Path:
        return next((self.path / "bin").iterdir())

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def make(environ: Mapping[str, str]) -> Room:
    """Raises: OSError."""
    rooms = _rooms(environ)
    rooms.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(dir=rooms))
    room = Room(path, os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    try:
        fcntl.flock(room.lock, fcntl.LOCK_EX)
        shell = path / "bin" / _shell(environ)
        shell.parent.mkdir(mode=0o700)
        shell.write_text(f"#!/bin/sh\necho '{REFUSAL}'\nexit 126\n", "utf-8")
        shell.chmod(0o700)
    except BaseException:
        room.close()
        raise
    return room


def abandoned(environ: Mapping[str, str], word: str) -> bool:
    """Whether nobody uses the room `word` any more; it is then cleared away."""
    path = _rooms(environ) / word
    if path.name != word or not path.is_dir():
        return True
    try:
        descriptor = os.open(path / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # It is being made.
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def _rooms(environ: Mapping[str, str]) -> Path:
    home = environ.get("SIDECHAT_HOME")
    user = Path(environ.get("HOME") or Path.home())
    ours = Path(home).expanduser().absolute() if home else user / ".sidechat"
    return ours / "hosted" / "opencode"


def _shell(environ: Mapping[str, str]) -> str:
    """The name of the shell that the parent's requests tell of."""
    name = Path(environ.get("SHELL", "")).name
    return name if name in SHELLS else SHELLS[0]
