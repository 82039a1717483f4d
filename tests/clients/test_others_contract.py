"""The clients that are found and read alone keep the contract of clients."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from sidechat_mcp.clients.kept import Kept
from sidechat_mcp.ports.client import Call
from sidechat_mcp.testing.client_contract import ClientContract, House
from tests.clients.readers import client
from tests.clients.wholes import Cline, Continue, Goose, Zed, zed
from tests.clients.writers import (
    Chat,
    Copilot,
    Cursor,
    Gemini,
    Qwen,
    Writer,
    moments,
    talked,
)

FORK = "sidechat__fork"
REFS = ["a3-newest", "a2-middle", "a1-oldest"]


def built(
    root: Path,
    opened: Kept,
    make: Callable[[str, str], Writer],
    put: Callable[[str, str, bytes], Path],
    *,
    grown: Sequence[bytes],
    torn: bytes,
    alien: bytes,
    calling: Callable[[str, str], Call] | None = None,
    stray: Callable[[str], Call] | None = None,
    refs: Sequence[str] = REFS,
) -> House:
    """A home with conversations in it; each file is written a minute after the one before."""
    cwd, elsewhere = str(root / "work" / "ferryline"), str(root / "work" / "other")
    Path(cwd).mkdir(parents=True)
    Path(elsewhere).mkdir()
    for n, ref in enumerate(reversed(refs)):
        writer = talked(make(ref, cwd), f"First words of {ref}")
        writer.said("Fork this, please.")
        writer.calls("c9", FORK, {"question": f"of {ref}"})
        path = put(ref, cwd, writer.text())
        os.utime(path, (1_796_000_000 + n * 60, 1_796_000_000 + n * 60))
    return House(
        client=opened,
        home=root,
        cwd=cwd,
        elsewhere=elsewhere,
        refs=refs,
        calling=(lambda ref: calling(ref, cwd)) if calling is not None else None,
        stray=stray(cwd) if stray is not None else Call({}, {}, (), cwd, "fork", {}),
        moments=grown,
        torn=torn,
        alien=alien,
    )


def prefixes(writer: Writer) -> list[bytes]:
    """A file of lines after each line."""
    lines = talked(writer, "First words").text().splitlines(keepends=True)
    return [b"".join(lines[:n]) for n in range(1, len(lines) + 1)]


def halved(text: bytes) -> bytes:
    """A file in the middle of its last write."""
    cut = text.rstrip().rfind(b"\n") + 1
    return text[: cut + (len(text) - cut) // 2]


ALIEN = b"".join(b'{"type": "k%d", "payload": {}}\n' % n for n in range(9))


def kept(path: Path, text: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return path


def home(root: Path) -> Mapping[str, str]:
    return {"HOME": str(root / "home")}


class TestGemini(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        own = tmp_path / "home" / ".gemini"

        def put(ref: str, cwd: str, text: bytes) -> Path:
            kept(own / "projects.json", json.dumps({"projects": {cwd: "ferryline"}}).encode())
            kept(own / "tmp" / "ferryline" / ".project_root", cwd.encode())
            chats = own / "tmp" / "ferryline" / "chats"
            return kept(chats / f"session-2026-12-01T10-00-{ref[:8]}.jsonl", text)

        grown = prefixes(Gemini())
        return built(
            tmp_path,
            client("gemini", home(tmp_path)),
            Gemini,
            put,
            grown=grown,
            torn=halved(grown[-1]),
            alien=ALIEN,
        )


class TestQwen(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        def put(ref: str, cwd: str, text: bytes) -> Path:
            project = "".join(one if one.isalnum() else "-" for one in cwd)
            own = tmp_path / "home" / ".qwen" / "projects"
            return kept(own / project / "chats" / f"{ref}.jsonl", text)

        grown = prefixes(Qwen())
        return built(
            tmp_path,
            client("qwen", home(tmp_path)),
            Qwen,
            put,
            grown=grown,
            torn=halved(grown[-1]),
            alien=ALIEN,
            calling=lambda ref, cwd: Call(
                {}, {"QWEN_CODE_SESSION_ID": ref}, (), cwd, "fork", {"question": f"of {ref}"}
            ),
            stray=lambda cwd: Call({}, {"QWEN_CODE_SESSION_ID": "a9"}, (), cwd, "fork", {}),
        )


class TestCopilot(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        state = tmp_path / "home" / ".copilot" / "session-state"
        grown = prefixes(Copilot())
        return built(
            tmp_path,
            client("copilot-cli", home(tmp_path)),
            Copilot,
            lambda ref, cwd, text: kept(state / ref / "events.jsonl", text),
            grown=grown,
            torn=halved(grown[-1]),
            alien=ALIEN,
            calling=lambda ref, cwd: Call(
                {}, {"COPILOT_AGENT_SESSION_ID": ref}, (), cwd, "fork", {"question": f"of {ref}"}
            ),
            stray=lambda cwd: Call({}, {"COPILOT_AGENT_SESSION_ID": "a9"}, (), cwd, "fork", {}),
        )


class TestVscode(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        user = tmp_path / "home" / ".config" / "Code" / "User"
        storage = user / "workspaceStorage" / "0a1b"

        def put(ref: str, cwd: str, text: bytes) -> Path:
            kept(storage / "workspace.json", json.dumps({"folder": f"file://{cwd}"}).encode())
            return kept(storage / "chatSessions" / f"{ref}.jsonl", text)

        grown = prefixes(Chat())
        return built(
            tmp_path,
            client("vscode", home(tmp_path)),
            Chat,
            put,
            grown=grown,
            torn=halved(grown[-1]),
            alien=ALIEN,
            calling=lambda ref, cwd: Call({"vscode.conversationId": ref}, {}, (), cwd),
            stray=lambda cwd: Call({"vscode.conversationId": "a9"}, {}, (), cwd),
        )


class TestCursor(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        def put(ref: str, cwd: str, text: bytes) -> Path:
            project = "".join(one if one.isalnum() else "-" for one in cwd).strip("-")
            own = tmp_path / "home" / ".cursor" / "projects" / project / "agent-transcripts"
            return kept(own / ref / f"{ref}.jsonl", text)

        grown = prefixes(Cursor())
        return built(
            tmp_path,
            client("cursor", home(tmp_path)),
            Cursor,
            put,
            grown=grown,
            torn=halved(grown[-1]),
            alien=ALIEN,
        )


class TestContinue(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        sessions = tmp_path / "home" / ".continue" / "sessions"
        kept(sessions / "sessions.json", b'[{"sessionId": "a1-oldest"}]')
        grown = moments(Continue())
        return built(
            tmp_path,
            client("continue", home(tmp_path)),
            Continue,
            lambda ref, cwd, text: kept(sessions / f"{ref}.json", text),
            grown=grown,
            torn=grown[-1][: grown[-1].rindex(b"A last answer")],
            alien=b'{"sessionId": "x", "turns": [{"who": "me"}]}',
        )


class TestCline(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        sessions = tmp_path / "home" / ".cline" / "data" / "sessions"

        def put(ref: str, cwd: str, text: bytes) -> Path:
            about = json.dumps({"session_id": ref, "cwd": cwd}).encode()
            kept(sessions / ref / f"{ref}.json", about)
            return kept(sessions / ref / f"{ref}.messages.json", text)

        grown = moments(Cline())
        return built(
            tmp_path,
            client("cline", home(tmp_path)),
            Cline,
            put,
            grown=grown,
            torn=grown[-1][: grown[-1].rindex(b"A last answer")],
            alien=b'{"version": 9, "log": []}',
        )


class TestClineExtension(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        user = tmp_path / "home" / ".config" / "VSCodium" / "User"
        tasks = user / "globalStorage" / "saoudrizwan.claude-dev" / "tasks"
        grown = moments(Cline(bare=True))
        return built(
            tmp_path,
            client("cline", home(tmp_path)),
            lambda ref, cwd: Cline(ref, cwd, bare=True),
            lambda ref, cwd, text: kept(tasks / ref / "api_conversation_history.json", text),
            grown=grown,
            torn=grown[-1][: grown[-1].rindex(b"A last answer")],
            alien=b'[{"who": "me"}]',
        )


class TestGoose(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        file = tmp_path / "home" / ".local" / "share" / "goose" / "sessions" / "sessions.db"
        grown = moments(Goose())
        torn = Goose()
        talked(torn, "First words")
        torn.rows[-1] = ("assistant", torn.rows[-1][1][:9], torn.rows[-1][2])
        return built(
            tmp_path,
            client("goose", home(tmp_path)),
            Goose,
            lambda ref, cwd, text: kept(file, text),
            grown=grown,
            torn=torn.text(),
            alien=zed(Zed()),
            calling=lambda ref, cwd: Call({"agent-session-id": ref}, {}, (), cwd),
            stray=lambda cwd: Call({"agent-session-id": "20261201_9"}, {}, (), cwd),
            refs=["20261201_1"],
        )


class TestZed(ClientContract):
    @pytest.fixture
    def house(self, tmp_path: Path) -> House:
        file = tmp_path / "home" / ".local" / "share" / "zed" / "threads" / "threads.db"
        grown = moments(Zed())
        whole = talked(Zed(), "First words")
        assert isinstance(whole, Zed)
        text = whole.document()
        return built(
            tmp_path,
            client("zed", home(tmp_path)),
            Zed,
            lambda ref, cwd, text: kept(file, text),
            grown=grown,
            torn=zed(whole, data=text[: text.rindex(b"A last answer")]),
            alien=Goose().text(),
            refs=["a1-only"],
        )
