"""Which thread is calling, and which ones there are."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from sidechat_mcp.ports.client import Call
from tests.behaviours import behaviour
from tests.clients.rollouts import Home, Rollout, call, line, talk


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@behaviour("codex:per-call")
async def test_one_process_that_serves_two_threads_takes_each_call_for_its_own(
    home: Home,
) -> None:
    cwd = home.folder("work")
    for ref in ("thread-one", "thread-two"):
        home.put(ref, talk(ref, cwd).text())
    client = home.client()
    refs: list[str] = []
    for ref in ("thread-one", "thread-two", "thread-one"):
        found = await client.locate(call(cwd, ref))
        assert found is not None
        refs.append(found.ref)
    assert refs == ["thread-one", "thread-two", "thread-one"]


@behaviour("codex:per-call")
async def test_the_thread_is_named_in_the_calls_turn_metadata_too(home: Home) -> None:
    home.put("t", talk("t", "/w").text())
    metadata = {"thread_id": "t", "turn_id": "u"}
    for told in (metadata, json.dumps(metadata)):
        asked = Call({"x-codex-turn-metadata": told}, {}, (), "/w")
        found = await home.client().locate(asked)
        assert found is not None
        assert found.ref == "t"
    for odd in (None, 7, "", "{", "[]", {"thread_id": 7}, {"thread_id": "x" * 300}):
        assert await home.client().locate(Call({"x-codex-turn-metadata": odd}, {}, (), "")) is None
        assert await home.client().locate(Call({"threadId": odd}, {}, (), "")) is None


async def test_a_call_that_names_no_thread_comes_from_none(home: Home) -> None:
    cwd = home.folder("work")
    home.put("t", talk("t", cwd).text())
    assert await home.client(patience=60).locate(call(cwd, None)) is None


@behaviour("codex:per-call")
async def test_a_file_that_is_still_to_come_is_waited_for(home: Home) -> None:
    refs: list[str | None] = []

    async def locate() -> None:
        found = await home.client(patience=30).locate(call("/w", "late"))
        refs.append(found.ref if found is not None else None)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(locate)
            await anyio.wait_all_tasks_blocked()
            home.put("late", talk("late", "/w").text())
    assert refs == ["late"]


async def test_the_configured_folder_is_looked_into(home: Home, tmp_path: Path) -> None:
    moved = Home(tmp_path / "moved")
    moved.put("t", talk("t", "/w").text())
    config = str(moved.config)
    assert await home.client().locate(call("/w", "t", CODEX_HOME=config)) is not None
    configured = home.client(CODEX_HOME=config)
    assert [one.ref for one in await configured.newest("/w", 5)] == ["t"]
    assert list(await home.client().newest("/w", 5)) == []


async def test_an_id_is_matched_whole(home: Home) -> None:
    home.put("01a2-74e0-46437c", talk("01a2-74e0-46437c", "/w").text())
    client = home.client()
    assert await client.find("01a2-74e0-46437c", None) is not None
    for part in ("46437c", "74e0-46437c", "01a2", "01a2-74e0-46437"):
        assert await client.find(part, None) is None


async def test_lists_have_what_a_folder_holds_with_its_first_words(home: Home) -> None:
    here = home.folder("work/here")
    link = home.root / "link"
    link.symlink_to(here)
    rollout = Rollout("t1", here)
    rollout.opens()
    rollout.began()
    rollout.shown("<environment_context>x</environment_context>", "user", "env.context")
    rollout.asked("  First\nwords of mine, " + "x" * 100)
    home.put("t1", rollout.text())
    home.put("t2", talk("t2", home.folder("work/other")).text())
    home.put("t3", talk("t3", here, "Later words").text(), day="2025/01/01")
    home.put("t4", b"{}\n" + line({"type": "session_meta", "payload": {}}))
    for cwd in (here, str(link)):
        found = await home.client().newest(cwd, 5)
        assert [(one.ref, one.cwd, (one.title or "")[:22]) for one in found] == [
            ("t3", here, "Later words"),
            ("t1", here, "First words of mine, x"),
        ]
        assert found[1].title is not None
        assert len(found[1].title) == 80
    assert [one.ref for one in await home.client().newest(None, 2)] == ["t3", "t2"]
