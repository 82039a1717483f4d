"""Which opencode conversation is calling: the one that runs this very call, or none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidechat_mcp.ports.client import Call
from tests.behaviours import behaviour
from tests.clients.cabin import Home, Talk, call, tool


def now() -> int:
    """Asked when a test runs: a call counts as running for some minutes only."""
    return time.time_ns() // 1_000_000


ASKED: dict[str, Any] = {"question": "When do the ferries leave?"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def waiting(ref: str, cwd: str, *tools: dict[str, Any], **more: Any) -> Talk:
    """A conversation with an open turn that runs these calls."""
    talk = Talk(ref, cwd, **more)
    talk.turn("one", "An answer")
    talk.says("Fork it, please.")
    talk.answers(*tools, finish=None)
    return talk


def running(name: str = "sidechat_fork", input: dict[str, Any] | None = None, **more: Any) -> Any:
    return tool("c", name, more.pop("status", "running"), input or {}, start=now(), **more)


async def located(home: Home, made: Call) -> str | None:
    found = await home.client().locate(made)
    return found.ref if found is not None else None


@behaviour("opencode:who-is-calling")
async def test_the_conversation_that_runs_this_tool_with_these_arguments_calls(home: Home) -> None:
    cwd = home.folder("work")
    home.put(
        waiting("ses_a", cwd, running(input=ASKED)),
        waiting("ses_b", cwd, running(input={})),
        waiting("ses_c", cwd, running("sidechat_converse", ASKED)),
    )
    assert await located(home, call(cwd, "fork", ASKED)) == "ses_a"
    assert await located(home, call(cwd, "fork", {})) == "ses_b"
    assert await located(home, call(cwd, "converse", ASKED)) == "ses_c"
    assert await located(home, call(cwd, "merge", {})) is None
    assert await located(home, call(cwd, "fork", {**ASKED, "key": "x"})) is None


@behaviour("opencode:who-is-calling")
async def test_where_two_conversations_fit_there_is_no_answer(home: Home) -> None:
    cwd = home.folder("work")
    home.put(waiting("ses_a", cwd, running()), waiting("ses_b", cwd, running()))
    assert await located(home, call(cwd, "fork")) is None


@behaviour("opencode:who-is-calling")
@pytest.mark.parametrize("status", ["pending", "completed", "error"])
async def test_a_call_that_does_not_run_is_not_the_one(home: Home, status: str) -> None:
    cwd = home.folder("work")
    home.put(waiting("ses_a", cwd, running(status=status)))
    assert await located(home, call(cwd, "fork")) is None


@behaviour("opencode:who-is-calling")
async def test_a_call_that_a_dead_client_left_behind_is_not_the_one(home: Home) -> None:
    cwd = home.folder("work")
    left = tool("c", "sidechat_fork", "running", {}, start=now() - 3_600_000)
    home.put(waiting("ses_a", cwd, left))
    assert await located(home, call(cwd, "fork")) is None
    home.put(waiting("ses_b", cwd, running()))
    assert await located(home, call(cwd, "fork")) == "ses_b"


@behaviour("opencode:who-is-calling")
async def test_another_folders_conversation_is_not_the_one(home: Home) -> None:
    home.put(waiting("ses_a", home.folder("other"), running()))
    assert await located(home, call(home.folder("work"), "fork")) is None


@behaviour("opencode:subagents")
async def test_a_call_of_a_tasks_agent_comes_from_the_conversation_that_started_it(
    home: Home,
) -> None:
    cwd = home.folder("work")
    home.put(
        waiting("ses_person", cwd, tool("t", "task", "running", start=now())),
        waiting("ses_middle", cwd, tool("t", "task", "running", start=now()), parent="ses_person"),
        waiting("ses_agent", cwd, running(), parent="ses_middle"),
    )
    assert await located(home, call(cwd, "fork")) == "ses_person"


@behaviour("opencode:who-is-calling")
async def test_only_a_tools_call_from_inside_opencode_is_looked_for(home: Home) -> None:
    cwd = home.folder("work")
    home.put(waiting("ses_a", cwd, running()))
    with anyio.fail_after(5):
        client = home.client(patience=60)
        assert await client.locate(call(cwd, None)) is None
        assert await client.locate(Call({}, {}, (), cwd, "fork")) is None


@behaviour("opencode:who-is-calling")
async def test_a_call_that_is_still_to_be_written_down_is_waited_for(home: Home) -> None:
    cwd = home.folder("work")
    home.put(Talk("ses_a", cwd))
    client = home.client(patience=30)
    refs: list[str | None] = []

    async def locate() -> None:
        found = await client.locate(call(cwd, "fork"))
        refs.append(found.ref if found is not None else None)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(locate)
            await anyio.wait_all_tasks_blocked()
            home.put(waiting("ses_a", cwd, running()))
    assert refs == ["ses_a"]
