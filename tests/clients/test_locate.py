"""Which conversation is calling, in the order of the contract."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.behaviours import behaviour
from tests.clients.houses import FORK, Home, call, calling, talk
from tests.clients.scribe import Scribe


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def two(home: Home) -> tuple[str, str, str]:
    """A folder with two conversations that both wait for us: (folder, call, call)."""
    cwd = home.folder("work/ferryline")
    one, other = talk("one", cwd), talk("other", cwd)
    ids = calling(one), calling(other)
    home.put(cwd, "one", one.text())
    home.put(cwd, "other", other.text())
    return (cwd, *ids)


@behaviour("clients:who-is-calling")
async def test_the_pending_call_itself_comes_first(home: Home) -> None:
    cwd, tool_use, _ = two(home)
    home.register(77, "other")
    found = await home.client().locate(call(cwd, tool_use, 77, CLAUDE_CODE_SESSION_ID="other"))
    assert found is not None
    assert (found.ref, found.cwd, found.title) == ("one", cwd, "Hello there, general question.")


@behaviour("clients:who-is-calling")
async def test_the_registry_comes_before_the_environment_which_grows_stale(home: Home) -> None:
    cwd, _, _ = two(home)
    home.register(77, "one")
    asked = call(cwd, None, 5, 77, 9, CLAUDE_CODE_SESSION_ID="other")
    found = await home.client().locate(asked)
    assert found is not None
    assert found.ref == "one"


@behaviour("clients:who-is-calling")
async def test_a_registered_session_without_a_file_is_no_reason_to_take_another(
    home: Home,
) -> None:
    cwd, _, _ = two(home)
    home.register(77, "just-begun")
    asked = call(cwd, None, 77, CLAUDE_CODE_SESSION_ID="other")
    assert await home.client().locate(asked) is None


async def test_the_nearest_of_five_ancestors_counts(home: Home) -> None:
    cwd, _, _ = two(home)
    home.register(77, "one")
    home.register(78, "other")
    near = await home.client().locate(call(cwd, None, 1, 2, 3, 78, 77))
    far = await home.client().locate(call(cwd, None, 1, 2, 3, 4, 5, 77))
    assert near is not None
    assert (near.ref, far) == ("other", None)


@behaviour("clients:who-is-calling")
async def test_the_environment_counts_only_if_its_file_exists(home: Home) -> None:
    cwd, _, _ = two(home)
    client = home.client()
    found = await client.locate(call(cwd, CLAUDE_CODE_SESSION_ID="one"))
    assert found is not None
    assert found.ref == "one"
    assert await client.locate(call(cwd, CLAUDE_CODE_SESSION_ID="fresh-of-continue")) is None
    assert await client.locate(call(cwd)) is None


async def test_an_answered_call_is_not_pending(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    scribe = talk("one", cwd)
    tool_use = calling(scribe)
    scribe.result(tool_use, "forked")
    home.put(cwd, "one", scribe.text())
    assert await home.client().locate(call(cwd, tool_use)) is None


async def test_a_call_pending_in_two_files_is_no_answer(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    scribe = talk("one", cwd)
    tool_use = calling(scribe)
    home.put(cwd, "one", scribe.text())
    home.put(cwd, "copy", scribe.text())
    assert await home.client().locate(call(cwd, tool_use)) is None


async def test_a_call_of_a_subagent_comes_from_its_conversation(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    home.register(77, "one")
    file = home.put(cwd, "one", talk("one", cwd).text())
    agent = Scribe("one", cwd)
    agent.user("Fork it.", isSidechain=True)
    (tool_use,) = agent.calls((FORK, {}))
    inner = file.with_suffix("") / "subagents" / "agent-a1.jsonl"
    inner.parent.mkdir(parents=True)
    inner.write_bytes(agent.text())
    with anyio.fail_after(5):
        found = await home.client(patience=60).locate(call(cwd, tool_use, 77))
    assert found is not None
    assert found.ref == "one"


async def test_a_call_from_another_folder_is_found_all_the_same(home: Home) -> None:
    _, tool_use, _ = two(home)
    found = await home.client().locate(call(home.folder("elsewhere"), tool_use))
    assert found is not None
    assert found.ref == "one"


@behaviour("clients:who-is-calling")
async def test_a_file_that_is_still_being_written_is_waited_for(home: Home) -> None:
    cwd = home.folder("work/ferryline")
    scribe = talk("one", cwd)
    early = scribe.text()
    tool_use = calling(scribe)
    home.put(cwd, "one", early)
    # A file of a registered session may not even exist yet.
    home.register(77, "late")
    client = home.client(patience=30)
    refs: list[str | None] = []

    async def locate(*ancestors: int, tool_use: str | None = None) -> None:
        found = await client.locate(call(cwd, tool_use, *ancestors))
        refs.append(found.ref if found is not None else None)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: locate(tool_use=tool_use))
            await anyio.wait_all_tasks_blocked()
            home.put(cwd, "one", scribe.text())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(locate, 77)
            await anyio.wait_all_tasks_blocked()
            home.put(cwd, "late", early)
    assert refs == ["one", "late"]


async def test_a_registry_that_cannot_be_read_says_nothing(home: Home) -> None:
    cwd, _, _ = two(home)
    folder = home.config / "sessions"
    folder.mkdir(parents=True)
    for pid, text in enumerate(("", "[", "[1]", '{"sessionId":7}', '{"sessionId":"../one"}'), 1):
        (folder / f"{pid}.json").write_text(text)
    home.register(6, "one")
    assert await home.client().locate(call(cwd, None, 1, 2, 3, 4)) is None
    home.register(3, "one", says=99)
    assert await home.client().locate(call(cwd, None, 3)) is None, "another process's entry"


async def test_the_configured_folder_is_looked_into(home: Home, tmp_path: Path) -> None:
    cwd = home.folder("work/ferryline")
    moved = Home(tmp_path / "moved")
    moved.put(cwd, "one", talk("one", cwd).text())
    config = str(moved.config)
    asked = call(cwd, CLAUDE_CODE_SESSION_ID="one", CLAUDE_CONFIG_DIR=config)
    assert await home.client().locate(asked) is not None
    configured = home.client(CLAUDE_CONFIG_DIR=config)
    assert [one.ref for one in await configured.newest(cwd, 5)] == ["one"]
    assert list(await home.client().newest(cwd, 5)) == []
