"""The server over HTTP: Streamable HTTP at /mcp, and the older event streams at /sse and
/messages/, on one port. This machine alone unless a token is asked for."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Generator, Mapping, Sequence
from functools import partial

import anyio
import uvicorn
from anyio.abc import TaskStatus
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from sidechat_mcp.errors import InvalidRequest, OutsideError
from sidechat_mcp.surfaces.mcp import loitering
from sidechat_mcp.surfaces.mcp.guard import Guard
from sidechat_mcp.surfaces.mcp.inflight import InFlight
from sidechat_mcp.surfaces.mcp.logs import to_stderr
from sidechat_mcp.surfaces.mcp.piping import Configured, configured, home, is_hosted
from sidechat_mcp.surfaces.mcp.posted import Posted
from sidechat_mcp.surfaces.mcp.server import SidechatServer, serving
from sidechat_mcp.surfaces.mcp.stdio import ENDINGS, end_soon
from sidechat_mcp.surfaces.mcp.unbroken import Unbroken

MOST_BYTES = 4 << 20
"""Of one request's body."""
MOST_SESSIONS = 500
"""Connections of the older era that are open at once; and event streams, a fifth of that."""
IDLE = 1800.0
"""Seconds after which a connection of the older era is closed when nobody uses it."""
DRAIN = 0.7
"""Seconds that what is being answered has left when the server is asked to end."""
LAST = 1.2
"""Seconds after which a connection is given up that does not even end then."""
BEARER = "bearer"
"""The principal of a token that names nobody."""

log = logging.getLogger("sidechat_mcp")


def serve(
    host: str,
    port: int,
    token: str | Mapping[str, str] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    open: Configured = configured,
) -> int:
    """Serve until a signal asks to end; exit code 0. `token` is the secret that callers must
    send, or secrets by the name of the principal who has them.

    Raises: InvalidRequest (no token for an address others can reach), OutsideError (the port)."""
    if token is None and not is_loopback(host):
        raise InvalidRequest(
            f"{host} can be reached from outside this machine.",
            then="Give a token (--token-file), or serve on 127.0.0.1.",
        )
    secrets = {BEARER: token} if isinstance(token, str) else dict(token or {})
    listening = listen(host, port)
    to_stderr()
    known = os.environ if environ is None else environ
    with contextlib.suppress(KeyboardInterrupt):  # One more signal, when we were leaving already.
        anyio.run(_serve, listening, host, secrets, known, open)
    sys.stderr.flush()
    os._exit(0)


async def _serve(
    listening: socket.socket,
    host: str,
    secrets: Mapping[str, str],
    environ: Mapping[str, str],
    open: Configured,
) -> None:
    async with serving(
        partial(open, environ), home=home(environ), hosted=is_hosted(environ)
    ) as server:
        await run(server, listening, host, secrets)


async def run(
    server: SidechatServer, listening: socket.socket, host: str, secrets: Mapping[str, str]
) -> None:
    """Serve `server` on a listening socket until a signal asks to end."""
    hosts = served_hosts(host, listening.getsockname()[1])
    routes = Posted(Unbroken(application(server, hosts)), MOST_BYTES)
    web = _Web(server, Guard(routes, hosts, secrets))
    async with anyio.create_task_group() as tasks:
        await tasks.start(_heed, web)
        sys.stderr.write(f"sidechat: serving http://{hosts[0]}/mcp\n")
        sys.stderr.flush()
        tasks.start_soon(web.sweep)
        await web.serve(sockets=[listening])
        tasks.cancel_scope.cancel()


async def _heed(web: _Web, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(*ENDINGS) as signals:
        task_status.started()
        async for _ in signals:
            end_soon()
            web.should_exit = True


class _Web(uvicorn.Server):
    """Ends what streams for ever before it waits for what is being answered."""

    def __init__(self, server: SidechatServer, app: Guard) -> None:
        self._in_flight = InFlight(app)
        super().__init__(
            uvicorn.Config(
                self._in_flight,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=LAST,  # pyright: ignore[reportArgumentType]
            )
        )
        self._server = server

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield  # They are heeded above: a server that was asked to end ends well, with 0.

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._server.door.leave()
        self._server.hub.close()
        self._in_flight.end_streams()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._cut)
            await super().shutdown(sockets)
            tasks.cancel_scope.cancel()

    async def sweep(self) -> None:
        """Give up, for good, connections on which no request comes."""
        loiterers = loitering.Loiterers()
        while True:
            await anyio.sleep(loitering.PAUSE)
            loiterers.give_up(list(self.server_state.connections), anyio.current_time())

    async def _cut(self) -> None:
        await anyio.sleep(DRAIN)
        self._in_flight.end_answers()


def application(server: SidechatServer, hosts: Sequence[str]) -> Starlette:
    """Every route there is. The guard stands before it."""
    security = TransportSecuritySettings(
        allowed_hosts=list(hosts), allowed_origins=[f"http://{host}" for host in hosts]
    )
    app = server.streamable_http_app(
        transport_security=security,
        max_request_body_size=MOST_BYTES,
        max_sessions=MOST_SESSIONS,
        session_idle_timeout=IDLE,
    )
    events = SseServerTransport("/messages/", security, MOST_BYTES)
    streams = anyio.CapacityLimiter(MOST_SESSIONS // 5)

    async def connect(request: Request) -> Response:
        try:
            streams.acquire_on_behalf_of_nowait(request)
        except anyio.WouldBlock:
            return Response("Too many open streams.", 503)
        try:
            sending = request._send  # pyright: ignore[reportPrivateUsage]
            async with events.connect_sse(request.scope, request.receive, sending) as pipe:
                await server.run(*pipe, server.create_initialization_options())
        finally:
            streams.release_on_behalf_of(request)
        return Response()

    app.router.routes.append(Route("/sse", connect, methods=["GET"]))
    app.router.routes.append(Mount("/messages/", events.handle_post_message))
    return app


def listen(host: str, port: int) -> socket.socket:
    """Raises: OutsideError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise OutsideError(
            f"{host} port {port} cannot be served: {error.strerror}.", then="Choose another port."
        ) from error
    return listening


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def served_hosts(host: str, port: int) -> list[str]:
    """The exact values of Host that name this server, the one to tell people first."""
    names = [host]
    if is_loopback(host):
        names += ["127.0.0.1", "localhost", "::1"]
    elif host in ("0.0.0.0", "::"):
        names = [socket.gethostname(), *_addresses(), "127.0.0.1", "localhost", "::1"]
    spelled = (f"[{name}]" if ":" in name else name for name in names)
    return list(dict.fromkeys(f"{name}:{port}" for name in spelled))


def _addresses() -> list[str]:
    try:
        found = socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return []
    return [str(address[0]).partition("%")[0] for *_, address in found]
