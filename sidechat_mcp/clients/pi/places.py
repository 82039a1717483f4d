"""Where pi keeps its sessions. Everything here only looks: nothing is opened for writing, and
lists are made from names and times alone."""

from __future__ import annotations

import heapq
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients.jsonl import Tally, objects
from sidechat_mcp.clients.pi import records
from sidechat_mcp.clients.pi.drafting import NAME
from sidechat_mcp.clients.pi.says import Answer, Said
from sidechat_mcp.clients.values import mapping, word
from sidechat_mcp.core.content import Text
from sidechat_mcp.ports.client import Found

HEAD = 256 * 1024
"""Bytes at the beginning of a file that its title and folder are looked for in."""
TITLE = 80
"""Code points of a title."""
_SETTINGS = 1024 * 1024
_LEADING, _BETWEEN = re.compile(r"^[/\\]"), re.compile(r"[/\\:]")
_REF = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Places:
    """pi's own folder, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        named = self.environ.get("PI_CODING_AGENT_DIR")
        return self._path(named) if named else self._user / ".pi" / "agent"

    def folders(self, cwd: str | None) -> Sequence[Path]:
        """Where sessions of `cwd` may lie (None: sessions of any folder). One folder for all
        comes from a setting; such a folder holds sessions of others, too."""
        sessions = self.home / "sessions"
        if cwd is None:
            found = [*_folders(sessions), *self._flat(None)]
        else:
            spelled = dict.fromkeys((cwd.rstrip("/\\") or cwd, os.path.realpath(cwd)))
            found = [*(sessions / key(one) for one in spelled), *self._flat(cwd)]
        return list(dict.fromkeys(folder for folder in found if os.path.isdir(folder)))

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        """The newest sessions, of `cwd` when given; heads are read of those alone."""
        heap = [(-active, str(path)) for active, path in _files(self.folders(cwd))]
        heapq.heapify(heap)
        found: list[Found] = []
        while heap and len(found) < limit:
            active, path = heapq.heappop(heap)
            one = look(Path(path), -active)
            if one is not None and (cwd is None or same(one.cwd, cwd)):
                found.append(one)
        return found

    def newest_files(self, cwd: str, limit: int) -> Sequence[Path]:
        """The files written last where sessions of `cwd` may lie, newest first."""
        return [path for _, path in heapq.nlargest(limit, _files(self.folders(cwd)))]

    def find(self, ref: str, cwd: str | None) -> Found | None:
        """The session `ref`; where those of `cwd` lie first, else the one written last."""
        if not _REF.fullmatch(ref):
            return None
        near = self.folders(cwd) if cwd is not None else ()
        for folders in (near, self.folders(None)):
            named = [file for file in _files(folders) if ref in file[1].name]
            for active, path in sorted(named, reverse=True):
                one = look(path, active)
                if one is not None and one.ref == ref:
                    return one
        return None

    @property
    def _user(self) -> Path:
        home = self.environ.get("HOME")
        return Path(home) if home else Path.home()

    def _path(self, given: str) -> Path:
        return self._user / given[2:] if given.startswith("~/") else Path(given)

    def _flat(self, cwd: str | None) -> Iterator[Path]:
        """Folders that hold the sessions of every project, as the person set them."""
        named = [self.environ.get("PI_CODING_AGENT_SESSION_DIR")]
        named.append(_setting(self.home / "settings.json"))
        if cwd is not None:
            named.append(_setting(Path(cwd) / ".pi" / "settings.json"))
        for given in named:
            path = self._path(given) if given else None
            if path is not None and (cwd is not None or path.is_absolute()):
                yield Path(cwd or "/", path)


def key(cwd: str) -> str:
    """pi's name for the folder with the sessions of `cwd`."""
    return f"--{_BETWEEN.sub('-', _LEADING.sub('', cwd))}--"


def at(path: Path) -> Found | None:
    """The session in exactly that file, or None when it is gone or none."""
    active = _active(path)
    return look(path, active) if active is not None else None


def look(path: Path, active: int) -> Found | None:
    """What the head of a file says of it, or None when it holds no conversation."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return None
    shelf = records.Shelf(Tally())
    title, spoken = None, len(head) == HEAD
    for one in objects(io.BytesIO(head), records.SHAPE, shelf.tally):
        record = records.read(one, shelf)
        match record.says if record is not None else None:
            case Said(content=content):
                spoken = True
                title = title or _title(block.text for block in content if isinstance(block, Text))
            case Answer():
                spoken = True
            case _:
                pass
    if shelf.ref is None or not spoken:
        return None
    return Found(NAME, shelf.ref, path, active, shelf.cwd, _title([shelf.name or ""]) or title)


def same(recorded: str | None, cwd: str) -> bool:
    """Whether a session that was begun in `recorded` belongs to `cwd`."""
    if recorded is None:
        return False
    return recorded == cwd or os.path.realpath(recorded) == os.path.realpath(cwd)


def _title(texts: Iterable[str]) -> str | None:
    words = next(iter(texts), "")
    return " ".join(words.split())[:TITLE].rstrip() or None


def _setting(file: Path) -> str | None:
    try:
        with file.open("rb") as settings:
            return word(mapping(json.loads(settings.read(_SETTINGS))).get("sessionDir"))
    except (OSError, ValueError, RecursionError):
        return None


def _folders(sessions: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(sessions), key=lambda one: one.name)
    except OSError:
        return
    yield from (Path(entry.path) for entry in entries if entry.is_dir())


def _files(folders: Iterable[Path]) -> Iterator[tuple[int, Path]]:
    """The session files of `folders`, each with when it was last written."""
    for folder in folders:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            active = _active(Path(entry.path)) if entry.name.endswith(".jsonl") else None
            if active is not None:
                yield active, Path(entry.path)


def _active(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except (OSError, ValueError):
        return None
