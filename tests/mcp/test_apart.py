"""What happens in one session or process, and what others get to know of it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from mcp import Client

from sidechat_mcp.sidechat.reports import Caller
from tests.behaviours import behaviour
from tests.mcp.conftest import Era
from tests.mcp.processes import Lines, environment, started
from tests.mcp.program import opened
from tests.mcp.test_changes import Heard, subscribe
from tests.mcp.test_http import visiting
from tests.mcp.web import Web, serving_web

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
UPDATES = 60


@contextlib.asynccontextmanager
async def subscribed(web: Web, era: Era, uri: str) -> AsyncGenerator[Heard]:
    """What a client hears that subscribed to `uri` alone."""
    heard = Heard()
    handler = heard.on_message if era == "legacy" else None
    async with visiting(web, era, message_handler=handler) as visitor:
        if era == "legacy":
            await subscribe(visitor, uri)
            yield heard
            return
        async with (
            visitor.listen(resource_subscriptions=[uri]) as stream,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(heard.pump, stream)
            yield heard
            tasks.cancel_scope.cancel()


@behaviour("mcp:nothing-crosses")
async def test_parent_and_child_that_wait_for_each_other_share_no_word(
    tmp_path: Path, era: Era
) -> None:
    told: dict[str, str] = {"A": "", "B": ""}
    answers: dict[str, str] = {}

    async def converse(visitor: Client, session: str, me: str) -> None:
        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told[me] += message or ""

        ask = {"session": session, "message": f"meet {me}"}
        result = await visitor.call_tool("converse", ask, progress_callback=hear)
        assert result.structured_content is not None
        answers[me] = result.structured_content["answer"]

    async with opened(environment(tmp_path)) as sidechat:
        parent = (await sidechat.fork(Caller(), question="hello")).session
        child = (await sidechat.fork(Caller(), parent=parent)).session
    uris = [f"sidechat://sessions/{one}" for one in (parent, child)]
    async with (
        serving_web(tmp_path) as web,
        visiting(web, era) as first,
        visiting(web, era) as second,
        subscribed(web, era, uris[0]) as of_parent,
        subscribed(web, era, uris[1]) as of_child,
    ):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(converse, first, parent, "A")
            tasks.start_soon(converse, second, child, "B")
        await of_parent.until(uris[0])
        await of_child.until(uris[1])
        # That titles changed is told to everybody of the older era.
        assert set(of_parent.events) - {"list"} == {uris[0]}
        assert set(of_child.events) - {"list"} == {uris[1]}
    for me in ("A", "B"):
        assert answers[me] == "".join(f"{me}{n} " for n in range(1, 11))
        assert answers[me].startswith(told[me])
        assert told[me]
    async with opened(environment(tmp_path)) as sidechat:
        logs = [await sidechat.ndjson(Caller(), one) for one in (parent, child)]
    assert ("B1 " in logs[0], "A1 " in logs[1]) == (False, False)


@behaviour("mcp:across-processes")
async def test_an_update_in_one_process_reaches_a_subscriber_of_another_within_a_second(
    tmp_path: Path,
) -> None:
    took: list[float] = []
    async with started(tmp_path) as writer, started(tmp_path) as reader:
        fork = await writer.call("fork")
        wants = {"resourceSubscriptions": [fork["uri"]]}
        await reader.request("subscriptions/listen", {"notifications": wants})
        await named(reader, "notifications/subscriptions/acknowledged")
        for n in range(UPDATES):
            begun = anyio.current_time()
            await writer.call("converse", session=fork["session"], message=f"message {n}")
            await named(reader, "notifications/resources/updated")
            took.append(anyio.current_time() - begun)
    slowest = sorted(took)[int(len(took) * 0.99) - 1]
    assert slowest <= 1.0


@behaviour("mcp:idle")
async def test_a_server_that_only_listens_uses_next_to_no_time(tmp_path: Path) -> None:
    async with started(tmp_path) as server:
        await server.request(
            "subscriptions/listen", {"notifications": {"resourcesListChanged": True}}
        )
        await named(server, "notifications/subscriptions/acknowledged")
        before, begun = used(server.process.pid), time.monotonic()
        await anyio.sleep(5)
        share = (used(server.process.pid) - before) / (time.monotonic() - begun)
    assert share <= 0.01


async def named(server: Lines, method: str) -> None:
    while (await server.next()).get("method") != method:
        pass


def used(pid: int) -> float:
    """Seconds of processor time so far."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        pytest.skip("processor time of another process can be read on Linux only")
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
