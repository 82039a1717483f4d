"""Where Qwen Code keeps its sessions, and which one is calling.

A server is told the session that it was started in; the person may have begun another one since.
A call is written down before it is made: a session that waits for it is the one that asks."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import files, signs
from sidechat_mcp.clients.dialogue import Said, pending
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.clients.qwen.records import Shelf
from sidechat_mcp.clients.qwen.transcript import NAME, gather, read
from sidechat_mcp.core.content import Text
from sidechat_mcp.ports.client import Call, Found, Transcript

SESSION = "QWEN_CODE_SESSION_ID"
HEAD = 256 * 1024
"""Bytes at the beginning of a file that its title and folder are looked for in."""
TAIL = 2 * 1024 * 1024
"""Bytes at the end of a file that a pending call is looked for in."""
NEAR = 10
"""How many of a folder's newest sessions are looked into."""

_BETWEEN = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Places:
    """Qwen Code's own folder, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def name(self) -> str:
        return NAME

    def calling(self, call: Call) -> Found | None:
        """A tool's call: the session that waits for it, the one we were started in before all
        others. Anything else: the one we were started in."""
        named = self._named(call)
        if named is None or call.tool is None:
            return named
        beside = sorted(files.dated([named.path.parent], [".jsonl"]), reverse=True)[:NEAR]
        return signs.waiting(call, named, [path for _, path in beside], _waits, _at)

    def awaited(self, call: Call) -> bool:
        return call.tool is not None and self._named(call) is not None

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        def of_folder(path: Path, active: int) -> Found | None:
            found = look(path, active)
            return found if found and (cwd is None or files.same(found.cwd, cwd)) else None

        return files.newest(self._files(cwd), of_folder, limit)

    def find(self, ref: str, cwd: str | None) -> Found | None:
        if not files.is_ref(ref):
            return None
        near = self._files(cwd) if cwd is not None else iter(())
        for some in (near, self._files(None)):
            for active, path in sorted(some, reverse=True):
                found = look(path, active) if path.stem == ref else None
                if found is not None and found.ref == ref:
                    return found
        return None

    def read(self, path: Path, ref: str | None) -> Transcript:
        try:
            with path.open("rb") as file:
                return read(file, path.stem, ref)
        except OSError as error:
            raise files.unreadable(path, error) from error

    def _named(self, call: Call) -> Found | None:
        ref = call.environment.get(SESSION)
        if not ref or not signs.alone(call, NAME):
            return None
        return Places({**self.environ, **call.environment}).find(ref, call.cwd or None)

    def _files(self, cwd: str | None) -> Iterator[tuple[int, Path]]:
        projects = files.home(self.environ) / ".qwen" / "projects"
        if cwd is None:
            found = files.folders(projects)
        else:
            found = [projects / key(one) for one in files.spellings(cwd)]
        yield from files.dated((one / "chats" for one in dict.fromkeys(found)), [".jsonl"])


def key(cwd: str) -> str:
    """Qwen Code's name for a project."""
    return _BETWEEN.sub("-", cwd)


def look(path: Path, active: int) -> Found | None:
    """What the head of a file says of it, or None when it holds no conversation."""
    shelf = Shelf(Tally())
    nodes = gather(io.BytesIO(files.peek(path, HEAD)), shelf)
    asked = [one.says.content for node in nodes for one in node.says if isinstance(one.says, Said)]
    if not any(node.says for node in nodes):
        return None
    title = next((found for one in asked if (found := files.title(one)) is not None), None)
    if shelf.title is not None:
        title = files.title((Text(shelf.title),)) or title
    return Found(NAME, shelf.ref or path.stem, path, active, shelf.cwd, title)


def _at(path: Path) -> Found | None:
    active = files.active(path)
    return look(path, active) if active is not None else None


def _waits(path: Path) -> Sequence[signs.Asked]:
    nodes = gather(io.BytesIO(files.ending(path, TAIL)), Shelf(Tally()))
    return [asked for asked, _ in pending(one for node in nodes for one in node.says)]
