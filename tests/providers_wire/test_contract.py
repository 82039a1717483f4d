"""The contract of providers, held by all three wires against a server in a thread of its own, and
by a local model against one in a process of its own."""

from __future__ import annotations

import http.server
import os
import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import pytest

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.ports.provider import About
from sidechat_mcp.providers.exchange.endpoint import Endpoint
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.exchange.pace import Turnstiles
from sidechat_mcp.providers.exchange.speech import Access
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.providers.local.engine import Engine
from sidechat_mcp.providers.local.provider import SETTINGS, WHO, Local
from sidechat_mcp.providers.openai_chat.wire import wire
from sidechat_mcp.testing.provider_contract import ProviderContract
from tests.providers_wire.test_local import SERVER
from tests.providers_wire.wires import SPOKEN, Spoken


class Server(http.server.ThreadingHTTPServer):
    """Answers everything with the same stream, an event a packet."""

    daemon_threads = True
    spoken: Spoken


class Answering(http.server.BaseHTTPRequestHandler):
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            for event in self.server.spoken.plain:
                self.wfile.write(event)
        except OSError:
            pass  # Who asked has left.


@pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
class TestWires(ProviderContract):
    @pytest.fixture
    def provider(self, spoken: Spoken) -> Generator[Wired]:
        with Server(("127.0.0.1", 0), Answering) as server:
            server.spoken = spoken
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield spoken.at(f"http://127.0.0.1:{server.server_port}")
            server.shutdown()

    @pytest.fixture
    def ask(self, spoken: Spoken) -> Callable[[str], Context]:
        def ask(words: str) -> Context:
            header = RequestHeader(model=spoken.model)
            return Context(header, [Message("user", text(words), turn=1)])

        return ask


class TestLocal(ProviderContract):
    """A model's process stands in for llama.cpp's; all else is what a person gets."""

    @pytest.fixture
    def provider(self, tmp_path: Path) -> Generator[Local]:
        model = tmp_path / "m.gguf"
        model.write_bytes(b"GGUF and more")
        engine = Engine(model, tmp_path / "local", os.environ, (sys.executable, "-c", SERVER))
        access = Access(WHO, Endpoint("http://127.0.0.1", "", True), lambda: Secret(engine.key))
        speech = replace(wire(WHO, "m", SETTINGS), path="/v1/chat/completions")
        about = About("local", "m", "nobody", "none")
        local = Local(engine, Wired(about, speech, access, Turnstiles()))
        yield local
        local.close()

    @pytest.fixture
    def ask(self) -> Callable[[str], Context]:
        return lambda words: Context(RequestHeader(), [Message("user", text(words), turn=1)])
