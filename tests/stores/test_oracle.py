"""SQLite does what the memory store does, for whatever comes in whatever order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from anyio.from_thread import start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sidechat_mcp.core.content import text
from sidechat_mcp.core.events import Draft, Header, UserMessage
from sidechat_mcp.core.ids import EventId, SessionId, TurnId
from sidechat_mcp.errors import SidechatError
from sidechat_mcp.ports.store import LogStore, Once, Query
from sidechat_mcp.stores.memory import MemoryStore
from sidechat_mcp.stores.sqlite.store import open_sqlite
from sidechat_mcp.testing.samples import HOUR, Now
from tests.behaviours import behaviour

IDS = st.sampled_from([SessionId(name) for name in "abcde"])
OWNERS = st.sampled_from(["ann", "bob"])
MAYBE = st.none()
NAMES = st.text(st.characters(codec=None, categories=None), max_size=8)
SAYINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def _draft(name: str, said: str) -> Draft:
    return Draft(EventId(name), len(said), UserMessage(TurnId("t"), text(said)))


def _header(
    id: SessionId, owner: str, parent: SessionId | None, seed: int, ref: str | None
) -> Header:
    return Header(
        *(id, 0, "sidechat" if parent else "native", owner, "scripted"),
        parent_session=parent,
        seed_length=seed if parent else 0,
        cwd="/w" if owner == "ann" else None,
        client="codex" if ref else None,
        client_ref=ref,
    )


BATCHES = st.lists(st.builds(_draft, NAMES, SAYINGS), max_size=3)
ONCES = st.builds(
    Once,
    st.sampled_from(["k", "k/1", "k/2", "l"]),
    st.sampled_from(["", "d"]),
    st.sampled_from(["caller", "identity"]),
)
PLACES = st.integers(-1, 8)
HEADERS = st.builds(_header, IDS, OWNERS, MAYBE | IDS, PLACES, MAYBE | st.sampled_from(["r", "s"]))
QUERIES = st.builds(
    Query,
    origin=MAYBE | st.sampled_from(["native", "sidechat"]),
    owner=MAYBE | OWNERS,
    parent=MAYBE | IDS,
    cwd=MAYBE | st.just("/w"),
    client=MAYBE | st.just("codex"),
    client_ref=MAYBE | st.just("r"),
    limit=st.integers(0, 6),
)


class Both(RuleBasedStateMachine):
    """Does everything to both stores and compares what they answer."""

    def __init__(self) -> None:
        super().__init__()
        self._exits = ExitStack()
        folder = self._exits.enter_context(TemporaryDirectory())
        self._portal = self._exits.enter_context(start_blocking_portal())
        self._now = Now()
        path = Path(folder) / "log.db"
        self._memory: LogStore = MemoryStore(self._now)
        self._sqlite: LogStore = self._portal.call(lambda: open_sqlite(path, now=self._now))

    def _same(self, ask: Callable[[LogStore], Awaitable[Any]]) -> None:
        answers = [self._portal.call(_answer, ask, s) for s in (self._memory, self._sqlite)]
        assert answers[0] == answers[1]

    @rule(header=HEADERS, drafts=BATCHES, once=MAYBE | ONCES)
    def create(self, header: Header, drafts: list[Draft], once: Once | None) -> None:
        self._same(lambda store: store.create(header, drafts, once=once))

    @rule(id=IDS, drafts=BATCHES, expect=MAYBE | PLACES, once=MAYBE | ONCES)
    def append(
        self, id: SessionId, drafts: list[Draft], expect: int | None, once: Once | None
    ) -> None:
        self._same(lambda store: store.append(id, drafts, expect=expect, once=once))

    @rule(id=IDS)
    def forget(self, id: SessionId) -> None:
        self._same(lambda store: store.forget(id))

    @rule(hours=st.sampled_from([-1, 1, 400]))
    def pass_by(self, hours: int) -> None:
        self._now.pass_by(hours * HOUR)

    @rule(id=IDS, start=PLACES, stop=MAYBE | PLACES, verify=st.booleans())
    def read(self, id: SessionId, start: int, stop: int | None, verify: bool) -> None:
        self._same(lambda store: store.read(id, start, stop, verify=verify))

    @rule(query=QUERIES)
    def rows(self, query: Query) -> None:
        self._same(lambda store: store.rows(query))

    @rule(id=IDS)
    def children(self, id: SessionId) -> None:
        self._same(lambda store: store.children(id))

    @rule(since=st.integers(0, 3))
    def changed(self, since: int) -> None:
        mark = max(self._now() - since, 0)
        self._same(lambda store: store.changed(mark))

    @invariant()
    def keys(self) -> None:
        self._same(lambda store: store.onces("k"))
        self._same(lambda store: store.once("l"))

    @invariant()
    def everything(self) -> None:
        self._same(lambda store: store.rows(Query()))

    def teardown(self) -> None:
        self._portal.call(self._sqlite.close)
        self._exits.close()


async def _answer(ask: Callable[[LogStore], Awaitable[Any]], store: LogStore) -> object:
    try:
        return await ask(store)
    except SidechatError as error:
        return type(error), str(error)


@behaviour("stores:same-as-memory")
def test_sqlite_answers_as_the_memory_store_does() -> None:
    machine = cast("Any", Both)
    case = machine.TestCase
    case.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
    case().runTest()
