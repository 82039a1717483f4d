"""What a Python process does to the world, heard from the interpreter's own audit events: files
opened for writing or changed, processes, connections. The code that is watched has no say in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass

_FILES = {
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod"),
    *("os.chown", "os.truncate", "os.utime", "os.setxattr", "os.removexattr", "os.mkfifo"),
}
_PROCESSES = {
    *("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "os.system"),
    *("os.fork", "os.forkpty", "pty.spawn"),
}
_CONNECTIONS = {
    *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"),
    *("socket.gethostbyname", "urllib.Request"),
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(slots=True)
class Watch:
    """Tells `report` of everything but the starting of `programs` (whole command lines) and
    connections to `ports` of this machine. Reading a file by a whole path below `around` that is
    not below `inside` is told too. It cannot be taken back, only made deaf."""

    report: Callable[[str], None]
    programs: Collection[tuple[str, ...]] = ()
    ports: Collection[int] = ()
    around: str = "\0"
    inside: str = "\0"
    deaf: bool = False

    def start(self) -> None:
        sys.addaudithook(self._hear)

    def _hear(self, event: str, given: tuple[object, ...]) -> None:
        if self.deaf or not self._matters(event, given):
            return
        self.report(f"{event} {given[:2]!r}")

    def _matters(self, event: str, given: tuple[object, ...]) -> bool:
        if event == "open":
            return self._opening(*given)
        if event in _PROCESSES:
            return event != "subprocess.Popen" or not self._configured(given[1])
        if event in _CONNECTIONS:
            return not self._known(given)
        return event in _FILES or event.startswith("shutil.")

    def _opening(self, path: object, mode: object, flags: object) -> bool:
        if not isinstance(path, str | bytes):
            return False  # A descriptor: it was opened before.
        name = os.fsdecode(path)
        if isinstance(mode, str) and set(mode) & set("wax+"):
            return name != os.devnull
        if isinstance(flags, int) and flags & _WRITES:
            return name != os.devnull
        below = f"{name}/"
        return below.startswith(self.around) and not below.startswith(self.inside)

    def _configured(self, command: object) -> bool:
        return isinstance(command, list) and tuple(map(str, command)) in self.programs  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def _known(self, given: tuple[object, ...]) -> bool:
        words = repr(given)
        return any(f"'127.0.0.1', {port}" in words for port in self.ports)
