"""The prompts: when they act, when they only speak, and what they say."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult, TextContent

from sidechat_mcp.surfaces.mcp.hosts import PREFETCHERS, SPACE_SPLITTERS
from tests.behaviours import behaviour
from tests.mcp.conftest import Connect
from tests.mcp.fake import LIVE, PARENT, FakeSidechat


async def said(client: Client, name: str, arguments: dict[str, str] | None = None) -> str:
    """The prompt's one user text message."""
    result = await client.get_prompt(name, arguments)
    (message,) = result.messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


class Person:
    """Fills in forms, and keeps what was asked."""

    def __init__(self, action: Any = "accept", text: str = "") -> None:
        self.action, self.text = action, text
        self.asked: list[dict[str, Any]] = []

    async def __call__(
        self, ctx: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        form = params.model_dump(by_alias=True)
        self.asked.append(form["requestedSchema"])
        (name,) = form["requestedSchema"]["properties"]
        content = {name: self.text}
        return ElicitResult.model_validate({"action": self.action, "content": content})


@behaviour("mcp:prompt-fork")
async def test_fork_opens_a_side_session_of_the_callers_own_conversation(
    connect: Connect, fake: FakeSidechat
) -> None:
    async with connect() as client:
        text = await said(client, "fork")
    assert list(fake.sides) == ["s001"]
    assert text.startswith("Answers are quotes.\nSide session s001 is open: forked from")
    assert "`sidechat chat s001`" in text
    assert len(text.splitlines()) <= 5


@behaviour("mcp:left-out")
async def test_what_a_fork_left_out_is_said_in_one_line(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.left = {"repaired": 1, "compacted": 40}
    async with connect() as client:
        text = await said(client, "fork")
    assert text.splitlines()[2] == (
        "Cut behind the last completed turn: 1 turn, 2 events; mended: 1 open call;"
        " only as a summary: 40 turns; not read: 2 × broken line."
    )


@behaviour("mcp:prompt-fork-again")
async def test_fork_fetched_twice_is_one_side_session_until_something_is_said_there(
    connect: Connect, fake: FakeSidechat
) -> None:
    async with connect() as client:
        await said(client, "fork")
        await said(client, "fork")
        assert list(fake.sides) == ["s001"]
        await client.call_tool("converse", {"message": "hello"})
        await said(client, "fork")
    assert list(fake.sides) == ["s001", "s002"]


@behaviour("mcp:prompt-fork-question")
async def test_fork_with_a_question_calls_no_model_and_leads_to_converse(
    connect: Connect, fake: FakeSidechat
) -> None:
    async with connect() as client:
        text = await said(client, "fork", {"parent": PARENT, "question": "why so slow?"})
    assert fake.sides["s001"].turns == []
    assert "`converse` with session s001 and, as `message`, exactly this: why so slow?" in text


@behaviour("mcp:prompt-unknown-word")
@pytest.mark.parametrize("name", ["fork", "converse", "merge"])
async def test_a_first_word_that_names_nothing_is_repeated_and_leads_to_the_tool(
    connect: Connect, fake: FakeSidechat, name: str
) -> None:
    first = "parent" if name == "fork" else "session"
    async with connect() as client:
        text = await said(client, name, {first: "why is it so slow?"})
    assert fake.sides == {}
    assert text.startswith(f"Call the tool `{name}`")
    assert "The words: why is it so slow?" in text


@behaviour("mcp:prompt-placeholders")
@pytest.mark.parametrize("name", ["fork", "converse", "merge"])
@pytest.mark.parametrize("value", ["$1", "${session}", "$ARGUMENTS", "{{note}}", "<id>"])
async def test_a_placeholder_is_repeated_untouched_and_nothing_happens(
    connect: Connect, fake: FakeSidechat, name: str, value: str
) -> None:
    second = {"fork": "question", "converse": "message", "merge": "note"}[name]
    async with connect() as client:
        text = await said(client, name, {second: value})
    assert (fake.sides, fake.callers) == ({}, [])
    assert f"The words: {value}" in text


@behaviour("mcp:prompt-prefetchers")
@pytest.mark.parametrize("name", ["fork", "converse", "merge"])
async def test_opencode_fetches_every_prompt_at_its_start_and_nothing_happens(
    connect: Connect, fake: FakeSidechat, name: str
) -> None:
    # It asks for every prompt with `$1`, `$2`, or nothing, and puts a person's words in later.
    async with connect(name="opencode") as client:
        first, second = (argument.name for argument in await arguments(client, name))
        assert "The words: $1 $2" in await said(client, name, {first: "$1", second: "$2"})
        assert "no words" in await said(client, name)
        assert "The words: s001" in await said(client, name, {first: "s001"})
    assert (fake.sides, fake.callers) == ({}, [])


async def arguments(client: Client, name: str) -> list[Any]:
    prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    return list(prompts[name].arguments or ())


@behaviour("mcp:prompt-splitters")
async def test_claude_code_passes_single_words_and_drops_the_rest(
    connect: Connect, fake: FakeSidechat
) -> None:
    # `/mcp__sidechat__fork my tax question` arrives as parent "my", question "tax".
    async with connect(name="claude-code") as client:
        text = await said(client, "fork", {"parent": "my", "question": "tax"})
        assert fake.sides == {}
        assert text.startswith("Call the tool `fork`")
        assert "what the person typed after the command" in text

        text = await said(client, "fork", {"parent": PARENT, "question": "tax"})
        assert fake.sides["s001"].question is None
        assert "`converse` with session s001 and, as `message`, the person's whole words" in text

        text = await said(client, "converse", {"session": "s001", "message": "why"})
        assert text.startswith("Call the tool `converse`")
        text = await said(client, "merge", {"session": "s001", "note": "my"})
        assert text.startswith("Call the tool `merge`")
    side = fake.sides["s001"]
    assert (side.turns, side.merged) == ([], False)


@behaviour("mcp:host-rows")
def test_every_row_of_the_host_tables_names_a_test_of_this_file() -> None:
    assert {*PREFETCHERS.values(), *SPACE_SPLITTERS.values()} <= globals().keys()


@behaviour("mcp:prompt-converse")
async def test_converse_with_a_message_asks_the_advisor(
    connect: Connect, fake: FakeSidechat
) -> None:
    async with connect() as client:
        await said(client, "fork")
        text = await said(client, "converse", {"message": "why is it so slow?"})
    assert [turn.said for turn in fake.sides["s001"].turns] == ["why is it so slow?"]
    assert text.startswith("The advisor of side session s001 “A title” answered in turn 4")
    assert "It is in turn 3." in text
    assert "recorded in the chat it was called from" in text


@behaviour("mcp:prompt-merge")
async def test_merge_acts_on_a_named_side_session_and_asks_to_take_note_only(
    connect: Connect, fake: FakeSidechat
) -> None:
    async with connect() as client:
        await said(client, "fork")
        text = await said(client, "merge", {"session": "s001", "note": "my own words"})
    assert fake.sides["s001"].merged
    assert text.startswith('<sidechat-note id="n1">\nmy own words\n</sidechat-note>')
    assert text.endswith("say so in one short line, and do nothing else in this turn.")


@behaviour("mcp:form-message")
async def test_a_missing_message_is_asked_for_once_with_a_form_without_titles(
    connect: Connect, fake: FakeSidechat
) -> None:
    person = Person(text="typed into the form")
    async with connect(elicitation_callback=person) as client:
        await said(client, "fork")
        text = await said(client, "converse", {"session": "s001"})
    assert person.asked == [
        {
            "type": "object",
            "properties": {"message": {"type": "string", "minLength": 1}},
            "required": ["message"],
        }
    ]
    assert [turn.said for turn in fake.sides["s001"].turns] == ["typed into the form"]
    assert "answered in turn 4" in text


@behaviour("mcp:form-session")
async def test_merge_without_a_session_lets_the_person_choose_one(
    connect: Connect, fake: FakeSidechat
) -> None:
    person = Person(text="s001")
    async with connect(elicitation_callback=person) as client:
        await client.call_tool("fork", {})
        await client.call_tool("fork", {})
        await said(client, "merge")
    assert person.asked[0]["properties"] == {
        "session": {"type": "string", "enum": ["s002", "s001"]}
    }
    assert [side.merged for side in fake.sides.values()] == [True, False]


@behaviour("mcp:form-decline")
@pytest.mark.parametrize("name", ["converse", "merge"])
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_declined_form_is_no_order_and_leads_to_the_tool(
    connect: Connect, fake: FakeSidechat, name: str, action: str
) -> None:
    async with connect(elicitation_callback=Person(action, "s001")) as client:
        await said(client, "fork")
        text = await said(client, name)
    side = fake.sides["s001"]
    assert (side.turns, side.merged) == ([], False)
    assert text.startswith(f"Call the tool `{name}`")


@behaviour("mcp:form-optional")
@pytest.mark.parametrize("name", ["converse", "merge"])
async def test_who_cannot_show_a_form_is_led_to_the_tool(
    connect: Connect, fake: FakeSidechat, name: str
) -> None:
    async with connect() as client:
        await said(client, "fork")
        text = await said(client, name)
    assert text.startswith(f"Call the tool `{name}`")


@behaviour("mcp:prompt-errors")
async def test_an_unknown_prompt_and_an_unclear_parent_are_failed_requests(
    connect: Connect, fake: FakeSidechat
) -> None:
    fake.live = None
    async with connect() as client:
        with pytest.raises(MCPError) as unknown:
            await client.get_prompt("nope")
        with pytest.raises(MCPError) as unclear:
            await client.get_prompt("fork")
    assert (unknown.value.code, unclear.value.code) == (-32602, -32602)
    assert "It is not clear which conversation to fork." in str(unclear.value)
    assert LIVE not in str(unknown.value)
