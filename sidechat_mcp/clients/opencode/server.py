"""A server of opencode's own on a loopback port, over the person's own store, that ends with us.

Its configuration differs from the person's only in what acts on its own: nothing is shared,
updated or compacted, and its shell is one that refuses (a command line without a command, like
`>file`, is carried out without asking for permission)."""

from __future__ import annotations

import base64
import http.client
import json
import secrets
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.to_thread import run_sync

from sidechat_mcp.clients.lodging import end, gone, start
from sidechat_mcp.clients.opencode import room as rooms
from sidechat_mcp.clients.opencode.marks import ours
from sidechat_mcp.clients.opencode.room import Room
from sidechat_mcp.clients.values import mapping, sequence, word
from sidechat_mcp.errors import ProviderError, Unreachable

STARTING = 60.0
"""Seconds that a server may take until it listens."""
SILENCE = httpx2.Timeout(connect=15.0, read=600.0, write=120.0, pool=15.0)
"""Seconds without a byte; a model may think for minutes."""
HURRY = 2.0
"""Seconds that the last requests may take when everything ends."""
USER = "opencode"
_PASSWORD = "OPENCODE_SERVER_PASSWORD"
_USER = "OPENCODE_SERVER_USERNAME"
_CONTENT = "OPENCODE_CONFIG_CONTENT"
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
    room: Room

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

    def remove(self, session: str) -> None:
        """Delete a session of ours now, whatever the event loop is doing."""
        token = base64.b64encode(f"{USER}:{self.password}".encode()).decode("ascii")
        place = urlsplit(self.url)
        line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=HURRY)
        with suppress(OSError, http.client.HTTPException):
            headers = {"authorization": f"Basic {token}"}
            line.request("DELETE", f"/session/{session}", headers=headers)
            line.getresponse().read()
        line.close()

    def end(self) -> None:
        end(self.process)
        self.room.close()

    async def gone(self) -> None:
        await gone(self.process)


async def serve(program: str, cwd: str, environ: Mapping[str, str]) -> Served:
    """Start one for the project `cwd`. What a killed process of ours left behind is removed.

    Raises: Unreachable."""
    room = await run_sync(rooms.make, environ)
    password = secrets.token_urlsafe(24)
    argv = [program, "serve", "--hostname", "127.0.0.1", "--port", str(_free_port())]
    try:
        process = await start(_tied(argv), cwd, _environment(environ, room, password))
    except BaseException as error:
        room.close()
        if isinstance(error, OSError):
            raise _unreachable(str(error)) from error
        raise
    try:
        url = await _listening(process)
        served = Served(process, url, password, room)
        async with served.client() as client:
            await _clear(client, environ)
        return served
    except BaseException:
        await gone(process)
        room.close()
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


async def _clear(client: httpx2.AsyncClient, environ: Mapping[str, str]) -> None:
    """Delete the marked sessions of processes that are gone."""
    for session in map(mapping, sequence(await ask(client, "GET", "/session?roots=true"))):
        mark, id = ours(json.dumps(session.get("metadata"))), word(session.get("id"))
        if mark is not None and id is not None and await run_sync(rooms.abandoned, environ, mark):
            await ask(client, "DELETE", f"/session/{id}")


def _environment(environ: Mapping[str, str], room: Room, password: str) -> dict[str, str]:
    """The person's own, with a password of ours, and a configuration that does nothing alone."""
    try:
        content = mapping(json.loads(environ.get(_CONTENT) or "{}"))
    except ValueError:
        content = {}
    content |= {
        "shell": str(room.shell),
        "snapshot": False,
        "share": "disabled",
        "autoupdate": False,
        "compaction": {**mapping(content.get("compaction")), "auto": False, "prune": False},
    }
    kept = {name: value for name, value in environ.items() if name != _USER}
    return {**kept, _PASSWORD: password, _CONTENT: json.dumps(content)}


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
