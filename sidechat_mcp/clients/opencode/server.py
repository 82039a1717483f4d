"""A server of opencode's own on a loopback port, that asks for a password and ends with us."""

from __future__ import annotations

import json
import secrets
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from sidechat_mcp.clients.lodging import end, gone, start
from sidechat_mcp.clients.values import mapping, word
from sidechat_mcp.errors import ProviderError, Unreachable

STARTING = 60.0
"""Seconds that a server may take until it listens."""
SILENCE = httpx2.Timeout(connect=15.0, read=600.0, write=120.0, pool=15.0)
"""Seconds without a byte; a model may think for minutes."""
USER = "opencode"
CONTENT = "OPENCODE_CONFIG_CONTENT"
"""Holds settings, as JSON, that come before those of the person's files."""
_PASSWORD = "OPENCODE_SERVER_PASSWORD"
_USER = "OPENCODE_SERVER_USERNAME"
_READY = b"opencode server listening on "
_LINE = 64 * 1024

TIED = ("/bin/sh", "-c", '"$@" <&- & cat >/dev/null; kill -9 $!', "sh")
"""Ends a command with the input of the shell before it, where the kernel has no signal for that."""


@dataclass(frozen=True, slots=True)
class Served:
    """`url` is where it listens, `password` what it asks for."""

    process: Process
    url: str
    password: str

    @property
    def runs(self) -> bool:
        return self.process.returncode is None

    def client(self) -> httpx2.AsyncClient:
        """For requests to it; to be entered and left."""
        return httpx2.AsyncClient(
            base_url=self.url,
            auth=(USER, self.password),
            timeout=SILENCE,
            verify=False,
            trust_env=False,
        )

    def end(self) -> None:
        end(self.process)

    async def gone(self) -> None:
        """End it and wait until nothing of it is left."""
        await gone(self.process)


async def serve(
    program: str, cwd: str, environ: Mapping[str, str], settings: Mapping[str, Any]
) -> Served:
    """Start one for the project `cwd`, with `settings` before the person's own.

    Raises: Unreachable."""
    password = secrets.token_urlsafe(24)
    argv = [program, "serve", "--hostname", "127.0.0.1", "--port", str(_free_port())]
    given = {name: value for name, value in environ.items() if name != _USER}
    given |= {_PASSWORD: password, CONTENT: json.dumps({**_settings(environ), **settings})}
    try:
        process = await start(_tied(argv), cwd, given)
    except OSError as error:
        raise _unreachable(str(error)) from error
    try:
        return Served(process, await _listening(process), password)
    except BaseException:
        await gone(process)
        raise


async def ask(
    client: httpx2.AsyncClient, method: str, path: str, body: Mapping[str, Any] | None = None
) -> Any:
    """The JSON that a request is answered with, None for an empty answer.

    Raises: ProviderError (it was refused), httpx2.HTTPError."""
    response = await client.request(method, path, json=body)
    if response.is_error:
        try:
            said = mapping(mapping(response.json()).get("data")).get("message")
        except ValueError:
            said = None
        why = word(said) or f"status {response.status_code}"
        raise ProviderError(f"opencode refused {method} {path}: {why[:300]}.")
    return response.json() if response.content else None


async def _listening(process: Process) -> str:
    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)
    try:
        with anyio.fail_after(STARTING):
            while True:
                line = await lines.receive_until(b"\n", _LINE)
                if line.startswith(_READY):
                    return line.removeprefix(_READY).decode("ascii", "replace").strip()
    except TimeoutError as error:
        raise _unreachable(f"it did not listen within {STARTING:.0f} seconds") from error
    except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound) as error:
        raise _unreachable("it ended at once") from error


def _settings(environ: Mapping[str, str]) -> dict[str, Any]:
    """What the person gave in the same way."""
    try:
        return mapping(json.loads(environ.get(CONTENT) or "{}"))
    except ValueError:
        return {}


def _tied(argv: Sequence[str]) -> Sequence[str]:
    """The command, so that it ends when we do: a server does not care for its input."""
    return argv if sys.platform == "linux" else [*TIED, *argv]


def _free_port() -> int:
    """Not the one that the client takes by itself: a person's own programs may look there."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _unreachable(why: str) -> Unreachable:
    return Unreachable(
        f"opencode's server could not be started: {why}.",
        then="`opencode serve` on its own shows more.",
    )
