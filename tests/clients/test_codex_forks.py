"""Forks that hold only their own part, compressed files, and subagents."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sidechat_mcp.errors import ParentNotFound, UnknownFormat
from tests.behaviours import behaviour
from tests.clients.rollouts import Home, Rollout, call, talk, turn
from tests.clients.telling import short


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def fork(thread: str, of: str, end: int, *words: str) -> Rollout:
    """What Codex writes for a fork of `of` at the ordinal `end`."""
    rollout = Rollout(thread, ordinal=end)
    base = {"thread_id": of, "end_ordinal_exclusive": end, "end_byte_offset": 1}
    rollout.opens(forked_from_id=of, history_mode="paginated", history_base=base)
    for said in words:
        turn(rollout, said, f"An answer to: {said}")
    return rollout


async def users(home: Home, ref: str) -> list[str]:
    client = home.client()
    found = await client.find(ref, None)
    assert found is not None
    read = await client.read(found)
    assert read.ref == ref
    assert read.skipped.ignored == {}, "nothing of what it left is begun"
    return [one.removeprefix("user: ") for one in short(read) if one.startswith("user")]


def end(rollout: Rollout, turns: int) -> int:
    """The ordinal behind that many turns."""
    ends = [r["ordinal"] for r in rollout.records if r["payload"].get("type") == "task_complete"]
    return ends[turns - 1] + 1


@behaviour("codex:fork-delta")
async def test_a_fork_goes_on_from_what_its_parent_was_then(home: Home) -> None:
    parent = talk("parent", "/w", "one", "two", "three")
    child = fork("child", "parent", end(parent, 2), "four", "five")
    home.put("parent", parent.text())
    home.put("child", child.text(), day="2026/12/02")
    grandchild = fork("grandchild", "child", end(child, 1), "six")
    home.put("grandchild", grandchild.text(), place="archived_sessions")
    assert await users(home, "child") == ["one", "two", "four", "five"]
    assert await users(home, "grandchild") == ["one", "two", "four", "six"]


@behaviour("codex:fork-delta")
async def test_a_fork_before_the_fork_it_was_made_from_leaves_that_ones_own_part_out(
    home: Home,
) -> None:
    parent = talk("parent", "/w", "one", "two")
    child = fork("child", "parent", end(parent, 2), "three")
    home.put("parent", parent.text())
    home.put("child", child.text())
    home.put("early", fork("early", "child", end(parent, 1), "four").text())
    assert await users(home, "early") == ["one", "four"]


def revert(rollout: Rollout, segment: str, end: int, *words: str) -> Rollout:
    """What Codex goes on in when a person takes turns of `rollout` back."""
    after = Rollout(rollout.thread, ordinal=end, made=100 * len(words) + end)
    base = {"thread_id": segment, "end_ordinal_exclusive": end, "end_byte_offset": 1}
    after.opens(history_mode="paginated", history_base=base)
    for said in words:
        turn(after, said, f"An answer to: {said}")
    return after


@behaviour("codex:rollback")
async def test_a_thread_goes_on_in_a_new_file_when_turns_are_taken_back(home: Home) -> None:
    whole = talk("t", "/w", "one", "two", "three")
    first = home.put("t", whole.text())
    once = revert(whole, "t", end(whole, 2), "four", "five")
    home.put("t_01b", once.text())
    assert await users(home, "t") == ["one", "two", "four", "five"]
    home.put("child", fork("child", "01b", end(once, 1), "aside").text())
    home.put("t_01c", revert(whole, "01b", end(once, 1), "six").text())
    assert await users(home, "t") == ["one", "two", "four", "six"]
    assert await users(home, "child") == ["one", "two", "four", "aside"]
    home.put("t_01d", revert(whole, "t", end(whole, 1)).text())
    assert await users(home, "t") == ["one"]
    os.utime(first, (1_796_999_999, 1_796_999_999))  # Whatever was touched last.
    client = home.client()
    newest = await client.newest(None, 9)
    assert [(one.ref, one.title) for one in newest] == [("t", "one"), ("child", "one")]
    assert newest[0].path.name.endswith("-t_01d.jsonl")
    assert await client.find("01b", None) is None
    located = await client.locate(call("/w", "t"))
    assert located is not None
    assert located.path.name.endswith("-t_01d.jsonl")


@behaviour("codex:fork-delta")
async def test_a_fork_whose_line_leads_nowhere_or_in_a_circle_is_refused(home: Home) -> None:
    home.put("child", fork("child", "gone", 9, "four").text())
    with pytest.raises(ParentNotFound, match="continues gone, whose file is not here"):
        await users(home, "child")
    home.put("one", fork("one", "other", 50, "a").text())
    home.put("other", fork("other", "one", 90, "b").text())
    with pytest.raises(ParentNotFound, match="whose file is not here"):
        await users(home, "one")


@behaviour("codex:fork-delta")
async def test_a_fork_read_from_anywhere_finds_its_parent_beside_it(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    parent = talk("parent", "/w", "one", "two")
    (folder / "b.jsonl").write_bytes(parent.text())
    (folder / "a.jsonl").write_bytes(fork("child", "parent", end(parent, 1), "three").text())
    (folder / "c.txt").write_bytes(parent.text())
    read = await home.client().read_file(folder / "a.jsonl")
    assert [one for one in short(read) if one.startswith("user")] == ["user: one", "user: three"]
    (folder / "b.jsonl").unlink()
    with pytest.raises(ParentNotFound):
        await home.client().read_file(folder / "a.jsonl")


@behaviour("codex:compressed")
async def test_a_compressed_rollout_is_read_or_refused_in_a_sentence(home: Home) -> None:
    plain = home.put("cold", talk("cold", "/w", "one").text())
    program = shutil.which("zstd")
    if program is None:
        pytest.skip("zstd is not installed here")
    subprocess.run([program, "-q", "--rm", str(plain)], check=True)
    if _reads_zstd():
        assert await users(home, "cold") == ["one"]
        return
    with pytest.raises(UnknownFormat) as refused:
        await users(home, "cold")
    assert str(refused.value) == (
        f"{plain.name}.zst is a conversation that Codex has compressed, and this Python cannot"
        " read zstd. Install the `zstandard` package, or continue that conversation once in Codex."
    )
    assert list(await home.client().newest(None, 5)) == []


@behaviour("codex:compressed")
async def test_of_a_compressed_and_a_plain_file_the_plain_one_counts(home: Home) -> None:
    plain = home.put("cold", talk("cold", "/w", "one").text())
    plain.with_name(f"{plain.name}.zst").write_bytes(b"\x28\xb5\x2f\xfdnonsense")
    assert await users(home, "cold") == ["one"]


@behaviour("codex:no-subagents")
async def test_a_subagents_thread_is_no_parent_and_its_calls_are_its_conversations(
    home: Home,
) -> None:
    home.put("main", talk("main", "/w", "one").text())
    agent = Rollout("agent", "/w")
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "main", "depth": 1}}}
    agent.opens(source=spawned, thread_source="subagent", session_id="main")
    turn(agent, "work", "done")
    path = home.put("agent", agent.text())
    client = home.client()
    assert [one.ref for one in await client.newest("/w", 9)] == ["main"]
    located = await client.locate(call("/w", "agent"))
    assert located is not None
    assert located.ref == "main"
    with pytest.raises(ParentNotFound) as refused:
        await client.read_file(path)
    assert str(refused.value) == (
        "This file is the thread of a subagent (agent), which is no conversation of its own. Fork"
        " the conversation that started it: codex:main."
    )


def _reads_zstd() -> bool:
    for module in ("compression.zstd", "zstandard"):
        try:
            importlib.import_module(module)
        except ImportError:
            continue
        return True
    return False
