"""Where Cursor keeps its agents' transcripts. It says nothing of the conversation to a server,
and its transcripts show no results: which call is waiting cannot be seen."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import files
from sidechat_mcp.clients.cursor.transcript import NAME, read, records
from sidechat_mcp.clients.dialogue import Said
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.ports.client import Call, Found, Transcript

HEAD = 256 * 1024
"""Bytes at the beginning of a file that its title is looked for in."""

_BETWEEN = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Places:
    """Cursor's own folder, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def name(self) -> str:
        return NAME

    def calling(self, call: Call) -> Found | None:
        return None

    def awaited(self, call: Call) -> bool:
        return False

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        def of_folder(path: Path, active: int) -> Found | None:
            return look(path, active, cwd)

        return files.newest(self._files(cwd), of_folder, limit)

    def find(self, ref: str, cwd: str | None) -> Found | None:
        if not files.is_ref(ref):
            return None
        near = self._files(cwd) if cwd is not None else iter(())
        for some in (near, self._files(None)):
            for active, path in sorted(some, reverse=True):
                found = look(path, active, None) if path.stem == ref else None
                if found is not None:
                    return found
        return None

    def read(self, path: Path, ref: str | None) -> Transcript:
        try:
            with path.open("rb") as file:
                if file.read(15) == b"SQLite format 3":
                    raise files.alien(
                        "Cursor", "it is a database; of Cursor's, transcripts alone are read"
                    )
                file.seek(0)
                return read(file, path.stem, ref)
        except OSError as error:
            raise files.unreadable(path, error) from error

    def _files(self, cwd: str | None) -> Iterator[tuple[int, Path]]:
        """The transcripts, each in a folder of its own name; an agent's agents lie deeper."""
        projects = files.home(self.environ) / ".cursor" / "projects"
        if cwd is None:
            found = files.folders(projects)
        else:
            found = [projects / key(one) for one in files.spellings(cwd)]
        for project in dict.fromkeys(found):
            for folder in files.folders(project / "agent-transcripts"):
                path = folder / f"{folder.name}.jsonl"
                active = files.active(path)
                if active is not None:
                    yield active, path


def key(cwd: str) -> str:
    """Cursor's name for a project."""
    return _BETWEEN.sub("-", cwd).strip("-")


def look(path: Path, active: int, cwd: str | None) -> Found | None:
    """What the head of a file says of it, or None when it holds no conversation."""
    said = records(io.BytesIO(files.peek(path, HEAD)), Tally())
    asked = (one.says.content for one in said if isinstance(one.says, Said))
    title = next((found for one in asked if (found := files.title(one)) is not None), None)
    return Found(NAME, path.stem, path, active, cwd, title) if said else None
