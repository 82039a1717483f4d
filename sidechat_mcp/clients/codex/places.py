"""Where Codex keeps its conversations. Everything here only looks: nothing is opened for writing,
and lists are made from names and times alone."""

from __future__ import annotations

import heapq
import importlib
import io
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sidechat_mcp.clients.codex import records
from sidechat_mcp.clients.codex.drafting import NAME
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.core.content import Content, plain
from sidechat_mcp.errors import UnknownFormat
from sidechat_mcp.ports.client import Found

HEAD = 256 * 1024
"""Bytes at the beginning of a file that its folder and title are looked for in."""
HEADS = 2000
"""How many of the newest files are looked into for one list."""
NEIGHBOURS = 200
"""How many files beside one that is read from anywhere are asked whether they are its parent."""
BACK = 8
"""How many rollouts back the first words of a conversation are looked for."""
TITLE = 80
"""Code points of a title."""
ZSTD = b"\x28\xb5\x2f\xfd"

_ID = r"[A-Za-z0-9][A-Za-z0-9-]{0,127}"
_ROLLOUT = re.compile(
    rf"rollout-\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d-({_ID})(?:_({_ID}))?\.jsonl(?:\.zst)?"
)
_REF = re.compile(_ID)


@dataclass(frozen=True, slots=True)
class Rollout:
    """A file of the thread `thread`. One that a person took turns back in goes on in a new file,
    a segment of its own; the first one is named as the thread is."""

    thread: str
    segment: str
    path: Path

    @property
    def order(self) -> tuple[str, bool]:
        """Later segments come later, for their ids begin with the time; plain before packed."""
        later = self.segment if self.segment != self.thread else ""
        return later, not self.path.name.endswith(".zst")


@dataclass(frozen=True, slots=True)
class Places:
    """The client's own folder, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        named = self.environ.get("CODEX_HOME")
        if named:
            return Path(named)
        home = self.environ.get("HOME")
        return (Path(home) if home else Path.home()) / ".codex"

    def files(self) -> Iterator[Rollout]:
        """Every rollout, archived ones too."""
        for folder in (*self._days(), self.home / "archived_sessions"):
            for entry in _entries(folder):
                found = rollout(Path(entry.path))
                if found is not None:
                    yield found

    def file(self, ref: str) -> Path | None:
        """The rollout in which the thread `ref` goes on now."""
        if not _REF.fullmatch(ref):
            return None
        found = [one for one in self.files() if one.thread == ref]
        return max(found, key=lambda one: one.order).path if found else None

    def segment(self, id: str) -> Path | None:
        """The rollout that is the segment `id` of some thread."""
        found = [one for one in self.files() if one.segment == id]
        return max(found, key=lambda one: one.order).path if found else None

    def find(self, ref: str) -> Found | None:
        path = self.file(ref)
        return self.at(path) if path is not None else None

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        """The newest conversations, of `cwd` when given; heads are read of those alone."""
        current: dict[str, Rollout] = {}
        for one in self.files():
            former = current.setdefault(one.thread, one)
            current[one.thread] = max(former, one, key=lambda each: each.order)
        dated = [
            (-active, str(one.path))
            for one in current.values()
            if (active := _active(one.path)) is not None
        ]
        heapq.heapify(dated)
        found: list[Found] = []
        for _ in range(min(HEADS, len(dated))):
            if len(found) >= limit:
                break
            active, path = heapq.heappop(dated)
            one = self.look(Path(path), -active)
            if one is not None and (cwd is None or (one.cwd is not None and _same(one.cwd, cwd))):
                found.append(one)
        return found

    @contextmanager
    def elsewhere(self, segment: str, beside: Path) -> Generator[IO[bytes] | None]:
        """A rollout that another goes on from: the client's own, else one in the folder of
        `beside`."""
        path = self.segment(segment) or _neighbour(segment, beside)
        if path is None:
            yield None
            return
        with opened(path) as file:
            yield file

    def at(self, path: Path) -> Found | None:
        """The conversation in exactly that file, or None when it is gone."""
        active = _active(path)
        if active is None:
            return None
        named = rollout(path)
        ref = named.thread if named is not None else path.stem
        return self.look(path, active) or Found(NAME, ref, path, active)

    def look(self, path: Path, active: int) -> Found | None:
        """What the head of a file says of it, or None for a subagent's and for what is none."""
        seen = _head(path)
        if seen.meta is None or seen.meta.subagent:
            return None
        named = rollout(path)
        ref = named.thread if named is not None else seen.meta.id
        return Found(NAME, ref, path, active, seen.meta.cwd, self._title(path, seen))

    def _title(self, path: Path, seen: _Seen) -> str | None:
        """The first words of a conversation, also where they stand in what it goes on from."""
        title = seen.title
        for _ in range(BACK):
            base = seen.meta.base if seen.meta is not None else None
            before = self.segment(base[0]) if base is not None else None
            if before is None or before == path:
                break
            path, seen = before, _head(before)
            title = seen.title or title
        return title

    def _days(self) -> Iterator[Path]:
        for year in _folders(self.home / "sessions"):
            for month in _folders(year):
                yield from _folders(month)


def rollout(path: Path) -> Rollout | None:
    """What a file's name says of it, or None for a name that the client gives to no rollout."""
    found = _ROLLOUT.fullmatch(path.name)
    return Rollout(found[1], found[2] or found[1], path) if found is not None else None


def about(path: Path) -> records.Meta | None:
    """What the thread in that file says of itself."""
    return _head(path, titled=False).meta


def packed(file: IO[bytes]) -> bool:
    """Whether a rollout is compressed; `file` then stands at its beginning."""
    file.seek(0)
    found = file.read(len(ZSTD)) == ZSTD
    file.seek(0)
    return found


@contextmanager
def opened(path: Path) -> Generator[IO[bytes]]:
    """The bytes of a rollout, also of one that the client has compressed.

    Raises: OSError; UnknownFormat where this Python cannot read what is compressed."""
    with path.open("rb") as file:
        if not packed(file):
            yield file
            return
        with _unpacked(file, path.name) as plain_file:
            yield io.BufferedReader(plain_file)


@dataclass(slots=True)
class _Seen:
    meta: records.Meta | None = None
    title: str | None = None


def _head(path: Path, *, titled: bool = True) -> _Seen:
    seen = _Seen()
    try:
        with opened(path) as file:
            head = file.read(HEAD)
    except (OSError, UnknownFormat):
        return seen
    tally = Tally()
    for place, one in records.each(io.BytesIO(head), tally):
        seen.meta = seen.meta or records.meta(one)
        if seen.meta is not None and not titled:
            break
        try:
            record = records.read(one, place, tally)
        except RecursionError:
            continue
        if record is not None and isinstance(record.says, records.Said) and record.says.typed:
            seen.title = _title(record.says.content)
            if seen.title is not None:
                break
    return seen


def _neighbour(segment: str, beside: Path) -> Path | None:
    dated = ((_active(Path(one.path)) or 0, one.path) for one in _entries(beside.parent))
    for _, name in heapq.nlargest(NEIGHBOURS, dated):
        path = Path(name)
        if path.suffix not in (".jsonl", ".zst") or path == beside:
            continue
        named, meta = rollout(path), about(path)
        of = named.segment if named is not None else meta.id if meta is not None else None
        if of == segment:
            return path
    return None


def _unpacked(file: IO[bytes], name: str) -> Any:
    """A reader of zstd: Python's own from 3.14 on, else the package of that name."""
    for module, reader in (("compression.zstd", "ZstdFile"), ("zstandard", "open")):
        try:
            return getattr(importlib.import_module(module), reader)(file, "rb")
        except ImportError:
            continue
    raise UnknownFormat(
        f"{name} is a conversation that Codex has compressed, and this Python cannot read zstd.",
        then="Install the `zstandard` package, or continue that conversation once in Codex.",
    )


def _title(content: Content) -> str | None:
    return " ".join(plain(content).split())[:TITLE].rstrip() or None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda one: one.name)
    except OSError:
        return []


def _folders(folder: Path) -> list[Path]:
    return [Path(one.path) for one in _entries(folder) if one.is_dir()]


def _active(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except (OSError, ValueError):
        return None


def _same(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)
