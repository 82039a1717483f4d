"""Who hears that something changed: both eras, and nobody else's sessions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.server.subscriptions import ResourceUpdated, ServerEvent
from mcp.types import ResourceListChangedNotification, ResourceUpdatedNotification

from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.surfaces.mcp.server import SidechatServer
from tests.behaviours import behaviour
from tests.mcp.conftest import Connect, Era, client
from tests.mcp.fake import FakeSidechat
from tests.mcp.raw import legacy

LOCAL = Caller()
OTHER = Caller("somebody else")
ONE = "sidechat://sessions/s001"

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


class Heard:
    """What a client was told, as `list` or the updated URI, and waiting for more of it."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self._came = anyio.Event()

    def add(self, event: str) -> None:
        self.events.append(event)
        self._came.set()

    async def on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.add(message.params.uri)
        elif isinstance(message, ResourceListChangedNotification):
            self.add("list")

    async def pump(self, stream: AsyncIterable[ServerEvent]) -> None:
        async for event in stream:
            self.add(event.uri if isinstance(event, ResourceUpdated) else "list")

    async def until(self, event: str, times: int = 1) -> None:
        with anyio.fail_after(5):
            while self.events.count(event) < times:
                self._came = anyio.Event()
                await self._came.wait()


async def subscribe(made: Client, uri: str) -> None:
    await made.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]


async def unsubscribe(made: Client, uri: str) -> None:
    await made.unsubscribe_resource(uri)  # pyright: ignore[reportDeprecated]


@asynccontextmanager
async def listening(
    server: SidechatServer, era: Era, *uris: str
) -> AsyncGenerator[tuple[Client, Heard]]:
    """A client of that era that wants to hear of the list and of `uris`."""
    heard = Heard()
    handler = heard.on_message if era == "legacy" else None
    async with client(server, era, message_handler=handler) as made:
        if era == "legacy":
            await made.list_resources()
            for uri in uris:
                await subscribe(made, uri)
            yield made, heard
            return
        async with (
            made.listen(resources_list_changed=True, resource_subscriptions=list(uris)) as stream,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(heard.pump, stream)
            yield made, heard
            tasks.cancel_scope.cancel()


@behaviour("mcp:list-changed")
async def test_a_new_a_renamed_and_a_forgotten_session_change_the_list(
    server: SidechatServer, era: Era, fake: FakeSidechat
) -> None:
    async with listening(server, era) as (made, heard):
        await fake.fork(LOCAL)
        await heard.until("list", 1)
        await fake.converse(LOCAL, "a first message is the title", session="s001")
        await heard.until("list", 2)
        await fake.forget(LOCAL, "s001")
        await heard.until("list", 3)
        assert (await made.list_resources()).resources == []
        assert set(heard.events) == {"list"}


@behaviour("mcp:updated")
async def test_who_subscribed_to_a_session_or_a_part_of_it_hears_of_its_changes(
    server: SidechatServer, era: Era, fake: FakeSidechat
) -> None:
    await fake.fork(LOCAL)
    await fake.fork(LOCAL)
    async with listening(server, era, ONE, f"{ONE}/log", f"{ONE}/turns/4") as (_, heard):
        await fake.converse(LOCAL, "not of this one", session="s002")
        await fake.converse(LOCAL, "hello", session="s001")
        for uri in (ONE, f"{ONE}/log", f"{ONE}/turns/4"):
            await heard.until(uri)
        assert not any("s002" in event for event in heard.events)


@behaviour("mcp:unsubscribe")
async def test_who_unsubscribed_hears_no_more(server: SidechatServer, fake: FakeSidechat) -> None:
    await fake.fork(LOCAL)
    await fake.fork(LOCAL)
    two = "sidechat://sessions/s002"
    async with listening(server, "legacy", ONE, two) as (made, heard):
        await unsubscribe(made, ONE)
        await fake.merge(LOCAL, session="s001")
        await fake.merge(LOCAL, session="s002")
        await heard.until(two)
        assert heard.events == [two]


@behaviour("mcp:own-changes-only")
async def test_nobody_hears_of_somebody_elses_sessions(
    server: SidechatServer, era: Era, fake: FakeSidechat
) -> None:
    await fake.fork(OTHER)
    if era == "legacy":
        async with client(server, era) as made:
            with pytest.raises(MCPError) as refused:
                await subscribe(made, ONE)
        assert refused.value.code == -32602
    uris = [ONE] if era == "modern" else []
    async with listening(server, era, *uris) as (_, heard):
        await fake.converse(OTHER, "hello", session="s001")
        await fake.fork(OTHER)
        await fake.fork(LOCAL)
        await heard.until("list")
        assert heard.events == ["list"]


@behaviour("mcp:capabilities")
async def test_both_eras_are_told_that_resources_change(connect: Connect) -> None:
    async with connect() as made:
        resources = made.server_capabilities.resources
    assert resources is not None
    assert (resources.subscribe, resources.list_changed) == (True, True)


@behaviour("mcp:both-eras-at-once")
async def test_one_server_object_serves_both_eras_at_once(
    server: SidechatServer, fake: FakeSidechat
) -> None:
    async with (
        listening(server, "modern") as (new, first),
        listening(server, "legacy") as (old, second),
    ):
        assert (new.protocol_version, old.protocol_version) == ("2026-07-28", "2025-11-25")
        await old.call_tool("fork", {})
        await first.until("list")
        await second.until("list")


@behaviour("mcp:stalled-client")
async def test_a_client_that_stopped_reading_holds_up_nobody_and_hears_each_change_once(
    server: SidechatServer, fake: FakeSidechat
) -> None:
    await fake.fork(LOCAL)
    async with (
        legacy(server, "2025-11-25", room=0) as stalled,
        listening(server, "legacy", ONE) as (_, heard),
    ):
        await stalled.ask("resources/list")
        await stalled.ask("resources/subscribe", {"uri": ONE})
        for n in range(1, 201):
            await server.hub.publish("local", ResourceUpdated(uri=ONE))
            await heard.until(ONE, n)
        # It reads again: one was on its way, and what came meanwhile is told once.
        answer = await stalled.ask("ping")
        assert answer["result"] == {}
        assert 1 <= len(stalled.notified) <= 2


@behaviour("mcp:gone-clients")
async def test_nothing_is_kept_of_clients_that_went_away(
    server: SidechatServer, era: Era, fake: FakeSidechat
) -> None:
    await fake.fork(LOCAL)
    for _ in range(3):
        async with listening(server, era, ONE):
            assert server.hub.wanted("local") == [ONE]
            assert server.hub.listening("local")
        assert server.hub.wanted("local") == []
        assert not server.hub.listening("local")
