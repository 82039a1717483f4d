"""Where Copilot CLI keeps its sessions, and which one is calling.

A server is told the session that it was started in, and a call is written down before it is made:
the session that waits for it is the one that asks."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import copilot_events, files, signs
from sidechat_mcp.clients.copilot.transcript import NAME, read
from sidechat_mcp.clients.copilot_events import Shelf
from sidechat_mcp.clients.dialogue import Said, pending
from sidechat_mcp.clients.jsonl import Tally
from sidechat_mcp.ports.client import Call, Found, Transcript

SESSION = "COPILOT_AGENT_SESSION_ID"
HEAD = 512 * 1024
"""Bytes at the beginning of a file that its title and folder are looked for in."""
TAIL = 2 * 1024 * 1024
"""Bytes at the end of a file that a pending call is looked for in."""
NEAR = 10
"""How many of the newest sessions are looked into."""
_EVENTS = "events.jsonl"


@dataclass(frozen=True, slots=True)
class Places:
    """Copilot CLI's own folder, as an environment says where it is."""

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
        newest = sorted(Places({**self.environ, **call.environment}).files(), reverse=True)[:NEAR]
        return signs.waiting(call, named, [path for _, path in newest], _waits, _at)

    def awaited(self, call: Call) -> bool:
        return call.tool is not None and self._named(call) is not None

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        def of_folder(path: Path, active: int) -> Found | None:
            found = look(path, active)
            return found if found and (cwd is None or files.same(found.cwd, cwd)) else None

        return files.newest(self.files(), of_folder, limit)

    def find(self, ref: str, cwd: str | None) -> Found | None:
        path = self._state / ref / _EVENTS if files.is_ref(ref) else None
        active = files.active(path) if path is not None else None
        found = look(path, active) if path is not None and active is not None else None
        return found if found is not None and found.ref == ref else None

    def read(self, path: Path, ref: str | None) -> Transcript:
        try:
            with path.open("rb") as file:
                return read(file, _name(path), ref)
        except OSError as error:
            raise files.unreadable(path, error) from error

    def files(self) -> Iterator[tuple[int, Path]]:
        for folder in files.folders(self._state):
            active = files.active(folder / _EVENTS)
            if active is not None:
                yield active, folder / _EVENTS

    @property
    def _state(self) -> Path:
        named = self.environ.get("COPILOT_HOME")
        own = Path(named) if named else files.home(self.environ) / ".copilot"
        return own / "session-state"

    def _named(self, call: Call) -> Found | None:
        ref = call.environment.get(SESSION)
        if not ref or not signs.alone(call, NAME):
            return None
        return Places({**self.environ, **call.environment}).find(ref, None)


def look(path: Path, active: int) -> Found | None:
    """What the head of a file says of it, or None when it holds no conversation."""
    shelf = Shelf(Tally())
    told = copilot_events.gather(io.BytesIO(files.peek(path, HEAD)), shelf)
    if not told or shelf.editor is not None:
        return None
    asked = (one.says.content for one in told if isinstance(one.says, Said))
    title = next((found for one in asked if (found := files.title(one)) is not None), None)
    return Found(NAME, shelf.ref or _name(path), path, active, shelf.cwd, title)


def _at(path: Path) -> Found | None:
    active = files.active(path)
    return look(path, active) if active is not None else None


def _waits(path: Path) -> Sequence[signs.Asked]:
    told = copilot_events.gather(io.BytesIO(files.ending(path, TAIL)), Shelf(Tally()))
    return [asked for asked, _ in pending(told)]


def _name(path: Path) -> str:
    """A session's file is named by its folder."""
    return path.parent.name if path.name == _EVENTS else path.stem
