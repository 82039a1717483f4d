"""opencode as a client: finds its conversations and reads them; what writes to its store is done
by its own program, and only where the person opted in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from sidechat_mcp.clients.opencode.database import Database, Session, consult
from sidechat_mcp.clients.opencode.deliver import note
from sidechat_mcp.clients.opencode.drafting import NAME
from sidechat_mcp.clients.opencode.hosted import Fork, Running
from sidechat_mcp.clients.opencode.locate import Search
from sidechat_mcp.clients.opencode.places import Places
from sidechat_mcp.clients.opencode.program import DOORS, executable, listed
from sidechat_mcp.clients.opencode.transcript import told
from sidechat_mcp.clients.opencode.tree import Tree, rooted
from sidechat_mcp.clients.waiting import Waiting
from sidechat_mcp.errors import ParentNotFound
from sidechat_mcp.ports.client import Call, Found, Hosted, Point, Transcript

PATIENCE = 2.0
"""Seconds that a call which must be written down is waited for."""
PAUSE = 0.05
NEWEST = 5
"""How many conversations of a file a refusal names."""
MOST = 1000


class Opencode:
    """`environ` says where the client keeps its files (`XDG_DATA_HOME`, `HOME`, `OPENCODE_DB`);
    `since` is when our process began, in milliseconds since 1970, where that is known."""

    def __init__(
        self, environ: Mapping[str, str], patience: float = PATIENCE, since: int | None = None
    ) -> None:
        self._environ = environ
        self._patience = patience
        self._waiting = Waiting[Running]()
        places = Places(environ)
        self._search = Search(places, since) if since is not None else Search(places)

    @property
    def name(self) -> str:
        return NAME

    async def locate(self, call: Call) -> Found | None:
        """The conversation that waits for this very call, once two looks agree on it."""
        if not self._search.inside(call):
            return None
        before: str | None = None
        with anyio.move_on_after(self._patience):
            while True:
                found = await run_sync(self._search.calling, call)
                if found is not None and found.ref == before:
                    return found
                before = found.ref if found is not None else None
                await anyio.sleep(PAUSE)
        return None

    async def newest(self, cwd: str | None, limit: int) -> Sequence[Found]:
        return await run_sync(Places(self._environ).newest, cwd, limit)

    async def find(self, ref: str, cwd: str | None) -> Found | None:
        return await run_sync(Places(self._environ).find, ref, cwd)

    async def read(self, found: Found, *, since_last: bool = False) -> Transcript:
        return await run_sync(_read, found.path, found.ref)

    async def read_file(self, path: Path, *, since_last: bool = False) -> Transcript:
        """A database with one conversation, or `DATABASE#ID`; or a tree of the time before, or
        its folder of one conversation's messages."""
        return await run_sync(_read_any, path)

    def hosted(self, point: Point) -> Hosted | None:
        """A copy in a folder of ours, answered by a server of opencode's own."""
        if point.cwd is None or not Path(point.cwd).is_dir():
            return None
        program = executable(self._environ)
        found = Places(self._environ).find(point.ref, point.cwd)
        if program is None or found is None or rooted(found.path) is not None:
            return None
        return Fork(point, found.path, program, point.cwd, self._environ, self._waiting)

    async def offer(self, ref: str, cwd: str | None, text: str) -> str | None:
        """Only for who opened this door: it writes a message into the client's store."""
        if not listed(self._environ, DOORS):
            return None
        return await note(self._environ, ref, text)


def _read(path: Path, ref: str) -> Transcript:
    named = rooted(path)
    if named is not None:
        return _from_tree(named[0], ref)

    def whole(database: Database) -> Transcript:
        session = database.session(ref)
        if session is None:
            raise _gone(path, ref)
        return told(session, database.rows(ref))

    return consult(path, whole)


def _read_any(path: Path) -> Transcript:
    tree = rooted(path)
    if tree is not None:
        some = tree[0].sessions()
        return _from_tree(tree[0], tree[1] or _only(path, some))
    file, _, ref = path.name.rpartition("#")
    if file and ref and not path.exists():
        return _read(path.with_name(file), ref)

    def only(database: Database) -> str:
        persons = [*database.newest(None, MOST), *database.unlisted()]
        # Of agents alone, one is named, so that the refusal can say whose agent it is.
        return _only(path, persons or database.working(None, 1))

    return _read(path, consult(path, only))


def _from_tree(tree: Tree, ref: str) -> Transcript:
    session = tree.session(ref)
    if session is None:
        raise _gone(tree.root, ref)
    return told(session, tree.rows(ref))


def _only(path: Path, some: Sequence[Session]) -> str:
    """Raises: ParentNotFound when a file holds no conversation, or more than one."""
    if not some:
        raise ParentNotFound(
            f"{path.name} holds no opencode conversation.",
            then=f"Name another file, or a conversation as {NAME}:ID.",
        )
    if len(some) > 1:
        newest = ", ".join(one.id for one in some[:NEWEST])
        raise ParentNotFound(
            f"{path.name} holds {len(some)} opencode conversations, and it is not clear which one"
            " is meant.",
            then=f"Name one as {path.name}#ID; the newest are {newest}.",
        )
    return some[0].id


def _gone(path: Path, ref: str) -> ParentNotFound:
    return ParentNotFound(
        f"{path.name} has no conversation {ref!r}.",
        then="Name another one, or the file itself where it lies elsewhere (`--file`).",
    )
