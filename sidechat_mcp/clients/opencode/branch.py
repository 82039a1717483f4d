"""A fork of a conversation in the client's own store: at a completed turn, marked as ours, with
every call denied and the same tools listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2

from sidechat_mcp.clients.opencode.database import consult
from sidechat_mcp.clients.opencode.drafting import named
from sidechat_mcp.clients.opencode.marks import MARK
from sidechat_mcp.clients.opencode.places import Places
from sidechat_mcp.clients.opencode.rules import denying
from sidechat_mcp.clients.opencode.server import HURRY, Served, ask
from sidechat_mcp.clients.opencode.voice import Voice, voice
from sidechat_mcp.clients.values import mapping, sequence, word
from sidechat_mcp.errors import ProviderError
from sidechat_mcp.ports.client import Point

TITLE = "Side session of "


@dataclass(slots=True)
class Branch:
    """`told` is how many of the session's own messages it has been given."""

    served: Served
    id: str
    voice: Voice
    told: int = 0


@dataclass(frozen=True, slots=True)
class Cut:
    """`before` is the first message that is left out, None when nothing is; `voice` is what
    answered last."""

    before: str | None
    voice: Voice


def cut(environ: Mapping[str, str], point: Point) -> Cut:
    """Where a conversation is to be forked. Raises: ProviderError."""
    found = Places(environ).find(point.ref, point.cwd)
    line: Sequence[tuple[str, bytes | None]] = ()
    if found is not None:
        line = consult(found.path, lambda database: database.line(point.ref))
    places = [n for n, (id, _) in enumerate(line) if named(id) == point.record]
    if not places:
        raise ProviderError(
            f"opencode has not got the turn any more that {point.ref} was forked at.",
            then="Fork it again.",
        )
    after = line[places[-1] + 1 :]
    return Cut(after[0][0] if after else None, voice(line[: places[-1] + 1]))


async def fork(served: Served, client: httpx2.AsyncClient, point: Point, at: Cut) -> Branch:
    """Raises: ProviderError, httpx2.HTTPError."""
    parent = mapping(await ask(client, "GET", f"/session/{point.ref}"))
    body = {"messageID": at.before} if at.before is not None else {}
    made = mapping(await ask(client, "POST", f"/session/{point.ref}/fork", body))
    id = word(made.get("id"))
    if id is None:
        raise ProviderError("opencode made no fork.", then="See `sidechat doctor`.")
    branch = Branch(served, id, at.voice)
    try:
        rules = denying(await _rules(client, parent, at.voice), await _tools(client))
        marked = {**mapping(made.get("metadata")), MARK: served.room.word}
        title = f"{TITLE}{word(parent.get('title')) or point.ref}"
        change = {"title": title, "metadata": marked, "permission": list(rules)}
        stands = mapping(await ask(client, "PATCH", f"/session/{id}", change))
        if sequence(stands.get("permission"))[-len(rules) :] != list(rules):
            raise ProviderError(
                "opencode did not take the rules that keep a side conversation read-only, so"
                " nothing was asked.",
                then="Set SIDECHAT_AGENT to another agent.",
            )
    except BaseException:
        await drop(branch)
        raise
    return branch


async def drop(branch: Branch) -> bool:
    """Stop what it is doing and remove it, also when we are being cancelled. Where that cannot be
    done in time its server ends, and the answer is False."""
    done = False
    with anyio.CancelScope(shield=True), anyio.move_on_after(HURRY):
        try:
            async with branch.served.client() as client:
                await ask(client, "POST", f"/session/{branch.id}/abort")
                await ask(client, "DELETE", f"/session/{branch.id}")
                done = True
        except (ProviderError, httpx2.HTTPError):
            pass
    if not done:
        branch.served.remove(branch.id)
        branch.served.end()
    return done


async def _rules(client: httpx2.AsyncClient, parent: Mapping[str, Any], by: Voice) -> list[Any]:
    """The rules that counted for the parent: its agent's, then its session's own."""
    agents = map(mapping, sequence(await ask(client, "GET", "/agent")))
    own = [one for one in agents if one.get("name") == by.agent][:1]
    rules = [rule for one in own for rule in sequence(one.get("permission"))]
    return [*rules, *sequence(parent.get("permission"))]


async def _tools(client: httpx2.AsyncClient) -> list[Any]:
    return sequence(await ask(client, "GET", "/experimental/tool/ids"))
