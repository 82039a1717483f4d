"""What every provider owes (`ports.provider`), as tests.

Derive a class from `ProviderContract` and give it two fixtures: `provider`, and `ask`, which
makes a context whose last message is the given question. Run it with anyio's pytest plugin."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
from anyio.lowlevel import checkpoint

from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import Text, Thinking, ToolUse, text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.errors import ProviderError
from sidechat_mcp.ports.provider import Chunk, Delta, Done, Provider, Whole

Ask = Callable[[str], Context]
PATIENCE = 10
"""Seconds after which an answer is not coming."""

ODD: Sequence[Sequence[Message]] = (
    (),
    (Message("user", (), turn=1),),
    (Message("user", text(""), turn=1),),
    (Message("user", text("\ud800 \x00 \u202e \U000e0041"), turn=1),),
    (Message("user", text('" NEAR(a, b) AND * ^x: {} [] -- OR NOT'), turn=1),),
    (Message("assistant", (Thinking("hm", "elsewhere", "{"),), turn=1),),
    (
        Message("user", text("Look."), turn=1),
        Message("assistant", (Text("I look."), ToolUse("c1", "look", "{not json")), turn=1),
        Message("tool", text("x" * 100_000), call="c1", is_error=True, turn=1),
        Message("context", text("A note."), source={"kind": "client"}),
        Message("context", text("Another."), source={}),
        Message("user", text("What is there?"), turn=2),
    ),
)
"""Contexts that no one hopes for."""


async def hear(provider: Provider, context: Context) -> list[Chunk]:
    """A whole answer."""
    with anyio.fail_after(PATIENCE):
        async with provider.stream(context) as chunks:
            return [chunk async for chunk in chunks]


def running() -> set[int]:
    return {task.id for task in anyio.get_running_tasks()}


class ProviderContract:
    async def test_it_says_who_it_is_what_it_may_and_who_pays(self, provider: Provider) -> None:
        about = provider.about
        assert about.name
        assert about.name == about.name.strip()
        assert about.pays
        assert about.rights
        assert provider.about == about

    async def test_an_answer_ends_with_done_and_with_nothing_after(
        self, provider: Provider, ask: Ask
    ) -> None:
        chunks = await hear(provider, ask("What was said first?"))
        assert [type(chunk) for chunk in chunks].index(Done) == len(chunks) - 1

    async def test_text_comes_once_whole_after_the_very_same_deltas(
        self, provider: Provider, ask: Ask
    ) -> None:
        heard, wholes = "", 0
        for chunk in await hear(provider, ask("What was said first?")):
            match chunk:
                case Delta(text=piece):
                    heard += piece
                case Whole(block=Text(text=whole)):
                    assert heard == whole
                    heard, wholes = "", wholes + 1
                case _:
                    pass
        assert (heard, wholes > 0) == ("", True)

    async def test_the_same_context_gives_the_same_bytes_and_is_left_alone(
        self, provider: Provider, ask: Ask
    ) -> None:
        context = ask("What was said first?")
        before = copy.deepcopy(context)
        sent = dict(provider.wire(context))
        await hear(provider, context)
        await hear(provider, ask("And something else?"))
        assert dict(provider.wire(copy.deepcopy(context))) == sent
        assert context == before

    async def test_others_get_their_turn_while_it_answers(
        self, provider: Provider, ask: Ask
    ) -> None:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await checkpoint()
                turns += 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other)
            await checkpoint()
            before = turns
            await hear(provider, ask("What was said first?"))
            assert turns >= before + 2
            tasks.cancel_scope.cancel()

    async def test_leaving_early_leaves_nothing_running_and_the_next_answer_whole(
        self, provider: Provider, ask: Ask
    ) -> None:
        context = ask("What was said first?")
        before = running()
        with anyio.fail_after(PATIENCE):
            async with provider.stream(context):
                pass
            async with provider.stream(context) as chunks:
                async for _ in chunks:
                    break
        assert running() == before
        assert isinstance((await hear(provider, context))[-1], Done)

    async def test_cancelling_leaves_nothing_running_and_the_next_answer_whole(
        self, provider: Provider, ask: Ask
    ) -> None:
        context = ask("What was said first?")
        before = running()
        for after in range(3):
            with anyio.fail_after(PATIENCE), anyio.CancelScope() as scope:
                async with provider.stream(context) as chunks:
                    heard = 0
                    if after == 0:
                        scope.cancel()
                    async for _ in chunks:
                        heard += 1
                        if heard == after:
                            scope.cancel()
            assert scope.cancelled_caught
        assert running() == before
        assert isinstance((await hear(provider, context))[-1], Done)

    async def test_two_answers_at_once_do_not_mix(self, provider: Provider, ask: Ask) -> None:
        contexts = [ask(f"What was said first, {name}?") for name in ("Anna", "Bert", "Cleo")]
        answers: dict[int, list[Chunk]] = {}

        async def listen(n: int) -> None:
            answers[n] = await hear(provider, contexts[n])

        async with anyio.create_task_group() as tasks:
            for n in range(len(contexts)):
                tasks.start_soon(listen, n)
        for chunks in answers.values():
            whole = [
                c.block.text for c in chunks if isinstance(c, Whole) and isinstance(c.block, Text)
            ]
            assert "".join(c.text for c in chunks if isinstance(c, Delta)) == "".join(whole)
            assert isinstance(chunks[-1], Done)

    async def test_only_a_provider_error_escapes_whatever_is_asked(
        self, provider: Provider
    ) -> None:
        for messages in ODD:
            context = Context(RequestHeader(), messages)
            with suppress(ProviderError):
                assert isinstance((await hear(provider, context))[-1], Done)


class DeterministicContract(ProviderContract):
    """Of a provider whose whole answer depends on the context alone."""

    async def test_the_same_context_gives_the_same_answer(
        self, provider: Provider, ask: Ask
    ) -> None:
        context = ask("What was said first?")
        first = await hear(provider, context)
        await hear(provider, ask("And something else?"))
        assert await hear(provider, copy.deepcopy(context)) == first
