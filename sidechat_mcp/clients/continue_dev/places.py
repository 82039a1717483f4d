"""Where Continue keeps its sessions. A server that it starts is told nothing of the session, and
a session is written after its turn: who is calling cannot be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import files
from sidechat_mcp.clients.continue_dev.transcript import NAME, folder, read
from sidechat_mcp.clients.values import mapping, sequence, word
from sidechat_mcp.core.content import Text
from sidechat_mcp.ports.client import Call, Found, Transcript

_INDEX = "sessions.json"
_UNTITLED = ("Untitled Session", "New Session")


@dataclass(frozen=True, slots=True)
class Places:
    """Continue's own folder, as an environment says where it is."""

    environ: Mapping[str, str]

    @property
    def name(self) -> str:
        return NAME

    @property
    def sessions(self) -> Path:
        named = self.environ.get("CONTINUE_GLOBAL_DIR")
        return (Path(named) if named else files.home(self.environ) / ".continue") / "sessions"

    def calling(self, call: Call) -> Found | None:
        return None

    def awaited(self, call: Call) -> bool:
        return False

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        def of_folder(path: Path, active: int) -> Found | None:
            found = look(path, active)
            return found if found and (cwd is None or files.same(found.cwd, cwd)) else None

        return files.newest(self._files(), of_folder, limit)

    def find(self, ref: str, cwd: str | None) -> Found | None:
        if not files.is_ref(ref):
            return None
        path = self.sessions / f"{ref}.json"
        active = files.active(path)
        found = look(path, active) if active is not None else None
        return found if found is not None and found.ref == ref else None

    def read(self, path: Path, ref: str | None) -> Transcript:
        return read(files.whole(path), path.stem, ref)

    def _files(self) -> Iterator[tuple[int, Path]]:
        for active, path in files.dated([self.sessions], [".json"]):
            if path.name != _INDEX:
                yield active, path


def look(path: Path, active: int) -> Found | None:
    """What a file says of its session, or None when it holds no conversation."""
    session = mapping(files.document(files.peek(path, files.LARGEST)))
    said = [mapping(mapping(one).get("message")) for one in sequence(session.get("history"))]
    asked = (word(one.get("content")) for one in said if one.get("role") == "user")
    words = next((one for one in asked if one is not None), "")
    if not said:
        return None
    named = word(session.get("title"))
    title = named if named not in (None, *_UNTITLED) else words
    ref = word(session.get("sessionId")) or path.stem
    return Found(NAME, ref, path, active, folder(session), files.title((Text(title or words),)))
