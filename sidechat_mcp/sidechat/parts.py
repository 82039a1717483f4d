"""What the feature is made from. Handed in whole by `bootstrap`; nothing here chooses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from sidechat_mcp.core import excerpt
from sidechat_mcp.core.events import Header
from sidechat_mcp.core.ids import ADDRESS, SessionId, session_id
from sidechat_mcp.errors import SessionNotFound
from sidechat_mcp.harness.agents import Agents
from sidechat_mcp.harness.sessions import Sessions
from sidechat_mcp.ports.client import Call, Client
from sidechat_mcp.ports.clock import Clock
from sidechat_mcp.ports.provider import About
from sidechat_mcp.ports.store import LogStore, Once, Row
from sidechat_mcp.sidechat.reports import Caller


async def _unknown(agent: str) -> int | None:
    del agent


@dataclass(frozen=True, slots=True)
class Parts:
    """`agent` is the configured agent's name, `about` describes any agent by its name, `here`
    gives what is known of our own process (environment, ancestors, folder) for a caller. `bound`
    are those tools of a client's own that can be carried out here, as a head lists them; `window`
    gives how many tokens an agent's model takes, where anybody says."""

    store: LogStore
    sessions: Sessions
    agents: Agents
    clock: Clock
    clients: Mapping[str, Client]
    agent: str
    about: Callable[[str], About]
    here: Callable[[Caller], Call]
    cap: int
    bound: Mapping[str, str] = field(default_factory=dict[str, str])
    window: Callable[[str], Awaitable[int | None]] = _unknown

    async def visible(self, caller: Caller, session: str) -> Row:
        """A session of the caller's own, of any origin, by its id or its address. Somebody else's
        is as good as none.

        Raises: SessionNotFound, DamagedLog (its header)."""
        return await self._row(caller, session, damaged=False)

    async def known(self, caller: Caller, session: str) -> Row:
        """The same, also where its header cannot be believed (`Row.damaged`)."""
        return await self._row(caller, session, damaged=True)

    async def side(self, caller: Caller, session: str) -> Row:
        """One of the caller's side sessions. Raises: SessionNotFound."""
        row = await self.visible(caller, session)
        if row.header.origin != "sidechat":
            raise SessionNotFound(session)
        return row

    async def _row(self, caller: Caller, session: str, *, damaged: bool) -> Row:
        meant = session_id(session)
        if meant is None:
            raise SessionNotFound(session)
        row = await self.store.row(meant, damaged=damaged)
        if row.header.owner != caller.principal:
            raise SessionNotFound(session)
        return row


def parent_meant(named: str) -> str:
    """`named` as one of our ids where it is one or its address; else as it is (`CLIENT:ID`),
    without spaces around it. An excerpt ends as it ends."""
    bare = named.lstrip()
    if bare.startswith(f"{excerpt.CLIENT}:"):
        return bare
    return session_id(bare) or bare.rstrip()


def uri(session: SessionId) -> str:
    return ADDRESS + session


def name(header: Header) -> str:
    """How people name a session as a parent: `CLIENT:THEIR-ID`, or our id; an excerpt by the first
    digits of its digest."""
    if header.client == excerpt.CLIENT and header.client_ref is not None:
        return excerpt.named(header.client_ref)
    if header.client is not None and header.client_ref is not None:
        return f"{header.client}:{header.client_ref}"
    return header.id


def keyed(
    caller: Caller, verb: str, target: str, key: str | None, *words: str | bool | None
) -> Once | None:
    """The `Once` of a caller's key: scope (principal, verb, target); `words` are the arguments
    that must be the same when it comes again. None without a key."""
    given = key or caller.call
    if given is None:
        return None
    return Once(f"key/{joined(caller.principal, verb, target, given)}", joined(*words))


def joined(*words: str | bool | None) -> str:
    """A digest in which no two different lists of words meet."""
    spelled = json.dumps(words, ensure_ascii=True).encode("ascii")
    return hashlib.sha256(spelled).hexdigest()[:32]
