"""The contract of providers, held by all three wires against a server in a thread of its own."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Generator

import pytest

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.testing.provider_contract import ProviderContract
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
