"""The scripted agent says its lines, and can be held."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import Text, ToolUse, plain
from sidechat_mcp.errors import ProviderError
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Spent, Whole
from sidechat_mcp.providers.scripted import Line, Scripted
from sidechat_mcp.testing.provider_contract import hear
from tests.behaviours import behaviour
from tests.providers.contexts import talk

CALL = ToolUse("c1", "read", '{"path": "a"}')


def asked(question: str = "Go?") -> Context:
    return talk(question).context()


def echo(context: Context) -> Line:
    return plain(context.messages[-1].content)


SAID: Sequence[tuple[Line, Sequence[Chunk]]] = [
    ("Yes, go.", [Delta("Yes, "), Delta("go."), Whole(Text("Yes, go.")), Done()]),
    (["Yes", ", go."], [Delta("Yes"), Delta(", go."), Whole(Text("Yes, go.")), Done()]),
    (
        ["Wait.", CALL, Spent(3, 4)],
        [Delta("Wait."), Whole(Text("Wait.")), Whole(CALL), Spent(3, 4), Done("tool_use")],
    ),
    (["Half", Done("max_tokens")], [Delta("Half"), Whole(Text("Half")), Done("max_tokens")]),
    (echo, [Delta("Go?"), Whole(Text("Go?")), Done()]),
    ("", [Done()]),
]


@pytest.mark.parametrize(("line", "chunks"), SAID)
async def test_a_line_is_said_in_its_parts(line: Line, chunks: Sequence[Chunk]) -> None:
    assert await hear(Scripted(line), asked()) == chunks


async def test_an_error_comes_where_the_line_has_it_and_leaves_the_rest_half() -> None:
    heard: list[Chunk] = []

    async def listen(provider: Scripted) -> None:
        async with provider.stream(asked()) as chunks:
            async for chunk in chunks:
                heard.append(chunk)

    with pytest.raises(ProviderError, match="The wire broke"):
        await listen(Scripted(["Half an ", ProviderError("The wire broke."), "answer."]))
    assert heard == [Delta("Half an ")]
    with pytest.raises(ProviderError, match="Overloaded"):
        await listen(Scripted(ProviderError("Overloaded.")))


async def test_lines_come_in_order_the_last_one_for_ever_and_questions_are_remembered() -> None:
    provider = Scripted("One.", "Two.")
    contexts = [asked(f"{n}?") for n in range(3)]
    said = [await hear(provider, context) for context in contexts]
    assert [chunks[-2] for chunks in said] == [
        Whole(Text("One.")),
        Whole(Text("Two.")),
        Whole(Text("Two.")),
    ]
    assert provider.seen == contexts


@behaviour("scripted:held")
async def test_two_of_them_can_each_wait_until_the_other_is_in_the_middle() -> None:
    pair = Scripted("a a a a a a a"), Scripted("b b b b b b b")
    holds = [provider.hold(5) for provider in pair]
    heard: list[list[Chunk]] = [[], []]

    async def listen(n: int) -> None:
        async with pair[n].stream(asked()) as chunks:
            async for chunk in chunks:
                heard[n].append(chunk)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen, 0)
            tasks.start_soon(listen, 1)
            for hold in holds:
                await hold.reached.wait()
            assert [len(chunks) for chunks in heard] == [5, 5]
            for hold in holds:
                hold.free.set()
    assert [chunks[-2] for chunks in heard] == [
        Whole(Text("a a a a a a a")),
        Whole(Text("b b b b b b b")),
    ]


def test_a_script_without_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one line"):
        Scripted()
