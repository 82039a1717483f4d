"""What every HTTP request passes before anything else sees it, on every route there is: the right
Host, a known Origin or none, no encoded body, and the token where one is asked for."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

BEARER = b"bearer "


class Guard:
    """`hosts` are the exact values of Host that are served; with `secrets` (by the name of who
    has them) nothing is served without one of these as bearer token."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str], secrets: Mapping[str, str]) -> None:
        self._app = AuthContextMiddleware(app)
        self._hosts = frozenset(host.encode("ascii") for host in hosts)
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._digests = {name: _digest(secret.encode()) for name, secret in secrets.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refused = self._refusal(scope["headers"])
        if refused is None and self._digests:
            name = self._bearer(scope["headers"])
            if name is None:
                refused = Response("A bearer token is needed.", 401, {"www-authenticate": "Bearer"})
            else:
                token = AccessToken(token="", client_id=name, subject=name, scopes=[])
                scope["user"] = AuthenticatedUser(token)
        if refused is not None:
            await refused(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> Response | None:
        hosts, origins, encodings = (
            [value for name, value in headers if name == wanted]
            for wanted in (b"host", b"origin", b"content-encoding")
        )
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Response("That Host is not served here.", 421)
        if len(origins) > 1 or not self._origins.issuperset(origins):
            return Response("That Origin is not served here.", 403)
        if encodings:
            return Response("Send the body as it is, without an encoding.", 415)
        return None

    def _bearer(self, headers: Sequence[tuple[bytes, bytes]]) -> str | None:
        """Who has the token that was sent. Every secret is compared, in the same time."""
        sent = [value for name, value in headers if name == b"authorization"]
        if len(sent) != 1 or sent[0][: len(BEARER)].lower() != BEARER:
            return None
        digest = _digest(sent[0][len(BEARER) :])
        owners = [n for n, one in self._digests.items() if hmac.compare_digest(one, digest)]
        return owners[0] if owners else None


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()
