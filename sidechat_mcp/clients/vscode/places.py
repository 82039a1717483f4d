"""Where VS Code keeps its chats, and which one is calling: it says so with each call.

A conversation that has a transcript for hooks is read from there, for a chat's own file may be
behind; which of the two is read does not change from one time to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.clients import editors, files
from sidechat_mcp.clients.values import word
from sidechat_mcp.clients.vscode.transcript import NAME, gather, read, words
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.ports.client import Call, Found, Transcript

CONVERSATION = "vscode.conversationId"
_TRANSCRIPTS = Path("GitHub.copilot-chat", "transcripts")
_CHATS = "chatSessions"
_NO_FOLDER = Path("globalStorage", "emptyWindowChatSessions")


@dataclass(frozen=True, slots=True)
class Places:
    """VS Code's own folders, as an environment says where they are."""

    environ: Mapping[str, str]

    @property
    def name(self) -> str:
        return NAME

    def calling(self, call: Call) -> Found | None:
        ref = word(call.meta.get(CONVERSATION))
        return self.find(ref, None) if ref is not None else None

    def awaited(self, call: Call) -> bool:
        return False

    def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        return files.newest(self._files(cwd), look, limit)

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
        return read(files.whole(path), path.stem, ref, _folder(path))

    def _files(self, cwd: str | None) -> Iterator[tuple[int, Path]]:
        """One file for each conversation."""
        for user in editors.users(self.environ):
            for storage in files.folders(user / "workspaceStorage"):
                if cwd is None or files.same(editors.folder_of(storage), cwd):
                    yield from _one_each(storage / _CHATS, storage / _TRANSCRIPTS)
            if cwd is None:
                yield from _one_each(user / _NO_FOLDER)


def _one_each(*folders: Path) -> Iterator[tuple[int, Path]]:
    """Of a conversation's files the last kind counts: a document, a log, a transcript."""
    kept: dict[str, tuple[int, Path]] = {}
    for folder in folders:
        for ending in (".json", ".jsonl"):
            for active, path in files.dated([folder], [ending]):
                kept[path.stem] = (active, path)
    yield from kept.values()


def look(path: Path, active: int) -> Found | None:
    """What a file says of its conversation, or None when it holds none."""
    try:
        told = gather(files.whole(path))
    except SidechatError:
        return None
    if not told.records:
        return None
    return Found(NAME, told.ref or path.stem, path, active, _folder(path), words(told))


def _folder(path: Path) -> str | None:
    """The folder that a conversation belongs to, by where its file lies."""
    deep = 2 if path.parent.name == _TRANSCRIPTS.name else 1
    return editors.folder_of(path.parents[deep]) if len(path.parents) > deep else None
