"""Where Claude Code keeps its conversations. Everything here only looks: nothing is opened for
writing, and lists are made from names and times alone."""

from __future__ import annotations

import heapq
import io
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients.claude_code import records
from sidechat_mcp.clients.claude_code.drafting import NAME
from sidechat_mcp.clients.jsonl import Tally, objects
from sidechat_mcp.core.content import Content, Text
from sidechat_mcp.ports.client import Found

HEAD = 256 * 1024
"""Bytes at the beginning of a file that its title and folder are looked for in."""
SHORT_HEAD = 32 * 1024
"""The same, where only the folder is wanted."""
FOLDERS = 1000
"""How many project folders are asked where they belong when no name fits."""
TITLE = 80
"""Code points of a title."""
LONGEST_KEY = 200
"""A longer project key is cut here and ends in a hash that differs between versions."""

_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_DRIVE = re.compile(r"[A-Za-z]:")
_COMMAND = re.compile(r"<command-name>([^<]*)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")


@dataclass(frozen=True, slots=True)
class Places:
    """The client's own folder, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        named = self.environ.get("CLAUDE_CONFIG_DIR")
        if named:
            return Path(named)
        home = self.environ.get("HOME")
        return (Path(home) if home else Path.home()) / ".claude"

    @property
    def projects(self) -> Path:
        return self.home / "projects"

    def all_folders(self) -> Iterator[Path]:
        """Every project folder."""
        return _folders(self.projects)

    def folders(self, cwd: str) -> Sequence[Path]:
        """The project folders of `cwd`, however the path to it is spelled."""
        wanted = self._keys(cwd)
        # A name that is too long for the file system is no folder and no error.
        found = [self.projects / key for key in wanted if os.path.isdir(self.projects / key)]
        long = tuple(f"{key[:LONGEST_KEY]}-" for key in wanted if len(key) > LONGEST_KEY)
        loose = {key.casefold() for key in wanted} if _DRIVE.match(cwd) else set[str]()
        if long or (loose and not found):
            for folder in _folders(self.projects):
                name = folder.name
                if (long and name.startswith(long)) or name.casefold() in loose:
                    found.append(folder)
        if not found:
            found = [one for one in self._newest_folders() if _recorded(one, cwd)]
        return list(dict.fromkeys(found))

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        """The newest conversations, of `cwd` when given; heads are read of those alone."""
        folders = self.folders(cwd) if cwd is not None else list(_folders(self.projects))
        files = [file for folder in folders for file in conversations(folder)]
        heap = [(-active, str(path)) for active, path in files]
        heapq.heapify(heap)
        found: list[Found] = []
        while heap and len(found) < limit:
            active, path = heapq.heappop(heap)
            one = look(Path(path), -active)
            if one is not None and (cwd is None or one.cwd is None or _may_be(one.cwd, cwd)):
                found.append(one)
        return found

    def find(self, ref: str, cwd: str | None) -> Found | None:
        """The conversation `ref`; in the folder of `cwd` first, else the one written last."""
        if not _REF.fullmatch(ref):
            return None
        near = self.folders(cwd) if cwd is not None else ()
        for folders in (near, _folders(self.projects)):
            found = [
                (active, path)
                for folder in folders
                if (active := _active(path := folder / f"{ref}.jsonl")) is not None
            ]
            if found:
                return at(max(found)[1])
        return None

    def _keys(self, cwd: str) -> Sequence[str]:
        plain = cwd.rstrip("/\\") or cwd
        spellings: list[str] = []
        for path in (plain, os.path.realpath(plain)):
            spellings += [path, *(unicodedata.normalize(form, path) for form in ("NFC", "NFD"))]
        named = self.environ.get("CLAUDE_CODE_PROJECT_DIR_NAME")
        keys = [named] if named and os.sep not in named else []
        return list(dict.fromkeys([*keys, *(key(path) for path in spellings)]))

    def _newest_folders(self) -> Sequence[Path]:
        dated = ((_active(folder) or 0, folder) for folder in _folders(self.projects))
        return [folder for _, folder in heapq.nlargest(FOLDERS, dated)]


def key(path: str) -> str:
    """The client's name for a project: every UTF-16 unit but ASCII letters and digits is `-`."""
    return "".join(
        letter if letter.isascii() and letter.isalnum() else "-" * (1 + (ord(letter) > 0xFFFF))
        for letter in path
    )


def conversations(folder: Path) -> Iterator[tuple[int, Path]]:
    """The conversations of a project folder, each with when it was last written; subagents,
    which have folders (once: names) of their own, are none."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-"):
            active = _active(Path(entry.path))
            if active is not None:
                yield active, Path(entry.path)


def newest_files(folders: Iterable[Path], limit: int) -> Sequence[Path]:
    """The files written last in `folders`, newest first."""
    files = (file for folder in folders for file in conversations(folder))
    return [path for _, path in heapq.nlargest(limit, files)]


def subagents(path: Path, limit: int) -> Sequence[Path]:
    """The files of the subagents that the conversation in `path` wrote to last."""
    folder = path.with_suffix("") / "subagents"
    dated = ((_active(file) or 0, file) for file in folder.glob("agent-*.jsonl"))
    return [file for _, file in heapq.nlargest(limit, dated)]


def at(path: Path) -> Found | None:
    """The conversation in exactly that file, or None when it is gone."""
    active = _active(path)
    return None if active is None else look(path, active) or Found(NAME, path.stem, path, active)


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
        if record is None:
            continue
        spoken = True
        match record.says:
            case records.Said(form="typed" | "command" as form, content=content):
                title = _title(content) or title
                if form == "typed" and title is not None:
                    break
            case records.Said(form="output"):
                title = None  # The client answered that command itself.
            case records.Answer() if title is not None:
                break
            case _:
                pass
    return Found(NAME, path.stem, path, active, shelf.cwd, title) if spoken else None


def _recorded(folder: Path, cwd: str) -> bool:
    """Whether the newest conversation of a project folder says it began in `cwd`."""
    newest = max(conversations(folder), default=None)
    try:
        with newest[1].open("rb") if newest is not None else io.BytesIO() as file:
            head = file.read(SHORT_HEAD)
    except OSError:
        return False
    shelf = records.Shelf(Tally())
    for one in objects(io.BytesIO(head), records.SHAPE, shelf.tally):
        records.read(one, shelf)
        if shelf.cwd is not None:
            return _same(shelf.cwd, cwd)
    return False


def _title(content: Content) -> str | None:
    texts = [block.text for block in content if isinstance(block, Text)]
    words = next((text for text in texts if not text.startswith("<system-reminder>")), "")
    command, arguments = _COMMAND.search(words), _ARGUMENTS.search(words)
    if command is not None:
        words = f"{command[1]} {arguments[1] if arguments is not None else ''}"
    return " ".join(words.split())[:TITLE].rstrip() or None


def _folders(projects: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(projects), key=lambda one: one.name)
    except OSError:
        return
    yield from (Path(entry.path) for entry in entries if entry.is_dir())


def _active(path: Path) -> int | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns // 1_000_000


def _same(one: str, other: str) -> bool:
    if unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):
        return True
    return os.path.realpath(one) == os.path.realpath(other)


def _may_be(recorded: str, cwd: str) -> bool:
    """Two folders can share a key. One that exists and is another one rules the file out; one
    that is gone may have been moved."""
    return _same(recorded, cwd) or not Path(recorded).is_dir()
