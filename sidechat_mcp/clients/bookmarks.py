"""Where the reading of a file that only grows can go on, so that what was read is not read again.

A mark holds for the same file on the same disk as long as what was read of it is the same: all of
that from the mark on, and the last few bytes before it, are looked at."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Generic, Protocol, TypeVar

from sidechat_mcp.clients.jsonl import Seen
from sidechat_mcp.errors import ParentNotFound
from sidechat_mcp.ports.client import Transcript

WITNESS = 4096
"""Bytes before a mark that must not have changed."""
PIECE = 1024 * 1024
KEPT = 16
"""Files whose marks are kept."""


class Standing(Protocol):
    """What a reader knows at a place where it can go on."""

    @property
    def offset(self) -> int:
        """Bytes from the beginning: a line begins here."""
        ...

    @property
    def seen(self) -> Seen:
        """How far it was read, which is further."""
        ...


S = TypeVar("S", bound=Standing)


@dataclass(frozen=True, slots=True)
class _Mark(Generic[S]):
    file: tuple[int, int]
    witness: bytes
    standing: S


class Bookmarks(Generic[S]):
    """The latest mark in each file. Threads may share it: a mark never changes."""

    def __init__(self) -> None:
        self._marks: OrderedDict[Path, _Mark[S]] = OrderedDict()

    def read(
        self,
        path: Path,
        since_last: bool,
        behind: Callable[[IO[bytes], S], tuple[Transcript, S | None] | None],
        whole: Callable[[IO[bytes]], tuple[Transcript, S | None]],
    ) -> Transcript:
        """The conversation in the file at `path`: with `since_last` what `behind` tells from the
        mark on, where there is one and that is enough, else what `whole` tells. Both say where the
        file can be gone on with next.

        Raises: ParentNotFound (it cannot be opened or read)."""
        try:
            with path.open("rb") as file:
                before = self.find(path, file) if since_last else None
                found = behind(file, before) if before is not None else None
                if found is None:
                    file.seek(0)
                    found = whole(file)
                read, standing = found
                self.put(path, file, standing)
                return read
        except OSError as error:
            raise ParentNotFound(
                f"The conversation file {path.name} cannot be read: {error.strerror or error}.",
                then="Name another one, or the file itself where it lies elsewhere (`--file`).",
            ) from error

    def put(self, path: Path, file: IO[bytes], standing: S | None) -> None:
        """Remember where `file` can be gone on with; None: nowhere."""
        self._marks.pop(path, None)
        if standing is None or standing.offset == 0:
            return
        self._marks[path] = _Mark(_identity(file), _witness(file, standing), standing)
        while len(self._marks) > KEPT:
            self._marks.popitem(last=False)

    def find(self, path: Path, file: IO[bytes]) -> S | None:
        """What is known of `file`, which then stands at that place; else it stands at its
        beginning."""
        mark = self._marks.get(path)
        if mark is not None and mark.file == _identity(file):
            grown = os.fstat(file.fileno()).st_size >= mark.standing.seen.end
            if grown and mark.witness == _witness(file, mark.standing):
                file.seek(mark.standing.offset)
                return mark.standing
        file.seek(0)
        return None


def _identity(file: IO[bytes]) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def _witness(file: IO[bytes], standing: Standing) -> bytes:
    """Of what was read behind the mark, and of the bytes before it."""
    at = file.seek(max(0, standing.offset - WITNESS))
    digest = hashlib.sha256()
    while part := file.read(min(PIECE, standing.seen.end - at)):
        digest.update(part)
        at += len(part)
    return digest.digest()
