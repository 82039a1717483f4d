"""A server in a process of its own, spoken to in lines of JSON with nothing in between."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
OURS = (sys.executable, "-m", "sidechat_mcp", "serve")
BARE = (sys.executable, "-m", "benchmarks.bare")
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
_META: Mapping[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Pipe:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout

    def ask(self, method: str, params: Mapping[str, Any], **meta: Any) -> bytes:
        """The line that answers. The id is always the same, so equal answers are equal bytes."""
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **meta}}
        self._stdin.write(json.dumps(sent).encode() + b"\n")
        self._stdin.flush()
        line = self._stdout.readline()
        assert line.startswith(b"{"), "the server ended"
        return line

    def modern(self, method: str, params: Mapping[str, Any] | None = None) -> bytes:
        return self.ask(method, params or {}, _meta=_META)

    def hello(self) -> bytes:
        """The first line of a client of the older era."""
        client = {"name": "benchmarks", "version": "1"}
        given = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
        return self.ask("initialize", given)


@contextmanager
def piped(command: Sequence[str], home: Path) -> Generator[Pipe]:
    """A server over `home`; its standard error is thrown away."""
    environment = {
        **{"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(TOP)},
        **{"SIDECHAT_HOME": str(home), "SIDECHAT_AGENT": "quoting"},
    }
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=home,
        env=environment,
    )
    try:
        yield Pipe(process)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
