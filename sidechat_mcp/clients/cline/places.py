"""Where Cline keeps its conversations: its command line in folders of its own, its extension in
the storage of the editor. Neither says to a server which conversation is calling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import editors, files
from sidechat_mcp.clients.cline.transcript import NAME, first_words, read
from sidechat_mcp.clients.values import mapping, word
from sidechat_mcp.core.content import Text
from sidechat_mcp.ports.client import Call, Found, Transcript

EXTENSION = "saoudrizwan.claude-dev"
_MESSAGES = ".messages.json"
_HISTORY = "api_conversation_history.json"
_ABOUT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Places:
    """Cline's own folders, as an environment says where they are."""

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
            found = look(path, active)
            return found if found and (cwd is None or files.same(found.cwd, cwd)) else None

        return files.newest(self._files(), of_folder, limit)

    def find(self, ref: str, cwd: str | None) -> Found | None:
        if not files.is_ref(ref):
            return None
        for folder in self._folders():
            for path in (folder / ref / f"{ref}{_MESSAGES}", folder / ref / _HISTORY):
                active = files.active(path)
                found = look(path, active) if active is not None else None
                if found is not None:
                    return found
        return None

    def read(self, path: Path, ref: str | None) -> Transcript:
        return read(files.whole(path), _ref(path), ref, _cwd(path))

    def _folders(self) -> Sequence[Path]:
        """Folders that hold one for each conversation."""
        named = self.environ.get("CLINE_DIR")
        own = Path(named) if named else files.home(self.environ) / ".cline"
        storage = (one / "globalStorage" for one in editors.users(self.environ))
        return [own / "data" / "sessions", *(one / EXTENSION / "tasks" for one in storage)]

    def _files(self) -> Iterator[tuple[int, Path]]:
        for folder in self._folders():
            for one in files.folders(folder):
                for path in (one / f"{one.name}{_MESSAGES}", one / _HISTORY):
                    active = files.active(path)
                    if active is not None:
                        yield active, path


def look(path: Path, active: int) -> Found | None:
    """What a file says of its conversation, or None when it holds none."""
    text = files.peek(path, files.LARGEST)
    words = first_words(text)
    if words is None:
        return None
    named = word(mapping(_about(path).get("metadata")).get("title"))
    title = files.title((Text(named),)) if named is not None else words
    told = read(text, _ref(path), None, _cwd(path)) if _cwd(path) is None else None
    return Found(NAME, _ref(path), path, active, told.cwd if told else _cwd(path), title)


def _ref(path: Path) -> str:
    return path.parent.name if path.name == _HISTORY else path.name.removesuffix(_MESSAGES)


def _about(path: Path) -> Mapping[str, object]:
    """What the command line writes beside a conversation."""
    if not path.name.endswith(_MESSAGES):
        return {}
    beside = path.with_name(path.name.removesuffix(_MESSAGES) + ".json")
    return mapping(files.document(files.peek(beside, _ABOUT)))


def _cwd(path: Path) -> str | None:
    return word(_about(path).get("cwd"))
