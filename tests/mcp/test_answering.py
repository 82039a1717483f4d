"""While an answer is made: progress, cancellation; and how a server inside a side session acts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import SimpleNamespace
from typing import cast

import anyio
import pytest
from mcp import MCPError
from mcp.types import CallToolResult, PromptReference, TextContent

from sidechat_mcp.errors import OutsideError
from sidechat_mcp.harness.loop import Emit
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.surfaces.mcp.errors import Context
from sidechat_mcp.surfaces.mcp.progress import telling
from sidechat_mcp.surfaces.mcp.server import SidechatServer, serving
from tests.behaviours import behaviour
from tests.mcp.conftest import Connect, Era, client
from tests.mcp.fake import FakeSidechat, opened


@behaviour("mcp:progress")
async def test_an_answer_is_told_as_it_arrives_at_most_ten_times_a_second(
    connect: Connect, fake: FakeSidechat
) -> None:
    pieces = [f"{n} " for n in range(20_000)]
    fake.says, fake.gate = pieces, anyio.Event()
    told: list[tuple[float, str]] = []
    first = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message or ""))
        first.set()

    answers: list[CallToolResult] = []
    begun = anyio.current_time()
    async with connect() as made, anyio.create_task_group() as tasks:
        await made.call_tool("fork", {})

        async def ask() -> None:
            arguments = {"message": "much"}
            answers.append(await made.call_tool("converse", arguments, progress_callback=hear))

        tasks.start_soon(ask)
        with anyio.fail_after(5):
            await first.wait()
        fake.gate.set()
    took = anyio.current_time() - begun
    whole = "".join(pieces)
    assert answers[0].structured_content is not None
    assert answers[0].structured_content["answer"] == whole
    assert 1 <= len(told) <= took * 10 + 1
    assert whole.startswith("".join(message for _, message in told))
    assert [n for n, _ in told] == sorted(n for n, _ in told)


@behaviour("mcp:progress-fails")
async def test_a_client_that_cannot_be_told_of_progress_still_gets_its_answer() -> None:
    tries: list[str] = []
    refused = anyio.Event()

    async def report_progress(progress: float, *, message: str) -> None:
        tries.append(message)
        refused.set()
        raise anyio.BrokenResourceError

    async def work(emit: Emit) -> str:
        await emit("It is ")
        await refused.wait()
        await emit("in turn 3.")
        return "It is in turn 3."

    ctx = cast(Context, SimpleNamespace(session=SimpleNamespace(report_progress=report_progress)))
    with anyio.fail_after(5):
        assert await telling(ctx, work) == "It is in turn 3."
    assert tries == ["It is "]


@behaviour("mcp:no-progress")
async def test_who_did_not_ask_for_progress_gets_only_the_answer(
    connect: Connect, fake: FakeSidechat
) -> None:
    async with connect() as made:
        await made.call_tool("fork", {})
        answer = await made.call_tool("converse", {"message": "hello"})
    assert not answer.is_error


@behaviour("mcp:cancel")
async def test_a_cancelled_call_closes_its_turn_as_aborted_and_the_server_goes_on(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.gate = anyio.Event()
    async with connect() as made:
        await made.call_tool("fork", {})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.call_tool, "converse", {"message": "hello"})
            with anyio.fail_after(5):
                await fake.begun.wait()
            tasks.cancel_scope.cancel()
        listed = await made.call_tool("sessions", {})
    assert not listed.is_error
    (turn,) = fake.sides["s001"].turns
    assert turn.reason == "aborted"


@behaviour("mcp:interleaved")
async def test_other_calls_are_answered_while_an_answer_is_made(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.gate = anyio.Event()
    async with connect() as made, anyio.create_task_group() as tasks:
        await made.call_tool("fork", {})
        tasks.start_soon(made.call_tool, "converse", {"message": "hello"})
        with anyio.fail_after(5):
            await fake.begun.wait()
            await made.list_tools()
            await made.call_tool("sessions", {})
        assert fake.sides["s001"].turns[0].reason is None
        fake.gate.set()
    assert fake.sides["s001"].turns[0].reason == "completed"


@pytest.fixture
async def hosted(fake: FakeSidechat) -> AsyncGenerator[SidechatServer]:
    async with serving(partial(opened, fake), home="HOME", hosted=True) as made:
        yield made


@behaviour("mcp:hosted")
async def test_inside_a_side_session_everything_is_listed_and_every_call_refused(
    server: SidechatServer, hosted: SidechatServer, era: Era, fake: FakeSidechat
) -> None:
    fake.hook = "a note"
    async with client(server, era) as outside, client(hosted, era) as inside:
        assert await inside.list_tools() == await outside.list_tools()
        assert await inside.list_prompts() == await outside.list_prompts()
        assert await inside.list_resources() == await outside.list_resources()
        assert await inside.list_resource_templates() == await outside.list_resource_templates()
        refused = await inside.call_tool("fork", {})
        assert refused.is_error
        assert isinstance(refused.content[0], TextContent)
        assert refused.content[0].text.endswith("Do it from the main session. (hosted)")
        notes = await inside.call_tool("pending_notes", {"session_id": "x"})
        assert (notes.is_error, notes.content) == (False, [TextContent(text="{}")])
        with pytest.raises(MCPError, match="side conversation"):
            await inside.get_prompt("fork")
        with pytest.raises(MCPError, match="side conversation"):
            await inside.read_resource("sidechat://sessions/s001")
        reference = PromptReference(name="fork")
        with pytest.raises(MCPError, match="side conversation"):
            await inside.complete(reference, {"name": "parent", "value": ""})
    assert fake.sides == {}


@behaviour("mcp:opened-late")
async def test_the_feature_is_opened_once_at_the_first_call_and_again_after_a_failure(
    era: Era, fake: FakeSidechat
) -> None:
    openings = 0

    def opens() -> AbstractAsyncContextManager[Sidechat]:
        nonlocal openings
        openings += 1
        if openings == 1:
            raise OutsideError("The log is locked.", then="Try again.", retryable=True)
        return opened(fake)

    async with serving(opens, home="HOME") as made, client(made, era) as asking:
        await asking.list_tools()
        await asking.list_prompts()
        assert openings == 0
        failed = await asking.call_tool("sessions", {})
        assert isinstance(failed.content[0], TextContent)
        assert failed.content[0].text == "The log is locked. Try again. (outside_error)"
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(asking.call_tool, "sessions")
        assert openings == 2
