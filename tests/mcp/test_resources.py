"""Side sessions as resources: listed, read and completed, in both eras."""

from __future__ import annotations

import pytest
from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference, TextResourceContents

from tests.behaviours import behaviour
from tests.mcp.conftest import Connect
from tests.mcp.fake import FakeSidechat

ONE = "sidechat://sessions/s001"


async def read(client: Client, uri: str) -> tuple[str | None, str]:
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    assert contents.uri == uri
    return contents.mime_type, contents.text


@behaviour("mcp:resources-listed")
async def test_each_side_session_is_one_resource_newest_first_in_pages_of_fifty(
    connect: Connect,
) -> None:
    async with connect() as client:
        for _ in range(120):
            await client.call_tool("fork", {})
        names: list[str] = []
        sizes: list[int] = []
        cursor = None
        while cursor is not None or not sizes:
            page = await client.list_resources(cursor=cursor)
            names += [resource.name for resource in page.resources]
            sizes.append(len(page.resources))
            cursor = page.next_cursor
        first = (await client.list_resources()).resources[0]
    assert sizes == [50, 50, 20]
    assert names == [f"s{n:03}" for n in range(120, 0, -1)]
    assert first.uri == "sidechat://sessions/s120"
    assert first.annotations is not None
    assert first.annotations.last_modified == "2023-11-14T22:13:20.121Z"


@behaviour("mcp:cursors")
@pytest.mark.parametrize("cursor", ["", "bogus", "MTIz", "-1"])
async def test_a_cursor_that_is_not_ours_is_refused_and_never_starts_again(
    connect: Connect, cursor: str
) -> None:
    async with connect() as client:
        with pytest.raises(MCPError) as refused:
            await client.list_resources(cursor=cursor)
    assert refused.value.code == -32602


@behaviour("mcp:resources-read")
async def test_a_side_session_its_log_and_each_turn_are_read(connect: Connect) -> None:
    async with connect() as client:
        await client.call_tool("fork", {})
        await client.call_tool("converse", {"message": "why?"})
        assert await read(client, ONE) == ("text/markdown", "# A title\nwhy?\nIt is in turn 3.")
        log = await read(client, f"{ONE}/log")
        assert log == ("application/x-ndjson", '{"session":"s001"}\n')
        turn = await read(client, f"{ONE}/turns/4")
        assert turn == ("text/markdown", "## Turn 4\nwhy?\nIt is in turn 3.")
        templates = await client.list_resource_templates()
    assert [one.uri_template for one in templates.resource_templates] == [
        "sidechat://sessions/{id}",
        "sidechat://sessions/{id}/log",
        "sidechat://sessions/{id}/turns/{n}",
    ]


@behaviour("mcp:decoded-once")
async def test_a_uri_is_decoded_exactly_once(connect: Connect) -> None:
    async with connect() as client:
        await client.call_tool("fork", {})
        assert (await read(client, "sidechat://sessions/%73001"))[1] == "# A title"


@behaviour("mcp:any-spelling")
@pytest.mark.parametrize(
    "uri",
    ["SIDECHAT://Sessions/S001", " sidechat://sessions/s001\n", "sidechat://sessions/%53001"],
)
async def test_an_address_in_capitals_or_between_spaces_is_the_same_resource(
    connect: Connect, uri: str
) -> None:
    async with connect() as client:
        await client.call_tool("fork", {})
        assert (await read(client, uri))[1] == "# A title"


@behaviour("mcp:resources-unknown")
@pytest.mark.parametrize(
    "path",
    [
        "s999",
        "s001/turns/99",
        "s001/turns/0",
        "s001/turns/4x",
        "s001/turns/٤",
        "s001/nothing",
        "s001/",
        "",
        "..",
        "%2573001",
        "%7",
        "%zz",
        "%c0%ae",
        "s001%2Flog",
        "s 001",
        "s+001",
        "s001?x=1",
        "s001#x",
        "parent0000",
        "é",
    ],
)
async def test_what_names_no_side_session_is_not_found(connect: Connect, path: str) -> None:
    async with connect() as client:
        await client.call_tool("fork", {})
        with pytest.raises(MCPError) as missing:
            await client.read_resource(f"sidechat://sessions/{path}")
    assert missing.value.code == -32602


@behaviour("mcp:resources-too-large")
async def test_a_resource_too_large_for_one_answer_is_refused_with_the_way_to_get_it(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.says = ("x" * 8_000_001,)
    async with connect() as client:
        await client.call_tool("fork", {})
        await fake.converse(fake.callers[-1], "much", session="s001")
        with pytest.raises(MCPError, match="Read it turn by turn"):
            await client.read_resource(ONE)
        result = await client.call_tool("read_session", {"session": "s001"})
    assert result.structured_content is not None
    assert len(result.structured_content["turns"][1]["text"]) < 101_000
    assert "more characters: sidechat://sessions/s001/turns/4]" in str(result.structured_content)


@behaviour("mcp:completion")
async def test_sessions_and_turns_are_completed_newest_first_and_a_hundred_at_most(
    connect: Connect,
) -> None:
    async with connect() as client:
        for _ in range(101):
            await client.call_tool("fork", {})
        await client.call_tool("converse", {"session": "s001", "message": "why?"})
        prompt = PromptReference(name="converse")
        template = ResourceTemplateReference(uri="sidechat://sessions/{id}")
        turns = ResourceTemplateReference(uri="sidechat://sessions/{id}/turns/{n}")
        every = (await client.complete(prompt, {"name": "session", "value": ""})).completion
        tens = (await client.complete(template, {"name": "id", "value": "s05"})).completion
        turn = await client.complete(
            turns, {"name": "n", "value": ""}, context_arguments={"id": "s001"}
        )
        none = (await client.complete(prompt, {"name": "message", "value": "x"})).completion
    assert (len(every.values), every.values[:2]) == (100, ["s001", "s101"])
    assert (every.has_more, every.total) == (True, None)
    assert (tens.has_more, tens.total) == (False, 10)
    assert tens.values == [f"s{n:03}" for n in range(59, 49, -1)]
    assert (turn.completion.values, none.values) == (["4"], [])
