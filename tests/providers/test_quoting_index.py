"""The quoting agent's index: kept between questions, shared by children, never a difference."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sidechat_mcp.core.assemble import Message
from sidechat_mcp.core.content import text
from sidechat_mcp.providers.quoting.index import Cache, Index, batches
from sidechat_mcp.providers.quoting.provider import Quoting
from tests.behaviours import behaviour
from tests.providers.contexts import Talk, ask, talk


def long_talk(turns: int) -> Talk:
    made = Talk()
    for n in range(turns):
        made.user(f"What about part {n} of machine {n % 7}?")
        made.assistant(f"Part {n} is made of alloy {n * 3} and weighs {n + 2} grams.")
    return made


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many messages each growth of an index took in."""
    found: list[int] = []
    grow = Index.grow

    def counting(self: Index, messages: Sequence[Message]) -> None:
        found.append(len(messages))
        grow(self, messages)

    monkeypatch.setattr(Index, "grow", counting)
    return found


@behaviour("quoting:index-kept")
async def test_a_follow_up_takes_in_only_what_is_new(taken: list[int]) -> None:
    provider, made = Quoting(), long_talk(600).fork()
    await ask(provider, made, "What is part 77 made of?")
    assert sum(taken) == 1200 + 1
    taken.clear()
    await ask(provider, made, "What is part 78 made of?")
    assert taken == [3]


@behaviour("quoting:index-kept")
async def test_the_children_of_a_fork_point_share_one_index(taken: list[int]) -> None:
    provider = Quoting()
    one, other = long_talk(50).fork(), long_talk(50).fork()
    await ask(provider, one, "What is part 7 made of?")
    await ask(provider, other, "What is part 8 made of?")
    taken.clear()
    await ask(provider, one, "What is part 9 made of?")
    await ask(provider, other, "What is part 9 made of?")
    assert taken == [3, 3]


@behaviour("quoting:same-answer")
async def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    """A kept index, a grown one, one with other children's turns and a new one: one answer."""
    kept = Quoting()
    short = long_talk(40)
    await ask(kept, Talk([*short.messages], 0, 40).fork(), "What is part 3 made of?")
    stranger = long_talk(60).fork()
    await ask(kept, stranger, "My alloy part weighs 44 grams.")
    await ask(kept, stranger, "What weighs 44 grams?")
    for question in ("What weighs 44 grams?", "Which alloy is part 12?", "machine 3?"):
        fresh = await ask(Quoting(), long_talk(60).fork(), question)
        assert await ask(kept, long_talk(60).fork(), question) == fresh


async def test_a_native_session_grows_one_index(taken: list[int]) -> None:
    provider, made = Quoting(), talk()
    for n in range(5):
        await ask(provider, made, f"Remember that box {n} holds {n} spoons.")
    answer = await ask(provider, made, "Which box holds 3 spoons?")
    assert "box 3 holds 3 spoons" in answer.text
    assert max(taken) == 2


def test_growing_at_once_or_in_steps_gives_the_same_rows() -> None:
    messages = long_talk(30).messages
    whole = Index(0)
    whole.grow(messages)
    for size in (1, 2, 3, 7):
        steps = Index(0)
        at = 0
        while at < len(messages):
            stop = min(at + size, len(messages))
            while stop < len(messages) and messages[stop].role != "user":
                stop += 1
            steps.grow(messages[at:stop])
            at = stop
        assert steps.passages == whole.passages
        assert steps.search(["alloy", "7"]) == whole.search(["alloy", "7"])


def test_batches_end_before_a_user_message_and_leave_nothing_out() -> None:
    messages = long_talk(1000).messages
    found = list(batches(messages, 10))
    assert [m for batch in found for m in batch] == messages[10:]
    assert len(found) > 3
    assert all(batch[0].role == "user" for batch in found)


@behaviour("quoting:index-bounded")
def test_no_more_indexes_and_characters_are_kept_than_allowed() -> None:
    cache = Cache(most=3, characters=1000)
    for n in range(10):
        with cache.lend([Message("user", text(f"{n} " * 100), turn=1)], 0) as index:
            index.grow([Message("user", text(f"Say {n}. " * 50), turn=1)])
    assert 0 < cache.count <= 3
    assert cache.size <= 1000
    with cache.lend([], 0) as index:
        index.grow([Message("user", text("Say it. " * 1000), turn=1)])
    assert cache.count == 1
