"""Starts the local model's process when it is first needed, and again when it has died."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sidechat_mcp.errors import ProviderError

PROGRAM = (sys.executable, "-m", "sidechat_mcp.providers.local.serving")
_PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "TMPDIR",
)
"""What the process gets of the environment; keys are not among it."""


@dataclass(slots=True)
class Engine:
    """`model` is a GGUF file, `folder` where what it last read is kept (0700)."""

    model: Path
    folder: Path
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    program: Sequence[str] = PROGRAM
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """Without it, nobody else on this machine may use the server."""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _address: str = ""
    _starting: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def address(self) -> str:
        """Where the server is, started if it is not there. Blocks while the model is loaded.

        Raises: ProviderError."""
        with self._starting:
            if self._process is None or self._process.poll() is not None:
                self.close()
                self._start()
            return self._address

    def close(self) -> None:
        """End the process, if there is one; it keeps what it has read."""
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self) -> None:
        for folder in (self.folder.parent, self.folder):  # `parents` would not make them private.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        process = subprocess.Popen(
            self.program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=self._environment(),
            # A ^C in the terminal is for us; the server ends with its input.
            start_new_session=True,
        )
        self._process = process
        order = {
            "model": str(self.model),
            "folder": str(self.folder),
            "slot": self._slot(),
            "key": self.key,
        }
        said: object = None
        if process.stdin is not None and process.stdout is not None:
            try:
                process.stdin.write(json.dumps(order).encode() + b"\n")
                process.stdin.flush()
                said = json.loads(process.stdout.readline() or b"null")
            except (OSError, ValueError):
                said = None
        match said:
            case {"address": str(address)}:
                self._address = address
            case {"error": str(why)}:
                self.close()
                raise self._failed(why)
            case _:
                self.close()
                raise self._failed("its process ended")

    def _environment(self) -> dict[str, str]:
        """Little of our own, and the way to this package, wherever it was loaded from."""
        found = {name: self.environ[name] for name in _PASSED_ON if name in self.environ}
        here = str(Path(__file__).resolve().parents[3])
        found["PYTHONPATH"] = os.pathsep.join(filter(None, (here, found.get("PYTHONPATH"))))
        return found

    def _failed(self, why: str) -> ProviderError:
        return ProviderError(
            f"The model {self.model.name} could not be loaded: {why}.",
            then="Check that it is a whole GGUF file and that memory suffices.",
        )

    def _slot(self) -> str:
        """A name that says of which file, as it is now, something was read."""
        status = self.model.stat()
        named = f"{self.model.resolve()}\0{status.st_size}\0{status.st_mtime_ns}"
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:24] + ".slot"
