"""Where Gemini CLI keeps its sessions. A server that it starts is told nothing of the session,
and a call is written down after it was made: who is calling cannot be known."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import files
from sidechat_mcp.clients.gemini.transcript import NAME, is_conversation, read, sorted_out, words
from sidechat_mcp.clients.values import mapping, word
from sidechat_mcp.ports.client import Call, Found, Transcript

HEAD = 256 * 1024
"""Bytes at the beginning of a file that its title is looked for in."""
_ROOT = ".project_root"
_SHORT = 8
"""Characters of a session's id that its file is named with."""


@dataclass(frozen=True, slots=True)
class Places:
    """Gemini CLI's own folder, as an environment says where it is."""

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
                if path.stem == ref or ref[:_SHORT] in path.stem:
                    found = look(path, active, None)
                    if found is not None and found.ref == ref:
                        return found
        return None

    def read(self, path: Path, ref: str | None) -> Transcript:
        try:
            with path.open("rb") as file:
                return read(file, path.stem, ref, root(path))
        except OSError as error:
            raise files.unreadable(path, error) from error

    @property
    def _home(self) -> Path:
        named = self.environ.get("GEMINI_CLI_HOME")
        return (Path(named) if named else files.home(self.environ)) / ".gemini"

    def _files(self, cwd: str | None) -> Iterator[tuple[int, Path]]:
        """Session files; those of subagents lie in folders deeper."""
        projects = self._home / "tmp"
        found = files.folders(projects) if cwd is None else self._projects(projects, cwd)
        yield from files.dated((one / "chats" for one in found), [".jsonl", ".json"])

    def _projects(self, projects: Path, cwd: str) -> Sequence[Path]:
        """The folders of a project: by its name, and (of old versions) by a digest."""
        named = mapping(
            mapping(files.document(files.peek(self._home / "projects.json", 2**20))).get("projects")
        )
        short = [word(named.get(one)) for one in files.spellings(cwd)]
        digests = [hashlib.sha256(one.encode()).hexdigest() for one in files.spellings(cwd)]
        names = (name for name in (*short, *digests) if name is not None and files.is_ref(name))
        return [projects / name for name in dict.fromkeys(names)]


def root(path: Path) -> str | None:
    """The folder that a session was begun in, by what stands beside it."""
    text = files.peek(path.parent.parent / _ROOT, 16 * 1024).decode("utf-8", "replace")
    return text.strip() or None


def look(path: Path, active: int, cwd: str | None) -> Found | None:
    """What the head of a file says of it, or None when it holds no conversation."""
    head = files.peek(path, files.LARGEST if path.suffix == ".json" else HEAD)
    session = sorted_out(io.BytesIO(head))
    if not is_conversation(session):
        return None
    title = words(session)
    return Found(NAME, session.ref or path.stem, path, active, root(path) or cwd, title)
