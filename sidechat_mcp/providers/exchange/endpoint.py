"""Where a provider is: one host, fixed when the provider is made. Nothing leads elsewhere."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from sidechat_mcp.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`origin` is scheme, host and port; `path` what stands before a wire's own path."""

    origin: str
    path: str
    local: bool

    @property
    def url(self) -> str:
        return self.origin + self.path


def endpoint(url: str, path: str = "") -> Endpoint:
    """The endpoint that `url` names; `path` is taken where it has none.

    Raises: InvalidRequest, when it is no `https` address (or `http` on this machine), or holds
    credentials or a query: addresses are shown and kept, so they must say no secret."""
    try:
        found = urlsplit(url.strip())
        host, port = found.hostname or "", found.port
    except ValueError:
        raise _refused(url, "it is no address") from None
    if found.scheme not in ("http", "https") or not host:
        raise _refused(url, "it is no http(s) address")
    if found.username is not None or found.password is not None:
        raise _refused(host, "it holds credentials")
    if found.query or found.fragment:
        raise _refused(host, "it has a query or a fragment")
    local = _on_this_machine(host)
    if found.scheme == "http" and not local:
        raise _refused(url, "unencrypted http is for this machine only")
    name = f"[{host}]" if ":" in host else host
    origin = f"{found.scheme}://{name}" + (f":{port}" if port else "")
    return Endpoint(origin, found.path.rstrip("/") or path, local)


def _on_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refused(url: str, why: str) -> InvalidRequest:
    return InvalidRequest(
        f"The provider's address {url!r} cannot be used: {why}.",
        then="Give https://HOST/…, or http://127.0.0.1:PORT/… for a server on this machine.",
    )
