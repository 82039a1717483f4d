"""Where Zed keeps its threads. It says nothing of the thread to a server: who is calling cannot
be known."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import database, files
from sidechat_mcp.clients.database import Database, text
from sidechat_mcp.clients.values import instant
from sidechat_mcp.clients.zed.transcript import NAME, WHAT, first_words, read
from sidechat_mcp.core.content import Text
from sidechat_mcp.errors import ParentNotFound, SidechatError, UnknownFormat
from sidechat_mcp.ports.client import Call, Found, Transcript

TABLES = frozenset({"threads"})

_THREAD = ("id", "parent_id", "folder_paths", "summary", "updated_at", "data_type")


@dataclass(frozen=True, slots=True)
class Thread:
    """A row of `threads`. `parent` is that of a subagent's; `folders` were open when it began;
    `updated` is in milliseconds since 1970."""

    id: str
    parent: str | None
    folders: Sequence[str]
    title: str | None
    updated: int
    packed: bool


@dataclass(frozen=True, slots=True)
class Places:
    """Zed's own file, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def name(self) -> str:
        return NAME

    def calling(self, call: Call) -> Found | None:
        return None

    def awaited(self, call: Call) -> bool:
        return False

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        def listed(rows: Database) -> Sequence[Found]:
            some = sorted(_threads(rows, ""), key=lambda one: -one.updated)
            ours = [
                one
                for one in some
                if cwd is None or any(files.same(folder, cwd) for folder in one.folders)
            ]
            return [self._found(one, rows) for one in ours[:limit]]

        try:
            return database.consult(self.file, WHAT, TABLES, listed)
        except SidechatError:
            return []

    def find(self, ref: str, cwd: str | None) -> Found | None:
        def look(rows: Database) -> Found | None:
            thread = next(_threads(rows, "AND id = ?", ref), None)
            return self._found(thread, rows) if thread is not None else None

        try:
            return database.consult(self.file, WHAT, TABLES, look) if files.is_ref(ref) else None
        except SidechatError:
            return None

    def read(self, path: Path, ref: str | None) -> Transcript:
        """`DATABASE#ID` names one thread of a file with several."""
        path, named = database.split(path) if ref is None else (path, ref)

        def whole(rows: Database) -> Transcript:
            if "data" not in rows.columns["threads"]:
                raise files.alien(WHAT, "it has no table `threads` with their data")
            wanted = named or database.one_of(path, WHAT, [one.id for one in _threads(rows, "")])
            thread = next(_threads(rows, "AND id = ?", wanted), None)
            if thread is None:
                raise ParentNotFound(
                    f"{path.name} has no thread {wanted!r} of a person.", then=files.THEN
                )
            return read(_document(rows, thread), wanted, _cwd(thread))

        return database.consult(path, WHAT, TABLES, whole)

    @property
    def file(self) -> Path:
        home = files.home(self.environ)
        if sys.platform == "darwin":
            kept = home / "Library" / "Application Support" / "Zed"
        elif sys.platform == "win32":
            kept = Path(self.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "Zed"
        else:
            named = self.environ.get("XDG_DATA_HOME")
            kept = (Path(named) if named else home / ".local" / "share") / "zed"
        return kept / "threads" / "threads.db"

    def _found(self, thread: Thread, rows: Database) -> Found:
        named = files.title((Text(thread.title),)) if thread.title else None
        if named is None:
            try:
                named = first_words(_document(rows, thread))
            except UnknownFormat:
                named = None
        return Found(NAME, thread.id, self.file, thread.updated, _cwd(thread), named)


def _threads(rows: Database, where: str, *values: str) -> Iterator[Thread]:
    """Threads of a person."""
    known = rows.columns["threads"]
    if "data" not in known:
        return
    columns = ", ".join(rows.column("threads", name) for name in _THREAD)
    persons = "parent_id IS NULL" if "parent_id" in known else "1"
    statement = f"SELECT {columns} FROM threads WHERE {persons} {where} ORDER BY id"
    for row in rows.rows(statement, values):
        id, parent, folders, title, updated, kind = map(text, row)
        listed = (folders or "").split("\n") if folders else []
        yield Thread(id or "", parent, listed, title, instant(updated, 0), kind == "zstd")


def _document(rows: Database, thread: Thread) -> bytes:
    """A thread's JSON text. Raises: UnknownFormat (too large, or this Python reads no zstd)."""
    limited = f"CASE WHEN length(data) <= {files.LARGEST} THEN CAST(data AS BLOB) END"
    found = rows.rows(f"SELECT {limited} FROM threads WHERE id = ?", (thread.id,))
    data = next((one for (one,) in found), None)
    if not isinstance(data, bytes):
        raise files.alien(WHAT, "a thread is too large, or empty")
    return _unpacked(data) if thread.packed else data


def _unpacked(data: bytes) -> bytes:
    """Python's own reader of zstd from 3.14 on, else the package of that name."""
    for module, reader in (("compression.zstd", "ZstdFile"), ("zstandard", "open")):
        try:
            opened = getattr(importlib.import_module(module), reader)
        except ImportError:
            continue
        try:
            found = bytes(opened(io.BytesIO(data), "rb").read(files.LARGEST + 1))
        except Exception as error:  # each of the two has errors of its own
            raise files.alien(WHAT, f"its data cannot be unpacked ({error})") from error
        if len(found) > files.LARGEST:
            raise files.alien(WHAT, "a thread is too large")
        return found
    raise UnknownFormat(
        "Zed has compressed this thread, and this Python cannot read zstd.",
        then="Install the `zstandard` package, and try again.",
    )


def _cwd(thread: Thread) -> str | None:
    return thread.folders[0] if thread.folders else None
