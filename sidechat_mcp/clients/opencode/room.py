"""A folder of ours for one fork: the data and state folders of its server, in which the client
keeps everything it writes, and a shell that refuses. It goes with the fork; what a killed process
of ours left behind goes when the next one comes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sidechat_mcp.clients.rooms import enter

REFUSAL = "This side conversation is read-only: no tool is carried out."
SHELLS = ("bash", "zsh", "sh", "dash", "ksh")
"""Shells that opencode runs commands with; their names stand in its tool's description."""
SIGNED_IN = ("auth.json", "mcp-auth.json")
"""Where the client keeps who is signed in. The fork uses the person's own files, by links: what
it renews is renewed for both."""


@dataclass(frozen=True, slots=True)
class Room:
    """`lock` is held as long as the room is used: nobody clears away what somebody locks."""

    path: Path
    shell: Path
    lock: BinaryIO

    @property
    def data(self) -> Path:
        """What the client finds under `XDG_DATA_HOME`."""
        return self.path / "data"

    @property
    def state(self) -> Path:
        """What the client finds under `XDG_STATE_HOME`."""
        return self.path / "state"

    @property
    def database(self) -> Path:
        return self.data / "opencode" / "opencode.db"

    def close(self) -> None:
        """Once more does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.close()


def make(environ: Mapping[str, str], home: Path) -> Room:
    """A room for a fork of a conversation in the client's data folder `home`. Raises: OSError."""
    rooms = _rooms(environ)
    rooms.mkdir(mode=0o700, parents=True, exist_ok=True)
    path, lock = enter(rooms)
    room = Room(path, path / "bin" / _shell(environ), lock)
    try:
        for folder in (room.database.parent, room.state, room.shell.parent):
            folder.mkdir(mode=0o700, parents=True)
        for name in SIGNED_IN:
            if (home / name).is_file():
                (room.database.parent / name).symlink_to(home / name)
        room.shell.write_text(f"#!/bin/sh\necho '{REFUSAL}'\nexit 126\n", "utf-8")
        room.shell.chmod(0o700)
    except BaseException:
        room.close()
        raise
    return room


def _rooms(environ: Mapping[str, str]) -> Path:
    home = environ.get("SIDECHAT_HOME")
    user = Path(environ.get("HOME") or Path.home())
    ours = Path(home).expanduser().absolute() if home else user / ".sidechat"
    return ours / "hosted" / "opencode"


def _shell(environ: Mapping[str, str]) -> str:
    """The name of the shell that the parent's requests tell of."""
    name = Path(environ.get("SHELL", "")).name
    return name if name in SHELLS else SHELLS[0]
