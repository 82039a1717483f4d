"""Opening files below one folder, and only there.

Every component is opened relative to the one before it and never followed through a link, so
that no spelling and no swap of a folder for a link while we look leads outside."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a named pipe would wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_SECRET = re.compile(
    r"(\.env(\..*)?|.*\.(pem|key|p12|pfx|jks|keystore|kdbx|asc|gpg|ovpn)"
    r"|id_(rsa|dsa|ecdsa|ed25519)|\.?netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials"
    r"|\.htpasswd|credentials(\.(json|ya?ml|toml|ini|csv|txt))?"
    r"|secrets?(\.(json|ya?ml|toml|env|ini|txt))?|kubeconfig|.*\.tfstate|\.dockercfg"
    r"|service[-_]account.*\.json)",
    re.IGNORECASE,
)
_SECRET_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".gcloud"})
UNSEARCHED = frozenset({".git", "node_modules", ".venv", "__pycache__", ".hg", ".svn"})
"""Folders that walks leave out; they can still be listed and read by name."""
MOST_IN_A_FOLDER = 50_000
"""How many entries of one folder are looked at."""


class Refused(Exception):
    """Why a path is not opened, in words for the model."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something below the root, with its size in bytes when it is a file."""

    path: str
    is_folder: bool
    size: int = 0


def parts(root: str, path: str) -> list[str]:
    """The components of `path` below `root`. Raises Refused for a path that leads outside."""
    if "\0" in path:
        raise Refused("A path has no NUL character.")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise Refused("A path has no half characters.") from None
    pure = PurePosixPath(path)
    if pure.is_absolute():
        try:
            pure = pure.relative_to(root)
        except ValueError:
            raise Refused(f"{path} is outside this session's folder.") from None
    found = [part for part in pure.parts if part != "."]
    if ".." in found:
        raise Refused(f"{path} leads out of this session's folder; `..` is not allowed.")
    return found


def secret(components: list[str]) -> bool:
    """Whether a path is one that usually holds credentials."""
    return any(part.lower() in _SECRET_FOLDERS for part in components) or bool(
        components and _SECRET.fullmatch(components[-1])
    )


@contextmanager
def folder(root: str, components: list[str]) -> Generator[int]:
    """A descriptor of a folder below `root`. Raises Refused."""
    held = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in components:
            inner = _opened(part, _FOLDER, held, "/".join(components))
            os.close(held)
            held = inner
        yield held
    finally:
        os.close(held)


def read(root: str, components: list[str], most: int) -> tuple[bytes, int]:
    """At most `most` bytes of a regular file, and its whole size. Raises Refused."""
    name = "/".join(components)
    if not components:
        raise Refused("Name a file, not the folder itself.")
    if secret(components):
        raise Refused(f"{name} usually holds credentials; it is not read.")
    with folder(root, components[:-1]) as held:
        opened = _opened(components[-1], _FILE, held, name)
        with os.fdopen(opened, "rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise Refused(f"{name} is no regular file.")
            return file.read(most), state.st_size


def is_folder(root: str, components: list[str]) -> bool:
    """Whether a path below `root` is a folder, else a regular file. Raises Refused."""
    if not components:
        return True
    name = "/".join(components)
    with folder(root, components[:-1]) as held:
        mode = _kind(components[-1], held)
    if mode is None:
        raise Refused(f"There is no {name} in this session's folder.")
    if stat.S_ISLNK(mode):
        raise Refused(f"{name} is a link, which is not followed.")
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise Refused(f"{name} is no regular file.")
    return stat.S_ISDIR(mode)


def entries(held: int, prefix: str) -> list[Entry]:
    """What the folder `held` contains, by name; links and special files are left out."""
    found: list[Entry] = []
    with os.scandir(held) as listing:
        for one in islice(listing, MOST_IN_A_FOLDER):
            if one.is_dir(follow_symlinks=False):
                found.append(Entry(prefix + one.name, True))
            elif one.is_file(follow_symlinks=False):
                size = one.stat(follow_symlinks=False).st_size
                found.append(Entry(prefix + one.name, False, size))
    return sorted(found, key=lambda entry: entry.path)


@dataclass(slots=True)
class Walk:
    """Every file below a folder, `most` entries at most and no longer than monotonic `until`.
    `cut` says whether that was not all."""

    root: str
    start: list[str]
    most: int
    until: float
    cut: bool = False

    def __iter__(self) -> Iterator[Entry]:
        waiting, looked = [self.start], 0
        while waiting:
            here = waiting.pop()
            for entry in self._entries(here):
                looked += 1
                if looked > self.most or time.monotonic() > self.until:
                    self.cut = True
                    return
                name = entry.path.rpartition("/")[2]
                if not entry.is_folder:
                    yield entry
                elif name not in UNSEARCHED:
                    waiting.append([*here, name])

    def _entries(self, here: list[str]) -> list[Entry]:
        try:
            with folder(self.root, here) as held:
                return entries(held, "".join(f"{part}/" for part in here))
        except (Refused, OSError):
            return []  # It went away, or became a link, while we looked.


def _opened(part: str, flags: int, held: int, name: str) -> int:
    try:
        return os.open(part, flags, dir_fd=held)
    except FileNotFoundError:
        raise Refused(f"There is no {name} in this session's folder.") from None
    except OSError as error:
        state = _kind(part, held)
        if state is not None and stat.S_ISLNK(state):
            raise Refused(f"{name} goes through a link, which is not followed.") from None
        raise Refused(f"{name} cannot be opened: {error.strerror}.") from None


def _kind(part: str, held: int) -> int | None:
    try:
        return os.stat(part, dir_fd=held, follow_symlinks=False).st_mode
    except OSError:
        return None
