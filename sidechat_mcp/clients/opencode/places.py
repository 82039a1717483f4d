"""Where opencode keeps its conversations, and which there are. Everything here only looks."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.opencode.database import Database, Session, consult
from sidechat_mcp.clients.opencode.drafting import NAME
from sidechat_mcp.clients.opencode.records import Row, Said, read
from sidechat_mcp.clients.opencode.tree import Tree
from sidechat_mcp.core.content import plain
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.ports.client import Found

T = TypeVar("T")

TITLE = 80
"""Code points of a title."""
LOOKED = 5
"""How many of a conversation's first messages its title is looked for in."""

_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_UNTITLED = re.compile(r"(?:New|Child) session - ")


@dataclass(frozen=True, slots=True)
class Places:
    """The client's own folder, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        named = self.environ.get("XDG_DATA_HOME")
        if named:
            return Path(named) / "opencode"
        home = self.environ.get("HOME")
        return (Path(home) if home else Path.home()) / ".local" / "share" / "opencode"

    def databases(self) -> Sequence[Path]:
        """The database that the environment names, or all there are: each channel has its own."""
        named = self.environ.get("OPENCODE_DB")
        if named:
            return [path] if (path := self.home / named).is_file() else []
        try:
            return sorted(path for path in self.home.glob("opencode*.db") if path.is_file())
        except OSError:
            return []

    @property
    def tree(self) -> Tree:
        """What older versions left, or still use."""
        return Tree(self.home / "storage")

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        """The newest conversations, of `cwd` when given."""
        folders = spellings(cwd) if cwd is not None else None

        def listed(database: Database, path: Path) -> list[Found]:
            some = database.newest(folders, limit)
            return [found(one, path, database.rows(one.id)) for one in some]

        every: list[Found] = []
        for path in self.databases():
            every += _looked(path, listed) or []
        if not every and not self.databases():
            every = list(self._from_tree(folders))
        return sorted(every, key=lambda one: (-one.active, one.ref))[:limit]

    def find(self, ref: str, cwd: str | None) -> Found | None:
        """The conversation `ref`; where several databases have it, the one written last."""
        del cwd  # An id is one conversation's, wherever it began.
        if not _REF.fullmatch(ref):
            return None

        def named(database: Database, path: Path) -> Found | None:
            session = database.session(ref)
            return found(session, path, database.rows(ref)) if session is not None else None

        every = [one for path in self.databases() if (one := _looked(path, named)) is not None]
        if every:
            return max(every, key=lambda one: one.active)
        session = self.tree.session(ref)
        if session is None:
            return None
        return found(session, self.tree.root / "message" / ref, self.tree.rows(ref))

    def _from_tree(self, folders: Sequence[str] | None) -> Iterator[Found]:
        tree = self.tree
        for session in tree.sessions():
            if session.parent is None and (folders is None or session.directory in folders):
                yield found(session, tree.root / "message" / session.id, tree.rows(session.id))


def spellings(folder: str) -> Sequence[str]:
    """How the path of a folder may be written down."""
    plain_path = folder.rstrip("/\\") or folder
    paths = (plain_path, os.path.realpath(plain_path))
    forms = (unicodedata.normalize(form, path) for path in paths for form in ("NFC", "NFD"))
    return list(dict.fromkeys((*paths, *forms)))


def found(session: Session, path: Path, rows: Iterator[Row]) -> Found:
    """A conversation as a list shows it: by its own title, else by its first words."""
    title = session.title
    if title is None or _UNTITLED.match(title):
        title = _first_words(rows)
    return Found(NAME, session.id, path, session.updated, session.directory, _line(title))


def _first_words(rows: Iterator[Row]) -> str | None:
    for _, row in zip(range(LOOKED), rows, strict=False):
        record = read(row, Tally())
        if record is not None and isinstance(record.says, Said) and record.says.typed:
            return plain(record.says.content)
    return None


def _line(title: str | None) -> str | None:
    return " ".join((title or "").split())[:TITLE].rstrip() or None


def _looked(path: Path, work: Callable[[Database, Path], T]) -> T | None:
    """What `work` finds in a database; one that cannot be read holds nothing."""
    try:
        return consult(path, lambda database: work(database, path))
    except SidechatError:
        return None
