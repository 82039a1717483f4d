"""A local model's process: begun when asked, gone when we are. The program that stands in for the
model's server speaks the same words on input and output and is otherwise our own."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.errors import ProviderError
from sidechat_mcp.ports.provider import Done, Whole
from sidechat_mcp.providers.exchange.pace import Turnstiles
from sidechat_mcp.providers.local import provider as made
from sidechat_mcp.providers.local.engine import PROGRAM, Engine
from tests.behaviours import behaviour

CONTEXT = Context(RequestHeader(), [Message("user", text("Hi"))])

SERVER = """
import http.server, json, os, sys, threading
order = json.loads(sys.stdin.readline())
class Said(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        right = self.headers["authorization"] == "Bearer " + order["key"]
        self.send_response(200 if right else 401)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        chunk = {"model": "m", "choices": [{"delta": {"content": json.dumps(body["cache_prompt"])},
                 "finish_reason": "stop"}]}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\\n\\ndata: [DONE]\\n\\n")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Said)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"address": f"http://127.0.0.1:{server.server_port}"}), flush=True)
sys.stdin.read()
open(os.path.join(order["folder"], order["slot"]), "w").write(" ".join(sorted(os.environ)))
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF and more")
    return path


@pytest.fixture
def engine(model: Path, tmp_path: Path) -> Generator[Engine]:
    environ = {**os.environ, "ANTHROPIC_API_KEY": "sk-planted"}
    engine = Engine(model, tmp_path / "home" / "local", environ, (sys.executable, "-c", SERVER))
    yield engine
    engine.close()


def provider(engine: Engine, model: Path, monkeypatch: pytest.MonkeyPatch) -> made.Local:
    def installed(_: str) -> object:
        return object()

    monkeypatch.setattr(made, "find_spec", installed)
    local = made.local(str(model), {"SIDECHAT_HOME": str(model.parent)}, "none", Turnstiles())
    local.wired.access = made.replace(local.wired.access, key=lambda: made.Secret(engine.key))
    local.engine = engine
    return local


async def answer(local: made.Local) -> str:
    with anyio.fail_after(20):
        async with local.stream(CONTEXT) as chunks:
            found = [chunk async for chunk in chunks]
    assert isinstance(found[-1], Done)
    return "".join(chunk.block.text for chunk in found if isinstance(chunk, Whole))  # type: ignore[union-attr]


def pid(engine: Engine) -> int:
    process = engine._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    return process.pid


@behaviour("wire:local")
async def test_it_starts_when_it_is_asked_and_stays(
    engine: Engine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = provider(engine, model, monkeypatch)
    assert local.about.pays == "nobody: the model runs on this machine"
    assert dict(local.wire(CONTEXT))["wire"] == "openai-chat"
    assert engine._process is None, "nothing runs yet"  # pyright: ignore[reportPrivateUsage]
    assert await answer(local) == "true"
    first = pid(engine)
    assert await answer(local) == "true"
    assert pid(engine) == first
    assert engine.key not in repr(local)


@behaviour("wire:local")
async def test_one_that_died_is_started_again(
    engine: Engine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = provider(engine, model, monkeypatch)
    await answer(local)
    first = pid(engine)
    os.kill(first, signal.SIGKILL)
    await anyio.to_thread.run_sync(ended, first)
    assert await answer(local) == "true"


async def test_many_at_once_start_one(
    engine: Engine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = provider(engine, model, monkeypatch)
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(answer, local)
    first = pid(engine)
    await answer(local)
    assert pid(engine) == first


@behaviour("wire:local-ends")
def test_closing_ends_the_process_which_keeps_its_prefix_and_has_no_keys(engine: Engine) -> None:
    engine.address()
    gone = pid(engine)
    engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(gone, 0)
    (slot,) = engine.folder.glob("*.slot")
    names = slot.read_text().split()
    assert "PATH" in names
    assert "ANTHROPIC_API_KEY" not in names
    assert engine.folder.stat().st_mode & 0o777 == 0o700


OWNER = """
import sys
from pathlib import Path
from sidechat_mcp.providers.local.engine import Engine
model, folder, server = sys.argv[1:]
engine = Engine(Path(model), Path(folder), program=(sys.executable, "-c", server))
engine.address()
print(engine._process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@behaviour("wire:local-ends")
def test_it_is_gone_after_its_owner_was_killed(
    model: Path, tmp_path: Path, how: signal.Signals
) -> None:
    command = [sys.executable, "-c", OWNER, str(model), str(tmp_path), SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        serving = int(process.stdout.readline())
        process.send_signal(how)
        ended(serving)


def ended(process: int) -> None:
    """Wait until a process has ended, whoever started it."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    assert select.select([descriptor], [], [], 5)[0], "it goes on"
    os.close(descriptor)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit(1)", "its process ended"),
        ('print(\'{"error": "no such tensor"}\')', "no such tensor"),
        ("print('[]')", "its process ended"),
    ],
)
def test_a_model_that_does_not_load_says_why(
    model: Path, tmp_path: Path, program: str, why: str
) -> None:
    engine = Engine(model, tmp_path, program=(sys.executable, "-c", program))
    with pytest.raises(ProviderError) as raised:
        engine.address()
    assert f"The model m.gguf could not be loaded: {why}." in str(raised.value)


def test_the_real_program_says_what_it_lacks_on_its_one_line(model: Path, tmp_path: Path) -> None:
    engine = Engine(model, tmp_path, program=(PROGRAM[0], "-S", *PROGRAM[1:]))
    with pytest.raises(ProviderError, match="could not be loaded"):
        engine.address()
