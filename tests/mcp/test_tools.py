"""The tools: what they are called, what they take, what they answer, in both eras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import MCPError
from mcp.types import CallToolResult, ResourceLink, TextContent

from sidechat_mcp.errors import AnsweringNow, NewerSchema, OutsideError
from sidechat_mcp.surfaces.mcp.schemas import PROMPTS, TEMPLATES, TOOLS
from sidechat_mcp.surfaces.mcp.server import SidechatServer
from tests.behaviours import behaviour
from tests.mcp.conftest import Connect
from tests.mcp.fake import FakeSidechat
from tests.mcp.raw import legacy

GOLDEN = Path(__file__).parent / "golden_schemas.json"
SESSION = "s001"


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


def shown() -> dict[str, Any]:
    return {
        kind: [one.model_dump(by_alias=True, mode="json", exclude_none=True) for one in ones]
        for kind, ones in {
            "tools": TOOLS.values(),
            "prompts": PROMPTS.values(),
            "templates": TEMPLATES,
        }.items()
    }


@behaviour("mcp:golden")
def test_every_name_and_shape_a_client_is_shown_is_the_golden_one() -> None:
    assert shown() == json.loads(GOLDEN.read_text("utf-8"))


@behaviour("mcp:tools-listed")
async def test_both_eras_list_the_same_tools_with_titles_results_and_honest_hints(
    connect: Connect,
) -> None:
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == [
        "fork",
        "converse",
        "merge",
        "sessions",
        "read_session",
        "forget",
        "pending_notes",
    ]
    assert {name for name, tool in tools.items() if tool.meta} == {"fork", "converse", "merge"}
    assert all(tool.title and tool.description and tool.annotations for tool in tools.values())
    reads = {name for name, tool in tools.items() if tool.annotations.read_only_hint}  # pyright: ignore[reportOptionalMemberAccess]
    assert reads == {"sessions", "read_session"}


@behaviour("mcp:newer-once")
async def test_that_a_newer_version_wrote_the_log_is_said_once_and_then_it_is_read(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.refusal = NewerSchema("A newer version wrote this.", then="Please restart the client.")
    async with connect() as client:
        hook = await client.call_tool("pending_notes", {"session_id": "one"})
        first = await client.call_tool("sessions", {})
        again = await client.call_tool("sessions", {})
    assert (hook.is_error, first.is_error, again.is_error) == (False, True, False)
    assert texts(first) == ["A newer version wrote this. Please restart the client. (newer_schema)"]


@behaviour("mcp:complete-alone")
async def test_a_session_that_cannot_be_read_is_listed_and_says_so(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.damage = "Session 's001' is damaged at event 3. Restore it, or `forget s001`."
    async with connect() as client:
        await client.call_tool("fork", {})
        result = await client.call_tool("sessions", {})
        (resource,) = (await client.list_resources()).resources
    jsonschema.validate(result.structured_content, TOOLS["sessions"].output_schema or {})
    assert result.structured_content is not None
    assert result.structured_content["sessions"][0]["damaged"] == fake.damage
    assert f"damaged: {fake.damage}" in "".join(texts(result))
    assert resource.description == f"Side session of claude-code:live. Damaged: {fake.damage}"


@behaviour("mcp:fork-few-lines")
async def test_fork_answers_a_few_lines_and_a_link_and_never_the_transcript(
    connect: Connect,
) -> None:
    async with connect() as client:
        result = await client.call_tool("fork", {})
    (text,) = texts(result)
    assert len(text.splitlines()) <= 8
    assert text.startswith("Answers are quotes.\nSide session s001: forked from claude-code:live")
    link = result.content[-1]
    assert isinstance(link, ResourceLink)
    assert link.uri == "sidechat://sessions/s001"


@behaviour("mcp:complete-alone")
async def test_every_result_fits_its_schema_and_says_the_same_as_text(
    connect: Connect, fake: FakeSidechat
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("fork", {"question": "why?"}),
        ("converse", {"session": SESSION, "message": "and then?"}),
        ("merge", {"draft": True}),
        ("merge", {"session": SESSION, "note": "mine"}),
        ("sessions", {}),
        ("read_session", {"session": SESSION, "limit": 1}),
        ("forget", {"session": SESSION}),
    ]
    async with connect() as client:
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, texts(result)
            jsonschema.validate(result.structured_content, TOOLS[name].output_schema or {})
            missing = [
                value
                for value in leaves(result.structured_content)
                if str(value) not in "\n".join(texts(result))
            ]
            assert missing == [], name


def leaves(value: Any) -> list[Any]:
    """Everything a reader of the data is told; a digest is told by its beginning."""
    match value:
        case dict():
            return [leaf for part in value.values() for leaf in leaves(part)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case list():
            return [leaf for part in value for leaf in leaves(part)]  # pyright: ignore[reportUnknownVariableType]
        case str() if len(value) == 64:
            return [value[:12]]
        case bool() | None | "none" | "completed" | "not reported":
            return []
        case str() if "Not read" in value or "recorded" in value:
            return value.split(". ")[:1]
        case _:
            return [value]


@behaviour("mcp:recorded-here")
async def test_converse_says_that_the_exchange_is_recorded_and_is_for_the_person(
    connect: Connect,
) -> None:
    async with connect() as client:
        await client.call_tool("fork", {})
        result = await client.call_tool("converse", {"message": "why?"})
    assert all(
        block.annotations is not None and block.annotations.audience == ["user"]
        for block in result.content
        if isinstance(block, TextContent)
    )
    first, aside = texts(result)
    assert first.startswith("Side session s001 “A title”, turn 4 (answered)\n\nIt is in turn 3.")
    assert "recorded in the chat it was called from" in aside
    assert "`sidechat chat s001`" in aside
    assert aside in result.structured_content["notice"]  # pyright: ignore[reportOptionalSubscript]


@behaviour("mcp:no-credentials")
async def test_no_credential_of_a_side_session_comes_out_of_a_call(
    connect: Connect, fake: FakeSidechat
) -> None:
    key = "ghp_" + "a1B2" * 9
    fake.says = (f"It is {key[:9]}", f"{key[9:]}.")
    async with connect() as client:
        asked = await client.call_tool("fork", {"question": f"Is {key} the key?"})
        came = [
            asked,
            await client.call_tool("converse", {"message": f"Is {key} it?"}),
            await client.call_tool("read_session", {"session": "s001"}),
            await client.get_prompt("converse", {"message": f"Is {key} it?"}),
        ]
    for one in came:
        said = one.model_dump_json()
        assert key not in said
        assert "It is [redacted: GitHub token]." in said


@behaviour("mcp:no-credentials")
async def test_a_credential_at_the_end_of_a_page_is_not_cut_but_taken_out(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.says = ("x" * 99_980 + " ghp_" + "a1B2" * 9 + " " + "x" * 50_000,)
    async with connect() as client:
        await client.call_tool("fork", {"question": "Long?"})
        read = await client.call_tool("read_session", {"session": "s001"})
    assert "ghp_" not in read.model_dump_json()
    assert "more characters: sidechat://sessions/s001/turns/4]" in read.model_dump_json()


@behaviour("mcp:failed-turn")
async def test_a_turn_that_failed_is_a_result_that_names_the_failure_first(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.ends = "error"
    async with connect() as client:
        await client.call_tool("fork", {})
        result = await client.call_tool("converse", {"message": "why?"})
    assert not result.is_error
    assert texts(result)[0] == (
        "The turn failed. The key is wrong. Ask again.\n\n"
        "Side session s001 “A title”, turn 4 (error)\n\nIt is in turn 3."
    )
    assert result.structured_content is not None
    assert result.structured_content["reason"] == "error"
    assert result.structured_content["notice"].startswith("The key is wrong. Ask again. ")


@behaviour("mcp:bad-arguments")
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("converse", {}, "`message` is missing. Give it as text. (bad_arguments)"),
        ("converse", {"message": "  "}, "`message` is missing. Give it as text. (bad_arguments)"),
        ("converse", {"message": 3}, "`message` has the wrong type. Give text. (bad_arguments)"),
        ("fork", {"parnt": "x"}, "There is no argument 'parnt'. Known: parent, question, key."),
        ("sessions", {"limit": 0}, "`limit` is 0. Give a number from 1 to 100. (bad_arguments)"),
        ("sessions", {"limit": "9"}, "`limit` has the wrong type. Give a whole number."),
        ("read_session", {"session": "x" * 129}, "`session` has 129 characters."),
        ("merge", {"draft": "yes"}, "`draft` has the wrong type. Give true or false."),
        ("converse", {"message": {"a": ["b"]}}, "`message` has the wrong type. Give text."),
    ],
)
async def test_a_bad_argument_is_an_error_result_that_names_it_and_what_to_do(
    connect: Connect, name: str, arguments: dict[str, Any], said: str
) -> None:
    async with connect() as client:
        result = await client.call_tool(name, arguments)
    assert result.is_error
    assert texts(result)[0].startswith(said)


@behaviour("mcp:unknown-tool")
async def test_an_unknown_tool_is_a_failed_request(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool("nope", {})
    assert failed.value.code == -32602


@behaviour("mcp:errors")
@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (AnsweringNow("s001"), "Session 's001' is answering now. Wait for that answer, then ask"),
        (OutsideError("The model is away.", then="Try again."), "The model is away. Try again."),
        (RecursionError("SECRET words"), "Something went wrong inside sidechat; its log entry is"),
    ],
)
async def test_a_failure_is_one_plain_sentence_without_a_traceback(
    connect: Connect,
    fake: FakeSidechat,
    failure: Exception,
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with connect() as client:
        fake.failure = failure
        result = await client.call_tool("sessions", {})
    assert result.is_error
    assert texts(result)[0].startswith(said)
    assert "Traceback" not in texts(result)[0]
    assert "SECRET" not in texts(result)[0] + caplog.text


@behaviour("mcp:call-id")
@pytest.mark.parametrize("name", ["claudecode/toolUseId", "callId"])
async def test_the_clients_own_id_of_a_call_reaches_the_feature(
    connect: Connect, fake: FakeSidechat, name: str
) -> None:
    async with connect() as client:
        await client.call_tool("sessions", {}, meta={name: "toolu_1"})  # pyright: ignore[reportArgumentType]
    caller = fake.callers[-1]
    assert (caller.principal, caller.cwd, caller.call) == ("local", "/folder", "toolu_1")
    assert caller.meta[name] == "toolu_1"


@behaviour("mcp:whole-characters")
async def test_half_a_character_in_an_answer_does_not_keep_the_answer_back(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.says = ("half \ud83d of one",)
    async with connect() as client:
        await client.call_tool("fork", {})
        result = await client.call_tool("converse", {"message": "?"})
    assert "half \ufffd of one" in texts(result)[0]
    assert result.structured_content["answer"] == "half \ufffd of one"  # pyright: ignore[reportOptionalSubscript]


@behaviour("mcp:hook")
async def test_a_hook_gets_its_json_as_the_only_text(connect: Connect, fake: FakeSidechat) -> None:
    async with connect() as client:
        nothing = await client.call_tool("pending_notes", {"session_id": "x", "prompt": ""})
        fake.hook = '{"hookSpecificOutput":{}}'
        something = await client.call_tool("pending_notes", {"session_id": "x"})
    assert (texts(nothing), nothing.structured_content) == (["{}"], None)
    assert texts(something) == ['{"hookSpecificOutput":{}}']


@behaviour("mcp:old-clients")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_only_clients_that_know_resource_links_get_one(
    server: SidechatServer, version: str
) -> None:
    async with legacy(server, version) as client:
        answer = await client.ask("tools/call", {"name": "fork", "arguments": {}})
    blocks = answer["result"]["content"]
    links = ["resource_link"] if version >= "2025-06-18" else []
    assert [block["type"] for block in blocks] == ["text", *links]
    assert "sidechat://sessions/s001" in blocks[0]["text"]
