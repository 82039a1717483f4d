"""A native parent's own tools, from real servers that are configured as a person would."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from sidechat_mcp.config import load
from sidechat_mcp.core import schemas
from sidechat_mcp.core.content import Media, Text, plain
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.errors import InvalidRequest, OutsideError
from sidechat_mcp.stores.memory import MemoryStore
from sidechat_mcp.tools import mcp_servers
from sidechat_mcp.tools.workspace import WORKSPACE
from tests.behaviours import behaviour
from tests.tools.house import House, addressed, calling, housed, running, started, told
from tests.tools.shop import PNG, tools

TOP = Path(__file__).parents[2]
NAMES = ["look", "draw", "files_read", "environment", "write", "erase", "stop", "wait"]


@pytest.fixture
def anyio_backend() -> str:
    """Each test starts real programs, which takes a second."""
    return "asyncio"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture(params=["by hand", "sdk", "http"])
async def settings(request: pytest.FixtureRequest, shop: Path) -> AsyncGenerator[str]:
    """A shop, started or addressed; side sessions may call three of its tools."""
    allow = ["look", "files.read", "write"]
    if request.param == "by hand":
        yield started(shop, allow=allow)
    elif request.param == "sdk":
        yield started(shop, "--sdk", allow=allow)
    else:
        async with running(shop) as url:
            yield addressed(url, allow=allow)


def received(shop: Path) -> list[str]:
    """Names of the tools that the server was really asked for."""
    calls = shop / "calls"
    return [line.split()[0] for line in calls.read_text().splitlines()] if calls.exists() else []


def starts(shop: Path) -> int:
    kept = shop / "starts"
    return len(kept.read_text().splitlines()) if kept.exists() else 0


async def head(house: House, session: str) -> RequestHeader:
    row = await house.sidechat.parts.visible(house.caller, session)
    return (await house.sidechat.parts.sessions.context(row)).header


@behaviour("tools:recorded")
async def test_all_pages_of_schemas_are_recorded_whole_and_a_child_has_the_same_bytes(
    tmp_path: Path, shop: Path, settings: str
) -> None:
    async with housed(tmp_path, settings, "Hello.") as house:
        native = await house.sidechat.native(house.caller, tools=True)
        await house.sidechat.converse(house.caller, "Hi.", session=native.id)
        report = await house.sidechat.fork(house.caller, parent=native.id, question="Why?")
        heads = [context.header for context in house.speaker.seen]
    served = [
        (f"shop__{called}", tool["description"] or tool["name"], tool["inputSchema"])
        for called, tool in zip(NAMES, tools(shop), strict=True)
    ]
    own = [(tool.name, tool.description, tool.schema) for tool in WORKSPACE]
    assert [one.tools.text for one in heads] == [schemas.dump([*own, *served])] * 2
    assert report.head == "identical"


@behaviour("tools:served")
async def test_a_native_parent_calls_any_of_them_and_a_child_what_is_read_only_and_allowed(
    tmp_path: Path, shop: Path, settings: str
) -> None:
    every = calling(*(f"shop__{name}" for name in ("look", "draw", "files_read", "write", "erase")))
    async with housed(tmp_path, settings, every, "Done.", every, "Done.") as house:
        native = await house.sidechat.native(house.caller, tools=True)
        mine = await house.asked(native.id)
        assert received(shop) == ["look", "draw", "files.read", "write", "erase"]
        assert [result.is_error for result in mine] == [False] * 4 + [True]
        assert mine[0].content == (Text("look: shop"),)
        drawn = mine[1].content[1]
        assert isinstance(drawn, Media)
        assert (drawn.media_type, drawn.size, drawn.data) == ("image/png", 70, PNG)
        assert len(drawn.digest) == 64
        report = await house.sidechat.fork(house.caller, parent=native.id)
        childs = await house.asked(report.session)
    assert received(shop)[5:] == ["look", "files.read"]
    assert [result.is_error for result in childs] == [False, True, False, True, True]
    assert all("read-only" in words for error, words in told(childs) if error)


@behaviour("tools:own-failure")
async def test_a_server_that_dies_takes_its_own_calls_along_and_is_started_again(
    tmp_path: Path, shop: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    lines = [
        calling("shop__stop", "shop__look", "other__look", "read_file"),
        "Done.",
    ]
    both = started(shop) + started(other, name="other")
    async with housed(tmp_path, both, *lines) as house:
        native = await house.sidechat.native(house.caller, tools=True)
        results = told(await house.asked(native.id))
    assert results[:3] == [
        (
            True,
            "The MCP server 'shop' ended before it answered. It is started again with the next"
            " call of one of its tools.",
        ),
        (False, "look: shop"),
        (False, "look: other"),
    ]
    assert (starts(shop), starts(other)) == (2, 1)


@behaviour("tools:own-failure")
async def test_a_server_over_http_that_dies_takes_its_own_calls_along(
    tmp_path: Path, shop: Path
) -> None:
    lines = [calling("shop__stop", "shop__look", "list_folder"), "Done."]
    async with running(shop) as url, housed(tmp_path, addressed(url), *lines) as house:
        native = await house.sidechat.native(house.caller, tools=True)
        stopped, gone, own = told(await house.asked(native.id))
    assert "ended before it answered" in stopped[1]
    assert gone[0]
    assert gone[1].startswith("The MCP server 'shop' could not be used: ")
    assert own == (False, "(empty)")


@behaviour("tools:own-failure")
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ('command = "/no/such/program"', "No such file or directory"),
        (f'command = "{sys.executable}"\nargs = ["-c", "pass"]', "it ended at once"),
        ('url = "http://127.0.0.1:9/mcp"', "attempts"),
    ],
)
async def test_a_server_that_cannot_start_takes_only_its_own_calls_along(
    tmp_path: Path, shop: Path, broken: str, why: str
) -> None:
    store, other = MemoryStore(), tmp_path / "other"
    other.mkdir()
    both = started(shop) + started(other, name="bad", allow=["look"])
    async with housed(tmp_path, both, "Hello.", store=store) as house:
        native = (await house.sidechat.native(house.caller, tools=True)).id
        await house.sidechat.converse(house.caller, "Hi.", session=native)
        child = (await house.sidechat.fork(house.caller, parent=native)).session
    calls = calling("bad__look", "bad__write", "shop__look")
    both = started(shop, allow=["look"]) + f'[servers.bad]\n{broken}\nallow = ["look"]\n'
    async with housed(tmp_path, both, calls, "Done.", calls, "Done.", store=store) as house:
        with pytest.raises(OutsideError, match=f"'bad' could not be used: .*{why}"):
            await house.sidechat.native(house.caller, tools=True)
        mine, childs = told(await house.asked(native)), told(await house.asked(child))
    assert mine[2] == childs[2] == (False, "look: shop")
    for error, words in (*mine[:2], childs[0]):
        assert error
        assert words.startswith("The MCP server 'bad' could not be used: ")
    assert (childs[1][0], "read-only" in childs[1][1]) == (True, True)


@behaviour("tools:environment")
async def test_a_started_server_gets_its_settings_and_nothing_of_our_secrets(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "SIDECHAT_API_KEY", "SIDECHAT_HOME", "AWS_X")
    for name in planted:
        monkeypatch.setenv(name, "planted-secret")
    lines = [calling("shop__environment"), "Done."]
    given = '[servers.shop.env]\nSHOP_TOKEN = "its own"\n'
    async with housed(tmp_path, started(shop) + given, *lines) as house:
        native = await house.sidechat.native(house.caller, tools=True)
        (result,) = await house.asked(native.id)
    seen = json.loads(plain(result.content))
    assert seen.pop("SHOP_TOKEN") == "its own"
    assert "planted-secret" not in seen.values()
    assert seen.keys() <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


ASKING = """
import sys
from pathlib import Path
import anyio
from tests.tools.house import housed, started

async def main(home):
    async with housed(home, started(home / "shop"), "Hello.") as house:
        await house.sidechat.native(house.caller, tools=True)
    sys.stdout.write("done")

anyio.run(main, Path(sys.argv[1]))
"""


async def test_what_a_server_writes_to_its_errors_does_not_reach_ours(
    tmp_path: Path, shop: Path
) -> None:
    done = await anyio.run_process([sys.executable, "-c", ASKING, str(tmp_path)], cwd=TOP)
    assert (done.stdout, done.stderr, starts(shop)) == (b"done", b"", 1)


@behaviour("tools:judged")
async def test_what_is_declared_otherwise_after_a_new_start_is_not_called(
    tmp_path: Path, shop: Path
) -> None:
    settings = started(shop, allow=["look", "stop"])
    lines = ["Hello.", calling("shop__look", "shop__stop"), "Done.", calling("shop__look"), "Done."]
    async with housed(tmp_path, settings, *lines) as house:
        native = await house.sidechat.native(house.caller, tools=True)
        await house.sidechat.converse(house.caller, "Hi.", session=native.id)
        report = await house.sidechat.fork(house.caller, parent=native.id)
        first = told(await house.asked(report.session))
        (shop / "changed").touch()
        second = told(await house.asked(report.session))
    assert first[0] == (False, "look: shop")
    assert second == [
        (
            True,
            "shop__look is declared differently since its server was started again. It can be"
            " called in sessions that are made after sidechat is restarted.",
        )
    ]
    assert received(shop) == ["look", "stop"]


@behaviour("tools:judged")
async def test_a_denied_call_does_not_even_start_its_server(tmp_path: Path, shop: Path) -> None:
    store = MemoryStore()
    settings = started(shop, allow=["look"])
    async with housed(tmp_path, settings, "Hello.", store=store) as house:
        native = await house.sidechat.native(house.caller, tools=True)
        await house.sidechat.converse(house.caller, "Hi.", session=native.id)
        child = (await house.sidechat.fork(house.caller, parent=native.id)).session
    lines = [calling("shop__write", "shop__stop"), "No.", calling("shop__look"), "Yes."]
    async with housed(tmp_path, settings, *lines, store=store) as house:
        assert [error for error, _ in told(await house.asked(child))] == [True, True]
        assert starts(shop) == 1
        assert told(await house.asked(child)) == [(False, "look: shop")]
    assert (starts(shop), received(shop)) == (2, ["look"])


@pytest.mark.parametrize("given", ["[]", '"x"', '{"what": NaN}', '{"what": "\\ud800"}', "{"])
async def test_arguments_that_no_wire_carries_are_an_error_and_end_no_connection(
    tmp_path: Path, shop: Path, given: str
) -> None:
    use = calling("shop__look", "shop__look")
    bad = [type(one)(one.id, one.name, given) for one in use[:1] if not isinstance(one, Text)]
    async with housed(tmp_path, started(shop), [*bad, use[1]], "Done.") as house:
        native = await house.sidechat.native(house.caller, tools=True)
        results = told(await house.asked(native.id))
    assert results == [(True, "The arguments are no JSON object."), (False, "look: shop")]
    assert starts(shop) == 1


async def test_a_call_without_an_answer_ends_in_time_and_the_server_serves_on(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_servers, "CALL", 0.2)
    lines = [calling("shop__wait"), "Done.", calling("shop__look"), "Done."]
    async with housed(tmp_path, started(shop), *lines) as house:
        native = await house.sidechat.native(house.caller, tools=True)
        waited = told(await house.asked(native.id))
        monkeypatch.setattr(mcp_servers, "CALL", 20.0)
        looked = told(await house.asked(native.id))
    assert waited == [(True, "shop__wait gave no answer in 0 s.")]
    assert (looked, starts(shop)) == ([(False, "look: shop")], 1)


async def test_what_was_started_is_ended_with_the_feature(tmp_path: Path, shop: Path) -> None:
    async with housed(tmp_path, started(shop), "Hello.") as house:
        await house.sidechat.native(house.caller, tools=True)
        pid = int((shop / "starts").read_text())
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_session_without_tools_has_none(tmp_path: Path, shop: Path) -> None:
    lines = [calling("shop__look", "read_file"), "Done."]
    async with housed(tmp_path, started(shop), *lines) as house:
        native = await house.sidechat.native(house.caller, tools=False)
        results = told(await house.asked(native.id))
    assert [words for _, words in results] == [
        "There is no tool 'shop__look' here.",
        "There is no tool 'read_file' here.",
    ]
    assert starts(shop) == 0


@pytest.mark.parametrize("name", ["a__b", "_a", "a_", '"a b"', '"a.b"', '"ä"', '""'])
def test_a_server_has_a_name_that_can_be_told_from_its_tools(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.toml").write_text(f'[servers.{name}]\ncommand = "x"\n')
    with pytest.raises(InvalidRequest, match="is no name for a server"):
        load({"SIDECHAT_HOME": str(tmp_path)})


def test_allowed_tools_are_named_as_they_are_called_here(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[servers.a_b-1]\ncommand = "x"\nallow = ["files.read", "look"]\n[servers.c]\nurl = "x"\n'
    )
    found = [server.allowed for server in load({"SIDECHAT_HOME": str(tmp_path)}).servers]
    assert found == [{"a_b-1__files_read", "a_b-1__look"}, frozenset()]
